// See types.h.
#include "api/mongo/bson/types.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "base/keyed_hash.h"

namespace orrery::mongo {
namespace {

struct TypeName {
  BsonType type;
  std::string_view name;
};

constexpr std::array kTypeNames = {
    TypeName{BsonType::missing, "missing"},
    TypeName{BsonType::real, "double"},
    TypeName{BsonType::string, "string"},
    TypeName{BsonType::object, "object"},
    TypeName{BsonType::array, "array"},
    TypeName{BsonType::binary, "binData"},
    TypeName{BsonType::undefined, "undefined"},
    TypeName{BsonType::object_id, "objectId"},
    TypeName{BsonType::boolean, "bool"},
    TypeName{BsonType::date, "date"},
    TypeName{BsonType::null, "null"},
    TypeName{BsonType::regex, "regex"},
    TypeName{BsonType::db_pointer, "dbPointer"},
    TypeName{BsonType::code, "javascript"},
    TypeName{BsonType::symbol, "symbol"},
    TypeName{BsonType::code_with_scope, "javascriptWithScope"},
    TypeName{BsonType::int32, "int"},
    TypeName{BsonType::timestamp, "timestamp"},
    TypeName{BsonType::int64, "long"},
    TypeName{BsonType::decimal, "decimal"},
    TypeName{BsonType::max_key, "maxKey"},
    TypeName{BsonType::min_key, "minKey"},
};

// By value::Type; numbers and code have several.
constexpr std::array<BsonType, value::kTypes> kBsonTypes = {
    BsonType::missing,   BsonType::null,   BsonType::boolean, BsonType::real,
    BsonType::string,    BsonType::array,  BsonType::object,  BsonType::binary,
    BsonType::object_id, BsonType::binary, BsonType::date,    BsonType::timestamp,
    BsonType::regex,     BsonType::code,   BsonType::min_key, BsonType::max_key,
};

// By NumberKind.
constexpr std::array kNumberTypes = {BsonType::real, BsonType::int32, BsonType::int64,
                                     BsonType::decimal};

constexpr size_t kMaxShown = 200;

}  // namespace

BsonType bson_type(const Value& value) {
  if (value.is_number()) return kNumberTypes[static_cast<size_t>(value.number_kind())];
  if (value.type() == Type::code && value.subtype() == 1) return BsonType::code_with_scope;
  return kBsonTypes[static_cast<size_t>(value.type())];
}

std::string_view type_name(BsonType type) {
  const auto* const found = std::ranges::find(kTypeNames, type, &TypeName::type);
  return found == kTypeNames.end() ? "unknown" : found->name;
}

std::optional<BsonType> type_of_name(std::string_view name) {
  const auto* const found = std::ranges::find(kTypeNames, name, &TypeName::name);
  if (found == kTypeNames.end() || found->type == BsonType::missing) return std::nullopt;
  return found->type;
}

std::optional<BsonType> type_of_number(int64_t number) {
  const auto* const found = std::ranges::find(
      kTypeNames, number, [](const TypeName& one) { return static_cast<int64_t>(one.type); });
  if (found == kTypeNames.end() || found->type == BsonType::missing) return std::nullopt;
  return found->type;
}

bool is_truthy(const Value& value) {
  if (is_nullish(value) || value.is_false()) return false;
  if (!value.is_number()) return true;
  return is_decimal(value) ? !is_zero(decimal_of(value)) : value.number() != 0;
}

std::strong_ordering compare(const Value& a, const Value& b, const Collation* collation) {
  constexpr auto kOrder = value::ValueOrder::typed;
  if (collation == nullptr || a.type() != b.type()) return value::compare(a, b, kOrder);
  if (a.is_string()) return collation->compare(a.text(), b.text());
  if (a.is_array()) {
    auto mine = a.elements().begin();
    auto theirs = b.elements().begin();
    for (size_t left = std::min(a.size(), b.size()); left > 0; --left, ++mine, ++theirs) {
      if (const auto order = compare(*mine, *theirs, collation); order != 0) return order;
    }
    return a.size() <=> b.size();
  }
  if (a.is_object()) {
    auto mine = a.members().begin();
    auto theirs = b.members().begin();
    for (size_t left = std::min(a.size(), b.size()); left > 0; --left, ++mine, ++theirs) {
      const Value::Member one = *mine;
      const Value::Member other = *theirs;
      const auto types =
          value::rank_of(one.value.type(), kOrder) <=> value::rank_of(other.value.type(), kOrder);
      if (types != 0) return types;
      if (const auto order = one.name <=> other.name; order != 0) return order;
      if (const auto order = compare(one.value, other.value, collation); order != 0) return order;
    }
    return a.size() <=> b.size();
  }
  return value::compare(a, b, kOrder);
}

uint64_t hash(const Value& value, const Collation* collation) {
  if (collation == nullptr) return value.hash();
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  if (value.is_string()) return keyed_hash(collation->key(value.text()));
  uint64_t sum = static_cast<uint64_t>(value.type());
  if (value.is_array()) {
    for (const Value& element : value.elements()) sum = sum * kFactor + hash(element, collation);
    return sum;
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.members()) {
      sum = (sum * kFactor + keyed_hash(name)) * kFactor + hash(member, collation);
    }
    return sum;
  }
  return value.hash();
}

std::string shown(const Value& value) {
  if (value.is_undefined()) return "MISSING";
  std::string text;
  if (!value.append_json(text, kMaxShown)) {
    text.resize(std::min(text.size(), kMaxShown));
    text += "...";
  }
  return text;
}

Value::Field field(std::string_view name, Value value) {
  return {.name = Value::make_string(std::string(name)), .value = std::move(value)};
}

Value with_member(const Value& object, std::string_view name, const Value& value) {
  std::vector<Value::Field> fields;
  fields.reserve(object.size() + 1);
  bool is_set = false;
  for (const auto& [member, old] : object.members()) {
    if (member == name) {
      is_set = true;
      fields.push_back(field(name, value));
    } else {
      fields.push_back(field(member, old));
    }
  }
  if (!is_set) fields.push_back(field(name, value));
  return Value::make_object(std::move(fields));
}

std::string_view regex_pattern(const Value& regex) {
  return regex.bytes().substr(0, regex.bytes().find('\0'));
}

std::string_view regex_options(const Value& regex) {
  const size_t end = regex.bytes().find('\0');
  return end == std::string_view::npos ? std::string_view() : regex.bytes().substr(end + 1);
}

Value make_regex(std::string_view pattern, std::string_view options) {
  std::string bytes(pattern);
  bytes.push_back('\0');
  bytes += options;
  return Value::make_bytes(Type::regex, std::move(bytes));
}

size_t bson_size(const Value& document) {
  constexpr size_t kFrame = 5;  // the size and the byte at the end
  switch (document.type()) {
    case Type::undefined:
    case Type::null:
    case Type::min_key:
    case Type::max_key:
      return 0;
    case Type::boolean:
      return 1;
    case Type::number:
      if (is_decimal(document)) return 16;
      return document.number_kind() == NumberKind::int32 ? 4 : 8;
    case Type::string:
      return kFrame + document.text().size();
    case Type::date:
    case Type::timestamp:
      return 8;
    case Type::object_id:
      return 12;
    case Type::binary:
    case Type::guid:
      return kFrame + document.bytes().size() + (document.subtype() == 2 ? 4 : 0);
    case Type::regex:
      return document.bytes().size() + 1;
    case Type::code:
      return document.subtype() == 0 ? kFrame + document.bytes().size()
                                     : 2 * 4 + document.bytes().size();
    case Type::array: {
      size_t size = kFrame;
      size_t index = 0;
      for (const Value& element : document.elements()) {
        size += 2 + fmt::formatted_size("{}", index++) + bson_size(element);
      }
      return size;
    }
    case Type::object:
      break;
  }
  size_t size = kFrame;
  for (const auto& [name, member] : document.members()) size += 2 + name.size() + bson_size(member);
  return size;
}

Value make_int32(int64_t number) {
  return Value::make_integer(number, NumberKind::int32);
}
Value make_int64(int64_t number) {
  return Value::make_integer(number, NumberKind::int64);
}
Value make_integer(int64_t number) {
  const bool is_small = number >= std::numeric_limits<int32_t>::min() &&
                        number <= std::numeric_limits<int32_t>::max();
  return is_small ? make_int32(number) : make_int64(number);
}
Value make_date(int64_t ms) {
  return Value::make_date({.ms = ms});
}

}  // namespace orrery::mongo
