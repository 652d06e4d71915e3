// The system functions of the language, by name.
//
// Each takes values and gives a value; arguments of a wrong type, or undefined ones, give undefined
// rather than an error. What can be wrong before a row is seen (a name that does not exist, a
// wrong number of arguments) is an error with a message.
//
// Aggregates (aggregate.h) and the scores of ORDER BY RANK (FULLTEXTSCORE, RRF) are not here: they
// are not functions of one row's values.
#pragma once

#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "query/functions/context.h"
#include "query/functions/query_fault.h"
#include "value/value.h"

namespace orrery::query {

using value::Value;
using Arguments = std::span<const Value>;

// On what a result depends besides the arguments: so, how often it must be computed.
enum class Depends : uint8_t { arguments, query, row };

struct Function {
  static constexpr uint16_t kAnyNumber = std::numeric_limits<uint16_t>::max();

  std::string_view name;  // upper case
  uint16_t min_arguments;
  uint16_t max_arguments;
  Value (*call)(Arguments arguments, Context& context);
  Depends depends = Depends::arguments;
};

struct FunctionError {
  QueryFault fault;
  std::string message;
};

// Upper and lower case are the same. Null when there is none.
const Function* find_function(std::string_view name);
// The same, for a call with so many arguments.
std::expected<const Function*, FunctionError> resolve_function(std::string_view name,
                                                               size_t arguments);
// FULLTEXTSCORE and RRF.
bool is_rank_function(std::string_view name);
// All of them, by name.
std::span<const Function> all_functions();

}  // namespace orrery::query
