// Members of commands, checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/collation.h"
#include "api/mongo/bson/error.h"
#include "api/mongo/call.h"
#include "value/value.h"

namespace orrery::mongo {

// An empty object when it is missing; kTypeMismatch when it is something else.
Answer<value::Value> object_argument(const value::Value& command, std::string_view member);
// A whole number of any kind, or what stands in for a missing one.
Answer<int64_t> integer_argument(const value::Value& from, std::string_view member,
                                 int64_t otherwise);
bool is_true(const value::Value& value);  // true, and numbers but 0
bool flag_argument(const value::Value& from, std::string_view member, bool otherwise);
Answer<std::shared_ptr<const Collation>> collation_argument(const value::Value& from);
// The name of the collection that the command is about; 73 when there is none.
Answer<std::string_view> collection_argument(const Call& call);

}  // namespace orrery::mongo
