// For tests: values from canonical Extended JSON, and back.
#pragma once

#include <string>
#include <string_view>

#include "value/value.h"

namespace orrery::mongo {

// {"$numberInt": "1"}, {"$oid": …}, … Plain numbers are int32 or int64 where they are whole and
// written without a point, else doubles. Aborts on what it cannot read.
value::Value from_ejson(std::string_view text);
// The same, of JSON that was parsed. Undefined for what it cannot read.
value::Value from_ejson(const value::Value& json);
std::string to_ejson(const value::Value& value);

}  // namespace orrery::mongo
