// Reading arguments: what the groups share. Everything answers with an empty optional where the
// language says undefined.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "query/functions/registry.h"

namespace orrery::query {

inline Value boolean(bool truth) {
  return Value::make_bool(truth);
}
inline Value number(double result) {
  return Value::make_number(result);
}
inline Value string(std::string text) {
  return Value::make_string(std::move(text));
}

inline bool all_strings(Arguments arguments) {
  for (const Value& argument : arguments) {
    if (!argument.is_string()) return false;
  }
  return true;
}

// A number without a fraction that an int64 holds.
inline std::optional<int64_t> integer(const Value& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.number();
  // 2^63 itself is out; -2^63 is in. NaN fails both.
  if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0)) return std::nullopt;
  if (number != std::trunc(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

// A number cut to an integer and held to the range of int64: for counts and positions.
inline std::optional<int64_t> position(const Value& value) {
  if (!value.is_number() || std::isnan(value.number())) return std::nullopt;
  constexpr double kFar = 4611686018427387904.0;  // 2^62: sums of two still fit
  const double number = std::trunc(value.number());
  if (number >= kFar) return int64_t{1} << 62;
  if (number <= -kFar) return -(int64_t{1} << 62);
  return static_cast<int64_t>(number);
}

// A flag that may be left out: false then. Empty when it is there and no boolean.
inline std::optional<bool> flag(Arguments arguments, size_t index) {
  if (index >= arguments.size()) return false;
  if (!arguments[index].is_bool()) return std::nullopt;
  return arguments[index].boolean();
}

// Three-valued AND and OR over any number of outcomes: one false (one true) decides, then one
// undefined, then all agree.
class Conjunction {
 public:
  void add(const Value& outcome) {
    if (outcome.is_false()) false_ = true;
    if (!outcome.is_bool()) undefined_ = true;
  }
  Value result() const { return false_ ? boolean(false) : undefined_ ? Value() : boolean(true); }

 private:
  bool false_ = false;
  bool undefined_ = false;
};

class Disjunction {
 public:
  void add(const Value& outcome) {
    if (outcome.is_true()) true_ = true;
    if (!outcome.is_bool()) undefined_ = true;
  }
  Value result() const { return true_ ? boolean(true) : undefined_ ? Value() : boolean(false); }

 private:
  bool true_ = false;
  bool undefined_ = false;
};

}  // namespace orrery::query
