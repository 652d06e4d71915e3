// See settings.h.
#include "face/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace orrery::face {
namespace {

std::optional<uint32_t> whole_number(std::string_view text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

bool is_one_of(std::string_view choices, std::string_view text) {
  for (;;) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

Status check(const Option& option, std::string_view text) {
  if (option.value == "N" && !whole_number(text)) {
    return fail(Code::invalid,
                fmt::format("--{} '{}' is not a whole number from 0 to {}", option.name, text,
                            std::numeric_limits<uint32_t>::max()));
  }
  if (option.value.contains('|') && !is_one_of(option.value, text)) {
    std::string choices;
    for (const char c : option.value) c == '|' ? choices += ", " : choices += c;
    return fail(Code::invalid,
                fmt::format("--{} '{}' is not one of {}", option.name, text, choices));
  }
  return {};
}

}  // namespace

Result<OptionValues> OptionValues::create(std::span<const Option> declared,
                                          const GivenOptions& given) {
  OptionValues made;
  for (const Option& option : declared) {
    const auto found = given.find(option.name);
    std::string value(found == given.end() ? option.initial : found->second);
    if (auto checked = check(option, value); !checked) return pass(checked.error());
    made.values_.emplace(option.name, std::move(value));
  }
  return made;
}

uint32_t OptionValues::number(std::string_view name) const {
  return whole_number(text(name)).value_or(0);
}

}  // namespace orrery::face
