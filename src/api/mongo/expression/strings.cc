// Operators on strings: $concat, case, lengths, substrings.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"
#include "api/mongo/expression/utf8.h"

namespace orrery::mongo {
namespace {

Answer<Value> make_text(const Arguments& arguments, std::string text) {
  if (auto room = arguments.evaluation.take(text.size()); !room)
    return pass(std::move(room.error()));
  if (text.size() > kMaxDocumentBytes) {
    return refuse(kQueryExceededMemory,
                  fmt::format("{} would make a string of more than 16 MB", arguments.name));
  }
  return Value::make_string(std::move(text));
}

Answer<Value> do_concat(const Arguments& arguments) {
  std::string text;
  for (const Value& one : arguments.values) {
    if (is_nullish(one)) return Value::make_null();
    if (!one.is_string()) return wrong_type(16702, "$concat", "only supports strings", one);
    text += one.text();
  }
  return make_text(arguments, std::move(text));
}

char to_upper(char c) {
  return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}
char to_lower(char c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

template <char (*kChange)(char)>
Answer<Value> change_case(const Arguments& arguments) {
  auto text = coerce_to_string(arguments[0]);
  if (!text) return pass(std::move(text.error()));
  std::ranges::transform(*text, text->begin(), kChange);
  return make_text(arguments, std::move(*text));
}

Answer<Value> do_strcasecmp(const Arguments& arguments) {
  std::array<std::string, 2> texts;
  for (size_t i = 0; i < 2; ++i) {
    auto text = coerce_to_string(arguments[i]);
    if (!text) return pass(std::move(text.error()));
    texts[i] = std::move(*text);
    std::ranges::transform(texts[i], texts[i].begin(), to_upper);
  }
  const auto order = texts[0] <=> texts[1];
  return make_int32(order < 0 ? -1 : order > 0 ? 1 : 0);
}

template <bool kCodePoints>
Answer<Value> length(const Arguments& arguments) {
  const Value& text = arguments[0];
  if (!text.is_string()) {
    return refuse(
        kCodePoints ? 34471 : 34473,
        fmt::format("{} requires a string argument, found: {}", arguments.name, type_name(text)));
  }
  return make_int32(
      static_cast<int64_t>(kCodePoints ? code_points(text.text()) : text.text().size()));
}

Answer<Value> do_substr_bytes(const Arguments& arguments) {
  auto text = coerce_to_string(arguments[0]);
  if (!text) return pass(std::move(text.error()));
  for (size_t i = 1; i < 3; ++i) {
    if (!arguments[i].is_number()) {
      return refuse(i == 1 ? 16034 : 16035,
                    fmt::format("{}: starting index and length must be numeric types (is BSON type "
                                "{})",
                                arguments.name, type_name(arguments[i])));
    }
  }
  const int64_t start = truncated_integer(arguments[1]).value_or(0);
  const int64_t count = truncated_integer(arguments[2]).value_or(0);
  if (start < 0) {
    return refuse(50752, fmt::format("{}: starting index must be non-negative (got: {})",
                                     arguments.name, start));
  }
  const auto size = static_cast<int64_t>(text->size());
  if (start >= size) return Value::make_string("");
  const int64_t end = count < 0 || count > size - start ? size : start + count;
  const auto inside = [&](int64_t at) {
    return at < size && is_continuation((*text)[static_cast<size_t>(at)]);
  };
  if (inside(start)) {
    return refuse(28656, fmt::format("{}: Invalid range, starting index is a UTF-8 continuation "
                                     "byte.",
                                     arguments.name));
  }
  if (inside(end)) {
    return refuse(28657, fmt::format("{}: Invalid range, ending index is in the middle of a UTF-8 "
                                     "character.",
                                     arguments.name));
  }
  return make_text(arguments,
                   text->substr(static_cast<size_t>(start), static_cast<size_t>(end - start)));
}

Answer<Value> do_substr_cp(const Arguments& arguments) {
  auto text = coerce_to_string(arguments[0]);
  if (!text) return pass(std::move(text.error()));
  std::array<int64_t, 2> numbers = {};
  for (size_t i = 0; i < 2; ++i) {
    const Value& given = arguments[i + 1];
    const auto code = static_cast<int32_t>(34450 + 2 * i);
    if (!given.is_number()) {
      return refuse(code, fmt::format("$substrCP: starting index and length must be a numeric type "
                                      "(is BSON type {})",
                                      type_name(given)));
    }
    const auto number = exact_integer(given);
    if (!number || *number > std::numeric_limits<int32_t>::max() ||
        *number < std::numeric_limits<int32_t>::min()) {
      return refuse(code + 1, fmt::format("$substrCP: starting index and length cannot be "
                                          "represented as a 32-bit integral value: {}",
                                          number_text(given)));
    }
    numbers[i] = *number;
  }
  if (numbers[1] < 0) return refuse(34454, "$substrCP: length must be a nonnegative integer.");
  if (numbers[0] < 0)
    return refuse(34455, "$substrCP: the starting index must be nonnegative integer.");
  const size_t start = byte_of_code_point(*text, static_cast<size_t>(numbers[0]));
  const std::string_view rest = std::string_view(*text).substr(start);
  const size_t size = byte_of_code_point(rest, static_cast<size_t>(numbers[1]));
  return make_text(arguments, std::string(rest.substr(0, size)));
}

constexpr std::array kStringsPositional = {
    PositionalOperator{"$concat", 0, kAnyNumber, do_concat},
    PositionalOperator{"$toUpper", 1, 1, change_case<to_upper>},
    PositionalOperator{"$toLower", 1, 1, change_case<to_lower>},
    PositionalOperator{"$strcasecmp", 2, 2, do_strcasecmp},
    PositionalOperator{"$strLenBytes", 1, 1, length<false>},
    PositionalOperator{"$strLenCP", 1, 1, length<true>},
    PositionalOperator{"$substr", 3, 3, do_substr_bytes},
    PositionalOperator{"$substrBytes", 3, 3, do_substr_bytes},
    PositionalOperator{"$substrCP", 3, 3, do_substr_cp},
};

}  // namespace

OperatorTables string_operators() {
  return {.positional = kStringsPositional};
}

}  // namespace orrery::mongo
