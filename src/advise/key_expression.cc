// See key_expression.h.
#include "advise/key_expression.h"
#include "advise/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "value/placement.h"

namespace orrery::advise {
namespace {

constexpr size_t kMaxParts = 8;
constexpr uint32_t kMaxSuffix = 1'000;

std::string part_text(const KeyPart& part, const PathTable& paths) {
  if (part.period == Period::none) return paths.name(part.path);
  return fmt::format("{}({})", to_text(part.period), paths.name(part.path));
}

std::string level_text(const KeyLevel& level, const PathTable& paths) {
  std::string text = part_text(level.parts.front(), paths);
  if (level.parts.size() > 1) {
    text = "join(" + text;
    for (size_t i = 1; i < level.parts.size(); ++i) text += "," + part_text(level.parts[i], paths);
    text += ")";
  }
  return level.suffix == 0 ? text : fmt::format("suffix({},{})", text, level.suffix);
}

// name(arguments) or a path.
struct Term {
  std::string_view name;  // empty: a path
  std::vector<std::string_view> arguments;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Where names in quotes may have any character.
Result<Term> parse_term(std::string_view text) {
  text = trimmed(text);
  Term term;
  if (text.starts_with('/')) return term;
  const size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) {
    return fail(Code::invalid,
                fmt::format("'{}' is neither a path nor day(…), month(…), join(…), suffix(…) or "
                            "hier(…)",
                            text));
  }
  term.name = text.substr(0, open);
  const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  size_t depth = 0;
  size_t start = 0;
  char quote = 0;
  for (size_t i = 0; i < inner.size(); ++i) {
    const char c = inner[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if ((c == '"' || c == '\'') && i > 0 && inner[i - 1] == '/') {
      quote = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && depth > 0) {
      --depth;
    } else if (c == ',' && depth == 0) {
      term.arguments.push_back(trimmed(inner.substr(start, i - start)));
      start = i + 1;
    }
  }
  term.arguments.push_back(trimmed(inner.substr(start)));
  if (term.arguments.size() > kMaxParts) {
    return fail(Code::invalid, fmt::format("'{}' has more than {} parts", text, kMaxParts));
  }
  return term;
}

Result<KeyPart> parse_part(std::string_view text, PathTable& paths) {
  auto term = parse_term(text);
  if (!term) return pass(std::move(term.error()));
  Period period = Period::none;
  if (!term->name.empty()) {
    for (const Period one : {Period::hour, Period::day, Period::month}) {
      if (term->name == to_text(one)) period = one;
    }
    if (period == Period::none || term->arguments.size() != 1) {
      return fail(Code::invalid,
                  fmt::format("'{}' must be a path, or day(…) or month(…) of one", text));
    }
    text = term->arguments.front();
  }
  auto path = paths.add(trimmed(text));
  if (!path) return pass(std::move(path.error()));
  return KeyPart{.path = *path, .period = period};
}

Result<KeyLevel> parse_level(std::string_view text, PathTable& paths) {
  auto term = parse_term(text);
  if (!term) return pass(std::move(term.error()));
  KeyLevel level;
  if (term->name == "suffix") {
    if (term->arguments.size() != 2) {
      return fail(Code::invalid, fmt::format("'{}' must be suffix(KEY,NUMBER)", text));
    }
    const std::string_view number = term->arguments[1];
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), level.suffix);
    if (error != std::errc() || end != number.data() + number.size() || level.suffix < 2 ||
        level.suffix > kMaxSuffix) {
      return fail(Code::invalid, fmt::format("the suffix of '{}' must be a number from 2 to {}",
                                             text, kMaxSuffix));
    }
    text = term->arguments[0];
    term = parse_term(text);
    if (!term) return pass(std::move(term.error()));
  }
  std::vector<std::string_view> parts = {text};
  if (term->name == "join") parts = term->arguments;
  for (const std::string_view one : parts) {
    auto part = parse_part(one, paths);
    if (!part) return pass(std::move(part.error()));
    level.parts.push_back(*part);
  }
  return level;
}

std::vector<KeyPart> all_parts(const KeyExpression& key) {
  std::vector<KeyPart> parts;
  for (const KeyLevel& level : key.levels) {
    parts.insert(parts.end(), level.parts.begin(), level.parts.end());
  }
  return parts;
}

}  // namespace

bool KeyExpression::has_period() const {
  return std::ranges::any_of(levels, [](const KeyLevel& level) {
    return std::ranges::any_of(level.parts,
                               [](const KeyPart& part) { return part.period != Period::none; });
  });
}

bool KeyExpression::has_suffix() const {
  return std::ranges::any_of(levels, [](const KeyLevel& level) { return level.suffix != 0; });
}

size_t KeyExpression::parts() const {
  size_t count = 0;
  for (const KeyLevel& level : levels) count += level.parts.size() + (level.suffix != 0 ? 1 : 0);
  return count;
}

bool KeyExpression::extends(const KeyExpression& simpler) const {
  if (parts() <= simpler.parts()) return false;
  const std::vector<KeyPart> mine = all_parts(*this);
  return std::ranges::all_of(all_parts(simpler),
                             [&](const KeyPart& part) { return contains(mine, part); });
}

KeyExpression single_key(uint32_t path) {
  return {.levels = {{.parts = {{.path = path, .period = Period::none}}, .suffix = 0}}};
}

std::string to_text(const KeyExpression& key, const PathTable& paths) {
  if (!key.is_hierarchy()) return level_text(key.levels.front(), paths);
  std::string text = "hier(";
  for (size_t i = 0; i < key.levels.size(); ++i) {
    text += (i == 0 ? "" : ",") + level_text(key.levels[i], paths);
  }
  return text + ")";
}

Result<KeyExpression> parse_key(std::string_view text, PathTable& paths) {
  auto term = parse_term(text);
  if (!term) return pass(std::move(term.error()));
  std::vector<std::string_view> levels = {text};
  if (term->name == "hier") levels = term->arguments;
  if (levels.size() > value::kMaxKeyLevels) {
    return fail(Code::invalid,
                fmt::format("'{}' has more than {} levels", text, value::kMaxKeyLevels));
  }
  KeyExpression key;
  for (const std::string_view one : levels) {
    auto level = parse_level(one, paths);
    if (!level) return pass(std::move(level.error()));
    key.levels.push_back(std::move(*level));
  }
  return key;
}

}  // namespace orrery::advise
