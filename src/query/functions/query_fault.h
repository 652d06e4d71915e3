// Why a query was refused: one kind for each reason that a face may answer in its own way (a code,
// a status). A message for people comes with it.
#pragma once

#include <cstdint>

namespace orrery::query {

enum class QueryFault : uint8_t {
  syntax,
  invalid_token,
  invalid_number,
  invalid_string,
  unknown_name,  // of an alias or a parameter
  unknown_function,
  star_with_group_by,
  argument_count,
  count_not_integer,  // of TOP, OFFSET or LIMIT
  not_grouped,        // neither a key of GROUP BY nor inside an aggregate
  text_too_long,
  too_complex,  // over a limit on joins, nesting, lists or constants
};

}  // namespace orrery::query
