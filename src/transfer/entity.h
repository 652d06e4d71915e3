// An entity on its way into a table: JSON in the form of the Table protocol, in which a value that
// JSON has no type for has its type beside it: {"n":"9007199254740993","n@odata.type":"Edm.Int64"}.
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::transfer {

struct PreparedEntity {
  std::string partition_key;
  std::string row_key;
  std::string body;  // without what the server adds
};

// Why not, in words for the file of rejected records.
Result<PreparedEntity> prepare_entity(std::string_view json);

// Whether two entities say the same: the same properties of the same types and values, whatever the
// order and the spelling.
bool entities_are_equal(std::string_view first, std::string_view second);

}  // namespace orrery::transfer
