// See regex.h.
#include "api/mongo/bson/regex.h"

#include <array>

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace orrery::mongo {
namespace {

// Backtracking steps of one search: some hundred milliseconds at most.
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kHeapKilobytes = 16 * 1024;
constexpr size_t kMaxPattern = 32'764;  // MongoDB's

struct Option {
  char letter;
  uint32_t flag;
};
constexpr std::array kOptions = {
    Option{'i', PCRE2_CASELESS},
    Option{'m', PCRE2_MULTILINE},
    Option{'s', PCRE2_DOTALL},
    Option{'x', PCRE2_EXTENDED},
    Option{'u', 0},
};

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

}  // namespace

struct Regex::Impl {
  std::unique_ptr<pcre2_code, FreeCode> code;
  std::unique_ptr<pcre2_match_context, FreeContext> context;
  size_t groups = 0;
};

Answer<Regex> Regex::compile(std::string_view pattern, std::string_view options) {
  uint32_t flags = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
  for (const char letter : options) {
    bool is_known = false;
    for (const Option& option : kOptions) {
      if (option.letter != letter) continue;
      flags |= option.flag;
      is_known = true;
    }
    if (!is_known) {
      return refuse(51108, fmt::format("invalid flag in regex options: {}", options));
    }
  }
  if (pattern.size() > kMaxPattern) return refuse(51091, "Regular expression is too long");
  if (pattern.find('\0') != std::string_view::npos) {
    return refuse(51109, "Regular expression cannot contain an embedded null byte");
  }
  // An empty view may have no address, which PCRE2 refuses.
  if (pattern.empty()) pattern = "";
  int code = 0;
  size_t place = 0;
  auto impl = std::make_shared<Impl>();
  impl->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                 flags, &code, &place, nullptr));
  if (!impl->code) {
    std::array<char, 256> text{};
    pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(text.data()), text.size());
    return refuse(51091,
                  fmt::format("Regular expression is invalid at {}: {}", place, text.data()));
  }
  // Without memory for machine code PCRE2 interprets.
  pcre2_jit_compile(impl->code.get(), PCRE2_JIT_COMPLETE);
  impl->context.reset(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(impl->context.get(), kMatchLimit);
  pcre2_set_heap_limit(impl->context.get(), kHeapKilobytes);
  uint32_t groups = 0;
  pcre2_pattern_info(impl->code.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  impl->groups = groups;
  return Regex(std::move(impl));
}

size_t Regex::groups() const {
  return impl_->groups;
}

Answer<std::optional<Regex::Groups>> Regex::find(std::string_view subject, size_t start) const {
  if (subject.empty()) subject = "";
  const std::unique_ptr<pcre2_match_data, FreeData> data(
      pcre2_match_data_create_from_pattern(impl_->code.get(), nullptr));
  const auto match = [&](uint32_t flags) {
    return pcre2_match(impl_->code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()),
                       subject.size(), start, flags, data.get(), impl_->context.get());
  };
  int found = match(0);
  // Compiled patterns have little room for their stack; interpreted ones use the heap.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(PCRE2_NO_JIT);
  if (found == PCRE2_ERROR_NOMATCH ||
      (found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21) ||
      found == PCRE2_ERROR_BADUTFOFFSET) {
    return std::nullopt;
  }
  if (found < 0) {
    std::array<char, 256> text{};
    pcre2_get_error_message(found, reinterpret_cast<PCRE2_UCHAR*>(text.data()), text.size());
    return refuse(51156, fmt::format("Error occurred while executing the regular expression: {}",
                                     text.data()));
  }
  const size_t* const ends = pcre2_get_ovector_pointer(data.get());
  Groups groups(impl_->groups + 1);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (ends[2 * i] == PCRE2_UNSET) continue;
    groups[i] = {.is_set = true, .start = ends[2 * i], .end = ends[2 * i + 1]};
  }
  // \K can put the start behind the end.
  if (groups[0].start > groups[0].end) groups[0].start = groups[0].end;
  return groups;
}

Answer<bool> Regex::matches(std::string_view subject) const {
  auto found = find(subject, 0);
  if (!found) return pass(std::move(found.error()));
  return found->has_value();
}

}  // namespace orrery::mongo
