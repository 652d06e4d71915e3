// See arguments.h.
#include "api/mongo/commands/arguments.h"

#include <fmt/format.h>

#include <cmath>

#include "api/mongo/bson/types.h"

namespace orrery::mongo {

using value::Value;

Answer<Value> object_argument(const Value& command, std::string_view member) {
  const Value given = command.find(member);
  if (given.is_object()) return given;
  if (given.is_undefined() || given.is_null()) return Value::make_object({});
  return refuse(kTypeMismatch,
                fmt::format("BSON field '{}' is the wrong type '{}', expected type 'object'",
                            member, type_name(given)));
}

Answer<int64_t> integer_argument(const Value& from, std::string_view member, int64_t otherwise) {
  const Value given = from.find(member);
  if (given.is_undefined() || given.is_null()) return otherwise;
  if (!given.is_number()) {
    return refuse(kTypeMismatch,
                  fmt::format("BSON field '{}' is the wrong type '{}', expected a number", member,
                              type_name(given)));
  }
  if (given.number_kind() == value::NumberKind::int32 ||
      given.number_kind() == value::NumberKind::int64) {
    return given.integer();
  }
  const double number = given.number();
  if (std::isnan(number) || std::abs(number) > 9.2e18) {
    return refuse(kBadValue, fmt::format("BSON field '{}' is out of range", member));
  }
  return static_cast<int64_t>(number);
}

bool is_true(const Value& value) {
  return value.is_true() || (value.is_number() && value.number() != 0);
}

bool flag_argument(const Value& from, std::string_view member, bool otherwise) {
  const Value given = from.find(member);
  return given.is_undefined() || given.is_null() ? otherwise : is_true(given);
}

Answer<std::shared_ptr<const Collation>> collation_argument(const Value& from) {
  const Value given = from.find("collation");
  if (!given.is_object() || given.size() == 0) return std::shared_ptr<const Collation>();
  return Collation::parse(given);
}

Answer<std::string_view> collection_argument(const Call& call) {
  if (!call.collection().empty() && !call.database.empty()) return call.collection();
  return refuse(kInvalidNamespace,
                fmt::format("collection name has invalid type or is missing in '{}'", call.name));
}

}  // namespace orrery::mongo
