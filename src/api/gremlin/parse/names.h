// The names of the language: steps with how many arguments they take, predicates, constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/gremlin/value/value.h"

namespace orrery::gremlin {

struct StepName {
  std::string_view name;
  uint8_t least;  // arguments
  uint8_t most;   // kAny: any number
};
inline constexpr uint8_t kAny = 255;

// Null when there is no such step.
const StepName* find_step(std::string_view name);
bool is_predicate(std::string_view name);
// A constant written without its class: id, desc, local.
std::optional<Value> bare_constant(std::string_view name);
// Class and name, as T.id, or what stands for it, as a number for WithOptions.all.
std::optional<Value> constant(std::string_view type, std::string_view name);

}  // namespace orrery::gremlin
