// Functions that make strings. Positions and lengths are in code points (text.h).
#include <algorithm>
#include <ranges>
#include <vector>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"
#include "query/functions/text.h"

namespace orrery::query {

namespace {

// The language's limit for REPLICATE, in characters.
constexpr size_t kMaxReplicated = 10000;
Value concat(Arguments arguments, Context& context) {
  if (!all_strings(arguments)) return {};
  size_t bytes = 0;
  for (const Value& part : arguments) bytes += part.text().size();
  if (!context.may_make(bytes)) return {};
  std::string joined;
  joined.reserve(bytes);
  for (const Value& part : arguments) joined.append(part.text());
  return string(std::move(joined));
}

Value slice(std::string_view text, int64_t start, int64_t length) {
  const size_t begin = offset_of(text, static_cast<size_t>(std::max<int64_t>(start, 0)));
  text.remove_prefix(begin);
  const size_t end = offset_of(text, static_cast<size_t>(std::max<int64_t>(length, 0)));
  return string(std::string(text.substr(0, end)));
}

Value left(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> length = position(arguments[1]);
  if (!arguments[0].is_string() || !length) return {};
  return slice(arguments[0].text(), 0, *length);
}

Value right(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> length = position(arguments[1]);
  if (!arguments[0].is_string() || !length) return {};
  const std::string_view text = arguments[0].text();
  if (*length <= 0) return Value::borrow_string("");
  return slice(text, static_cast<int64_t>(count_code_points(text)) - *length, *length);
}

// A start before the text counts as its beginning.
Value substring(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> start = position(arguments[1]);
  const std::optional<int64_t> length = position(arguments[2]);
  if (!arguments[0].is_string() || !start || !length) return {};
  return slice(arguments[0].text(), *start, *length);
}

Value length(Arguments arguments, Context& /*context*/) {
  if (!arguments[0].is_string()) return {};
  return number(static_cast<double>(count_code_points(arguments[0].text())));
}

Value lower(Arguments arguments, Context& /*context*/) {
  return arguments[0].is_string() ? string(to_lower(arguments[0].text())) : Value();
}

Value upper(Arguments arguments, Context& /*context*/) {
  return arguments[0].is_string() ? string(to_upper(arguments[0].text())) : Value();
}

// Takes white space, or the code points of the second argument, off one end or both.
Value trim(Arguments arguments, bool front, bool back) {
  if (!all_strings(arguments)) return {};
  std::u32string unwanted;
  if (arguments.size() > 1) {
    const std::string_view set = arguments[1].text();
    for (size_t at = 0; at < set.size();) unwanted.push_back(next_code_point(set, at));
    std::ranges::sort(unwanted);
  }
  const auto goes = [&](char32_t code) {
    return arguments.size() > 1 ? std::ranges::binary_search(unwanted, code) : is_space(code);
  };
  const std::string_view text = arguments[0].text();
  size_t begin = 0;
  size_t end = text.size();
  if (front) {
    for (size_t at = 0; at < text.size() && goes(next_code_point(text, at));) begin = at;
  }
  while (back && end > begin) {
    size_t start = end - 1;
    while (start > begin && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) --start;
    size_t at = start;
    if (!goes(next_code_point(text, at))) break;
    end = start;
  }
  return string(std::string(text.substr(begin, end - begin)));
}

Value trim_both(Arguments arguments, Context& /*context*/) {
  return trim(arguments, true, true);
}
Value trim_left(Arguments arguments, Context& /*context*/) {
  return trim(arguments, true, false);
}
Value trim_right(Arguments arguments, Context& /*context*/) {
  return trim(arguments, false, true);
}

// Nothing can be put in the place of the empty string: undefined.
Value replace(Arguments arguments, Context& context) {
  if (!all_strings(arguments) || arguments[1].text().empty()) return {};
  const std::string_view text = arguments[0].text();
  const std::string_view wanted = arguments[1].text();
  std::string out;
  for (size_t at = 0;;) {
    const size_t found = find_text(text, wanted, at);
    out.append(text.substr(at, found == text.npos ? text.npos : found - at));
    if (found == text.npos) break;
    out.append(arguments[2].text());
    if (context.budget.spend(1) || !context.may_make(out.size())) return {};
    at = found + wanted.size();
  }
  return string(std::move(out));
}

Value replicate(Arguments arguments, Context& /*context*/) {
  if (!arguments[0].is_string() || !arguments[1].is_number()) return {};
  const double times = arguments[1].number();
  if (!std::isfinite(times) || times < 0) return {};
  const std::string_view text = arguments[0].text();
  const double wanted = std::trunc(times) * static_cast<double>(count_code_points(text));
  if (wanted > static_cast<double>(kMaxReplicated)) return {};
  std::string out;
  if (wanted > 0) {
    for (auto left_over = static_cast<size_t>(times); left_over > 0; --left_over) out.append(text);
  }
  return string(std::move(out));
}

Value reverse(Arguments arguments, Context& context) {
  if (!arguments[0].is_string()) return {};
  const std::string_view text = arguments[0].text();
  if (!context.budget.has_room(text.size() * (1 + sizeof(char32_t)))) return {};
  std::u32string codes;
  for (size_t at = 0; at < text.size();) codes.push_back(next_code_point(text, at));
  std::string out;
  out.reserve(text.size());
  for (const char32_t code : codes | std::views::reverse) append_code_point(out, code);
  return string(std::move(out));
}

Value string_join(Arguments arguments, Context& context) {
  if (!arguments[0].is_array() || !arguments[1].is_string()) return {};
  std::string out;
  bool first = true;
  for (const Value& part : arguments[0].elements()) {
    if (!part.is_string()) return {};
    if (!std::exchange(first, false)) out.append(arguments[1].text());
    out.append(part.text());
    if (context.budget.spend(1) || !context.may_make(out.size())) return {};
  }
  return string(std::move(out));
}

Value string_split(Arguments arguments, Context& context) {
  if (!all_strings(arguments)) return {};
  const std::string_view text = arguments[0].text();
  const std::string_view separator = arguments[1].text();
  constexpr size_t kBytesOfPart = 2 * sizeof(Value) + 96;  // its place, and what it is shared by
  Held held(context.budget);
  std::vector<Value> parts;
  for (size_t at = 0;;) {
    const size_t found = separator.empty() ? text.npos : find_text(text, separator, at);
    held.add(kBytesOfPart);
    if (context.budget.spend(4)) return {};
    parts.push_back(string(std::string(text.substr(at, found == text.npos ? found : found - at))));
    if (found == text.npos) break;
    at = found + separator.size();
  }
  return Value::make_array(std::move(parts));
}

constexpr Function kStringFunctions[] = {
    {"CONCAT", 2, Function::kAnyNumber, concat},
    {"LEFT", 2, 2, left},
    {"LENGTH", 1, 1, length},
    {"LOWER", 1, 1, lower},
    {"LTRIM", 1, 2, trim_left},
    {"REPLACE", 3, 3, replace},
    {"REPLICATE", 2, 2, replicate},
    {"REVERSE", 1, 1, reverse},
    {"RIGHT", 2, 2, right},
    {"RTRIM", 1, 2, trim_right},
    {"STRINGJOIN", 2, 2, string_join},
    {"STRINGSPLIT", 2, 2, string_split},
    {"SUBSTRING", 3, 3, substring},
    {"TRIM", 1, 2, trim_both},
    {"UPPER", 1, 1, upper},
};

}  // namespace

std::span<const Function> string_functions() {
  return kStringFunctions;
}

}  // namespace orrery::query
