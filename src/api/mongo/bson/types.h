// What MongoDB's language says of a value beyond its order: the names and numbers of BSON's types,
// what counts as true, how values compare under a collation, and how a value is shown in messages.
//
// Missing is Value's undefined. Binary of every subtype is Type::binary.
// Pure; any thread may call.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/collation.h"
#include "api/mongo/bson/error.h"
#include "value/value.h"

namespace orrery::mongo {

using value::NumberKind;
using value::Type;
using value::Value;

// How deep documents, filters and expressions may nest.
inline constexpr int kMaxNesting = 100;
// The largest document that may leave a pipeline.
inline constexpr size_t kMaxDocumentBytes = size_t{16} << 20;

// BSON's numbers of types, as $type and $convert take them.
enum class BsonType : int8_t {
  missing = 0,  // of no BSON type
  real = 1,
  string = 2,
  object = 3,
  array = 4,
  binary = 5,
  undefined = 6,
  object_id = 7,
  boolean = 8,
  date = 9,
  null = 10,
  regex = 11,
  db_pointer = 12,
  code = 13,
  symbol = 14,
  code_with_scope = 15,
  int32 = 16,
  timestamp = 17,
  int64 = 18,
  decimal = 19,
  max_key = 127,
  min_key = -1,
};

inline Value text_value(std::string_view text) {
  return Value::make_string(std::string(text));
}

BsonType bson_type(const Value& value);
// "double", "string", …; "missing".
std::string_view type_name(BsonType type);
inline std::string_view type_name(const Value& value) {
  return type_name(bson_type(value));
}
// Of a name as above; not of "number", which stands for four types, nor of "missing".
std::optional<BsonType> type_of_name(std::string_view name);
std::optional<BsonType> type_of_number(int64_t number);

inline bool is_nullish(const Value& value) {
  return value.is_undefined() || value.is_null();
}
// All is true but false, 0, null and missing.
bool is_truthy(const Value& value);

// MongoDB's order, strings within by the collation where there is one. Null and missing differ.
std::strong_ordering compare(const Value& a, const Value& b, const Collation* collation);
inline bool equals(const Value& a, const Value& b, const Collation* collation) {
  return compare(a, b, collation) == 0;
}
// Equal values have equal hashes.
uint64_t hash(const Value& value, const Collation* collation);

// A value for tables that are keyed by what is equal in MongoDB's order.
struct ValueHash {
  const Collation* collation = nullptr;
  size_t operator()(const Value& value) const {
    return static_cast<size_t>(hash(value, collation));
  }
};
struct ValueEqual {
  const Collation* collation = nullptr;
  bool operator()(const Value& a, const Value& b) const {
    if (collation == nullptr && a.is_string() && b.is_string()) return a.text() == b.text();
    return equals(a, b, collation);
  }
};

// As the shell would print it, cut where it is long: for messages.
std::string shown(const Value& value);

// A member for make_object.
Value::Field field(std::string_view name, Value value);
// The object with the member set: in its place, or at the end. Undefined removes it.
Value with_member(const Value& object, std::string_view name, const Value& value);

// The bytes that a document of this value would have in BSON.
size_t bson_size(const Value& document);

// A regular expression's pattern and options.
std::string_view regex_pattern(const Value& regex);
std::string_view regex_options(const Value& regex);
Value make_regex(std::string_view pattern, std::string_view options);

Value make_int32(int64_t number);
Value make_int64(int64_t number);
// int32 where it fits.
Value make_integer(int64_t number);
Value make_date(int64_t ms);

}  // namespace orrery::mongo
