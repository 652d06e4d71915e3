// Numbers and texts in what another node told, whatever its program made of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "value/document.h"

namespace orrery::ops {

// 0 if it is not there, or no number.
inline double number_in(const value::Node& object, std::string_view name) {
  const value::Node* member = object.find(name);
  return member != nullptr && member->type == value::Type::number ? member->number : 0;
}

// A whole number that a double has exactly.
inline uint64_t count_in(const value::Node& object, std::string_view name) {
  constexpr double kExactMax = 9'007'199'254'740'992.0;
  const double number = number_in(object, name);
  return number > 0 ? static_cast<uint64_t>(std::min(number, kExactMax)) : 0;
}

inline std::string text_in(const value::Node& object, std::string_view name) {
  const value::Node* member = object.find(name);
  return member != nullptr && member->type == value::Type::string ? std::string(member->text) : "";
}

}  // namespace orrery::ops
