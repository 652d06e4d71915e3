// The update operators: a table of parsers, each of which makes a modifier out of an operand.
//
// Pure; any thread may call.
#pragma once

#include <string_view>

#include "api/mongo/match/match.h"
#include "api/mongo/update/path.h"

namespace orrery::mongo {

struct UpdateOperator {
  std::string_view name;
  Answer<Modifier> (*parse)(std::string_view path, const Value& operand,
                            const MatchOptions& options);
};
// Not $rename, which has two paths. Null if there is none of that name.
const UpdateOperator* find_update_operator(std::string_view name);
const UpdateOperator* find_array_operator(std::string_view name);

}  // namespace orrery::mongo
