// Functions that look into strings. With the ignore-case flag both sides are compared in one case,
// code point by code point.
#include <fmt/format.h>

#include <algorithm>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"
#include "query/functions/text.h"

namespace orrery::query {

namespace {

// Where each row brings its own pattern, it is compiled for that row.
constexpr uint64_t kStepsOfRegex = 64;

using TextTest = bool (*)(std::string_view text, std::string_view wanted);

bool contains(std::string_view text, std::string_view wanted) {
  return find_text(text, wanted) != std::string_view::npos;
}
bool starts(std::string_view text, std::string_view wanted) {
  return text.starts_with(wanted);
}
bool ends(std::string_view text, std::string_view wanted) {
  return text.ends_with(wanted);
}
bool equals(std::string_view text, std::string_view wanted) {
  return text == wanted;
}

template <TextTest test>
Value look(const Value& text, const Value& wanted, bool ignore_case, Budget& budget) {
  if (!text.is_string() || !wanted.is_string()) return {};
  const size_t bytes = text.text().size() + wanted.text().size();
  if (budget.spend_bytes(bytes)) return {};
  if (!ignore_case) return boolean(test(text.text(), wanted.text()));
  if (!budget.has_room(bytes)) return {};
  return boolean(test(fold_case(text.text()), fold_case(wanted.text())));
}

template <TextTest test>
Value with_flag(Arguments arguments, Context& context) {
  const std::optional<bool> ignore_case = flag(arguments, 2);
  if (!ignore_case) return {};
  return look<test>(arguments[0], arguments[1], *ignore_case, context.budget);
}

// CONTAINS_ALL_CI …: the AND or the OR of CONTAINS, undefined included.
template <class Combination, bool ignore_case>
Value contains_each(Arguments arguments, Context& context) {
  Combination combination;
  for (const Value& wanted : arguments.subspan(1)) {
    combination.add(look<contains>(arguments[0], wanted, ignore_case, context.budget));
  }
  return combination.result();
}

// INDEX_OF(text, wanted [, start]): -1 when it is not there.
Value index_of(Arguments arguments, Context& /*context*/) {
  if (!all_strings(arguments.first(2))) return {};
  const std::optional<int64_t> start = arguments.size() > 2 ? position(arguments[2]) : 0;
  if (!start) return {};
  const std::string_view text = arguments[0].text();
  const auto from = static_cast<size_t>(std::max<int64_t>(*start, 0));
  if (from > count_code_points(text)) return number(-1);
  const size_t found = find_text(text, arguments[1].text(), offset_of(text, from));
  if (found == text.npos) return number(-1);
  return number(static_cast<double>(count_code_points(text.substr(0, found))));
}

// LASTINDEXOF(text, wanted [, last]): the match must end at or before the position `last`.
Value last_index_of(Arguments arguments, Context& context) {
  if (!all_strings(arguments.first(2))) return {};
  std::string_view text = arguments[0].text();
  if (arguments.size() > 2) {
    const std::optional<int64_t> last = position(arguments[2]);
    if (!last) return {};
    if (*last < 0) return number(-1);
    text = text.substr(0, offset_of(text, static_cast<size_t>(*last) + 1));
  }
  if (!context.budget.has_room(arguments[1].text().size() * sizeof(uint32_t))) return {};
  const size_t found = find_last_text(text, arguments[1].text());
  if (found == text.npos) return number(-1);
  return number(static_cast<double>(count_code_points(text.substr(0, found))));
}

Value regex_match(Arguments arguments, Context& context) {
  if (!all_strings(arguments)) return {};
  const std::string_view modifiers = arguments.size() > 2 ? arguments[2].text() : "";
  if (context.budget.spend(kStepsOfRegex)) return {};
  switch (context.regexes.match(arguments[0].text(), arguments[1].text(), modifiers)) {
    case RegexCache::Outcome::too_long:
      context.fail(
          {.code = Code::invalid,
           .message = fmt::format(
               "REGEXMATCH of a text of {} bytes with a pattern as large as {:.60} takes too "
               "long: use a simpler pattern, or look at a part of the text",
               arguments[0].text().size(), arguments[1].text())});
      return {};
    case RegexCache::Outcome::match:
      return boolean(true);
    case RegexCache::Outcome::no_match:
      return boolean(false);
    case RegexCache::Outcome::invalid:
      break;
  }
  return {};
}

constexpr uint16_t kAnyTexts = Function::kAnyNumber;
constexpr Function kSearchFunctions[] = {
    {"CONTAINS", 2, 3, with_flag<contains>},
    {"CONTAINS_ALL_CI", 2, kAnyTexts, contains_each<Conjunction, true>},
    {"CONTAINS_ALL_CS", 2, kAnyTexts, contains_each<Conjunction, false>},
    {"CONTAINS_ANY_CI", 2, kAnyTexts, contains_each<Disjunction, true>},
    {"CONTAINS_ANY_CS", 2, kAnyTexts, contains_each<Disjunction, false>},
    {"ENDSWITH", 2, 3, with_flag<ends>},
    {"INDEX_OF", 2, 3, index_of},
    {"LASTINDEXOF", 2, 3, last_index_of},
    {"REGEXMATCH", 2, 3, regex_match},
    {"STARTSWITH", 2, 3, with_flag<starts>},
    {"STRINGEQUALS", 2, 3, with_flag<equals>},
};

}  // namespace

std::span<const Function> search_functions() {
  return kSearchFunctions;
}

}  // namespace orrery::query
