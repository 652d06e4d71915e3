// Operators that look for a part of a string: $indexOf…, $split, $replace…, $trim.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/expression/operators.h"
#include "api/mongo/expression/utf8.h"

namespace orrery::mongo {
namespace {

template <bool kCodePoints>
Answer<Value> index_of(const Arguments& arguments) {
  if (is_nullish(arguments[0])) return Value::make_null();
  constexpr std::array kWords = {"first", "second"};
  for (size_t i = 0; i < 2; ++i) {
    if (arguments[i].is_string()) continue;
    return refuse((kCodePoints ? 40093 : 40091) + static_cast<int32_t>(i),
                  fmt::format("{} requires a string as the {} argument, found: {}", arguments.name,
                              kWords[i], type_name(arguments[i])));
  }
  const std::string_view text = arguments[0].text();
  const std::string_view wanted = arguments[1].text();
  const auto size = static_cast<int64_t>(kCodePoints ? code_points(text) : text.size());
  std::array<int64_t, 2> bounds = {0, size};
  for (size_t i = 2; i < arguments.size(); ++i) {
    const auto bound = exact_integer(arguments[i]);
    if (!bound || *bound > std::numeric_limits<int32_t>::max() ||
        *bound < std::numeric_limits<int32_t>::min()) {
      return refuse(
          40096,
          fmt::format("{} requires an integral {} index, found a value of type: {}", arguments.name,
                      i == 2 ? "starting" : "ending", type_name(arguments[i])));
    }
    if (*bound < 0) {
      return refuse(40097, fmt::format("{} requires a nonnegative {} index, found: {}",
                                       arguments.name, i == 2 ? "starting" : "ending", *bound));
    }
    bounds[i - 2] = *bound;
  }
  const int64_t end = std::min(bounds[1], size);
  if (bounds[0] > end || bounds[0] > size) return make_int32(-1);
  const auto byte_at = [&](int64_t place) {
    return kCodePoints ? byte_of_code_point(text, static_cast<size_t>(place))
                       : static_cast<size_t>(place);
  };
  const size_t found = text.substr(0, byte_at(end)).find(wanted, byte_at(bounds[0]));
  if (found == std::string_view::npos) return make_int32(-1);
  return make_int32(static_cast<int64_t>(kCodePoints ? code_points(text.substr(0, found)) : found));
}

Answer<Value> do_split(const Arguments& arguments) {
  for (size_t i = 0; i < 2; ++i) {
    if (arguments[i].is_string()) continue;
    return refuse(i == 0 ? 40085 : 40086,
                  fmt::format("$split requires an expression that evaluates to a string as {} "
                              "argument, found: {}",
                              i == 0 ? "a first" : "a second", type_name(arguments[i])));
  }
  const std::string_view text = arguments[0].text();
  const std::string_view separator = arguments[1].text();
  if (separator.empty()) return refuse(40087, "$split requires a non-empty separator");
  if (auto room = arguments.evaluation.take(text.size() * 4); !room) {
    return pass(std::move(room.error()));
  }
  std::vector<Value> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(Value::make_string(std::string(text.substr(start, end - start))));
    if (end == std::string_view::npos) break;
    start = end + separator.size();
  }
  return Value::make_array(std::move(parts));
}

template <bool kAll>
Answer<Value> replace(const Arguments& arguments) {
  constexpr std::array kCodes = {51746, 51745, 51744};
  constexpr std::array kNames = {"input", "find", "replacement"};
  bool has_null = false;
  for (size_t i = 0; i < 3; ++i) {
    if (is_nullish(arguments[i])) {
      has_null = true;
    } else if (!arguments[i].is_string()) {
      return refuse(kCodes[i], fmt::format("{} requires that '{}' be a string, found: {}",
                                           arguments.name, kNames[i], shown(arguments[i])));
    }
  }
  if (has_null) return Value::make_null();
  const std::string_view text = arguments[0].text();
  const std::string_view wanted = arguments[1].text();
  const std::string_view with = arguments[2].text();
  std::string result;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t found = text.find(wanted, start);
    if (found == std::string_view::npos) break;
    result += text.substr(start, found - start);
    result += with;
    start = found + wanted.size();
    if (wanted.empty()) {
      // The empty text is found before each character, and at the end.
      if (start < text.size()) result += text[start];
      ++start;
    }
    if (result.size() > kMaxDocumentBytes) {
      return refuse(kQueryExceededMemory,
                    fmt::format("{} would make a string of more than 16 MB", arguments.name));
    }
    if (!kAll) break;
  }
  if (start <= text.size()) result += text.substr(start);
  if (auto room = arguments.evaluation.take(result.size()); !room) {
    return pass(std::move(room.error()));
  }
  return Value::make_string(std::move(result));
}

// What $trim takes off when it is not told: white space and the null character.
constexpr std::array<std::string_view, 20> kWhitespace = {
    std::string_view("\0", 1),
    " ",
    "\t",
    "\n",
    "\v",
    "\f",
    "\r",
    "\u00a0",
    "\u1680",
    "\u2000",
    "\u2001",
    "\u2002",
    "\u2003",
    "\u2004",
    "\u2005",
    "\u2006",
    "\u2007",
    "\u2008",
    "\u2009",
    "\u200a",
};

template <bool kLeft, bool kRight>
Answer<Value> trim(const Arguments& arguments) {
  const Value& input = arguments[0];
  if (is_nullish(input)) return Value::make_null();
  if (!input.is_string()) {
    return refuse(50699, fmt::format("{} requires its input to be a string, got {} (of type {}) "
                                     "instead.",
                                     arguments.name, shown(input), type_name(input)));
  }
  std::vector<std::string_view> characters(kWhitespace.begin(), kWhitespace.end());
  if (arguments.has(1)) {
    if (is_nullish(arguments[1])) return Value::make_null();
    if (!arguments[1].is_string()) {
      return refuse(50700,
                    fmt::format("{} requires 'chars' to be a string, got {} (of type {}) "
                                "instead.",
                                arguments.name, shown(arguments[1]), type_name(arguments[1])));
    }
    characters.clear();
    const std::string_view chars = arguments[1].text();
    for (size_t at = 0; at < chars.size();) {
      const size_t end = next_code_point(chars, at);
      characters.push_back(chars.substr(at, end - at));
      at = end;
    }
  }
  std::string_view text = input.text();
  if (auto spent = arguments.evaluation.spend(text.size() + characters.size()); !spent) {
    return pass(std::move(spent.error()));
  }
  const auto has = [&](std::string_view character) {
    return std::ranges::find(characters, character) != characters.end();
  };
  while (kLeft && !text.empty()) {
    const size_t end = next_code_point(text, 0);
    if (!has(text.substr(0, end))) break;
    text.remove_prefix(end);
  }
  while (kRight && !text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && is_continuation(text[start])) --start;
    if (!has(text.substr(start))) break;
    text = text.substr(0, start);
  }
  return Value::make_string(std::string(text));
}

constexpr std::array<Parameter, kMaxParameters> kReplaceParameters = {
    Parameter{"input", 51749}, Parameter{"find", 51748}, Parameter{"replacement", 51747}};
constexpr std::array<Parameter, kMaxParameters> kTrimParameters = {Parameter{"input", 50695},
                                                                   Parameter{"chars"}};

constexpr std::array kTextSearchPositional = {
    PositionalOperator{"$indexOfBytes", 2, 4, index_of<false>},
    PositionalOperator{"$indexOfCP", 2, 4, index_of<true>},
    PositionalOperator{"$split", 2, 2, do_split, true},
};

constexpr std::array kTextSearchNamed = {
    NamedOperator{"$replaceOne", kReplaceParameters, 51750, 51751, replace<false>},
    NamedOperator{"$replaceAll", kReplaceParameters, 51750, 51751, replace<true>},
    NamedOperator{"$trim", kTrimParameters, 50694, 50696, trim<true, true>},
    NamedOperator{"$ltrim", kTrimParameters, 50694, 50696, trim<true, false>},
    NamedOperator{"$rtrim", kTrimParameters, 50694, 50696, trim<false, true>},
};

}  // namespace

OperatorTables text_search_operators() {
  return {.positional = kTextSearchPositional, .named = kTextSearchNamed};
}

}  // namespace orrery::mongo
