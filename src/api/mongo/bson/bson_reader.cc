// See bson_reader.h.
#include "api/mongo/bson/bson_reader.h"

#include <bit>
#include <cstdint>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/bytes.h"
#include "base/keyed_hash.h"

namespace orrery::mongo {

using value::Node;
using value::NumberKind;
using value::Type;

namespace {

constexpr size_t kObjectIdBytes = 12;
constexpr size_t kDecimalBytes = 16;
constexpr uint8_t kOldBinarySubtype = 2;  // has a second length inside
// Up to here names are compared with one another; beyond, a table finds the second of a name.
constexpr uint32_t kMaxComparedNames = 16;

// Short texts are mostly ASCII: to see that is cheaper than to call what is fast for long ones.
constexpr size_t kShortText = 32;

bool is_short_ascii(std::string_view text) {
  if (text.size() > kShortText) return false;
  uint8_t all = 0;
  for (const char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

bool is_utf8(std::string_view text) {
  if (is_short_ascii(text)) return true;
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace

bool BsonReader::take_cstring(std::string_view& rest, std::string_view& taken) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return wrong("a name or a pattern has no end");
  taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (!is_utf8(taken)) return wrong("a name or a pattern is not UTF-8");
  return true;
}

bool BsonReader::take_string(std::string_view& rest, std::string_view& taken) {
  std::string_view length;
  if (!take(rest, 4, length)) return false;
  const uint32_t size = load_u32_le(length.data());
  if (size == 0) return wrong("a string has the length 0");
  if (!take(rest, size, taken)) return false;
  if (taken.back() != '\0') return wrong("a string does not end with a byte 00");
  taken.remove_suffix(1);
  if (!is_utf8(taken)) return wrong("a string is not UTF-8");
  return true;
}

bool BsonReader::take_document(std::string_view& rest, std::string_view& taken) {
  if (rest.size() < kMinDocumentBytes) return wrong("a document ends beyond the one it is in");
  const uint32_t size = load_u32_le(rest.data());
  if (size < kMinDocumentBytes) {
    return wrong(fmt::format("a document has the length {}", size));
  }
  return take(rest, size, taken);
}

bool BsonReader::read_number(ElementType type, std::string_view& rest, Node& node) {
  std::string_view bytes;
  if (type == ElementType::decimal) {
    if (!take(rest, kDecimalBytes, bytes)) return false;
    node.set_decimal(bytes);
    return true;
  }
  if (!take(rest, type == ElementType::int32 ? 4 : 8, bytes)) return false;
  if (type == ElementType::int32) {
    node.set_integer(static_cast<int32_t>(load_u32_le(bytes.data())), NumberKind::int32);
  } else if (type == ElementType::int64) {
    node.set_integer(static_cast<int64_t>(load_u64_le(bytes.data())), NumberKind::int64);
  } else {
    node.type = Type::number;
    node.number = std::bit_cast<double>(load_u64_le(bytes.data()));
  }
  return true;
}

bool BsonReader::read_binary(std::string_view& rest, Node& node) {
  std::string_view bytes;
  if (!take(rest, 5, bytes)) return false;
  const uint32_t size = load_u32_le(bytes.data());
  const auto subtype = static_cast<uint8_t>(bytes[4]);
  if (!take(rest, size, bytes)) return false;
  if (subtype == kOldBinarySubtype) {
    if (bytes.size() < 4 || load_u32_le(bytes.data()) != bytes.size() - 4) {
      return wrong("a binary value of subtype 2 has a wrong length inside");
    }
    bytes.remove_prefix(4);
  }
  node.set_bytes(Type::binary, bytes, subtype);
  return true;
}

// The pattern, its byte 00 and the options.
bool BsonReader::read_regex(std::string_view& rest, Node& node) {
  const char* const start = rest.data();
  std::string_view pattern;
  std::string_view options;
  if (!take_cstring(rest, pattern) || !take_cstring(rest, options)) return false;
  node.set_bytes(Type::regex, {start, pattern.size() + 1 + options.size()});
  return true;
}

// {$ref, $id}
bool BsonReader::read_pointer(std::string_view& rest, Node& node) {
  std::string_view collection;
  std::string_view id;
  if (!take_string(rest, collection) || !take(rest, kObjectIdBytes, id)) return false;
  Node* const ref_node = nodes_.add();
  ref_node->is_json = false;
  ref_node->name = "$ref";
  ref_node->type = Type::string;
  ref_node->text = collection;
  Node* const id_node = nodes_.add();
  id_node->is_json = false;
  id_node->name = "$id";
  id_node->set_bytes(Type::object_id, id);
  ref_node->next = id_node;
  node.type = Type::object;
  node.count = 2;
  node.first = ref_node;
  return true;
}

bool BsonReader::read_scoped_code(std::string_view& rest, Node& node, int depth) {
  std::string_view bytes;
  std::string_view text;
  std::string_view scope;
  if (!take(rest, 4, bytes)) return false;
  const uint32_t size = load_u32_le(bytes.data());
  if (size < 4 || !take(rest, size - 4, bytes)) return wrong("code has a wrong length");
  if (!take_string(bytes, text) || !take_document(bytes, scope)) return false;
  if (!bytes.empty()) return wrong("code has a wrong length");
  if (text.contains('\0')) return wrong("code with a scope has a byte 00 in it");
  if (depth >= value::kMaxDepth) return wrong("a scope nests too deep");
  Node ignored;
  if (!read_members(scope, ignored, depth + 1)) return false;
  // The text, its byte 00 and the scope stand one behind the other.
  node.set_bytes(Type::code, {text.data(), text.size() + 1 + scope.size()}, 1);
  return true;
}

bool BsonReader::read_value(ElementType type, std::string_view& rest, Node& node, int depth) {
  std::string_view bytes;
  switch (type) {
    case ElementType::real:
    case ElementType::int32:
    case ElementType::int64:
    case ElementType::decimal:
      return read_number(type, rest, node);
    case ElementType::string:
    case ElementType::symbol:
      if (!take_string(rest, bytes)) return false;
      node.type = Type::string;
      node.text = bytes;
      return true;
    case ElementType::document:
    case ElementType::array:
      if (!take_document(rest, bytes)) return false;
      if (depth >= value::kMaxDepth) {
        return wrong(fmt::format("it nests deeper than {} levels", value::kMaxDepth));
      }
      node.type = type == ElementType::array ? Type::array : Type::object;
      return read_members(bytes, node, depth + 1);
    case ElementType::binary:
      return read_binary(rest, node);
    case ElementType::object_id:
      if (!take(rest, kObjectIdBytes, bytes)) return false;
      node.set_bytes(Type::object_id, bytes);
      return true;
    case ElementType::boolean:
      if (!take(rest, 1, bytes)) return false;
      if (static_cast<uint8_t>(bytes[0]) > 1) return wrong("a boolean is neither 0 nor 1");
      node.type = Type::boolean;
      node.boolean = bytes[0] != 0;
      return true;
    case ElementType::date:
      if (!take(rest, 8, bytes)) return false;
      node.set_date({static_cast<int64_t>(load_u64_le(bytes.data())), 0});
      return true;
    case ElementType::undefined:
    case ElementType::null:
      node.type = Type::null;
      return true;
    case ElementType::regex:
      return read_regex(rest, node);
    case ElementType::pointer:
      return read_pointer(rest, node);
    case ElementType::code:
      if (!take_string(rest, bytes)) return false;
      node.set_bytes(Type::code, bytes, 0);
      return true;
    case ElementType::scoped_code:
      return read_scoped_code(rest, node, depth);
    case ElementType::timestamp:
      if (!take(rest, 8, bytes)) return false;
      node.set_timestamp(load_u64_le(bytes.data()));
      return true;
    case ElementType::min_key:
      node.type = Type::min_key;
      return true;
    case ElementType::max_key:
      node.type = Type::max_key;
      return true;
  }
  return wrong(fmt::format("there is no type {:#04x}", static_cast<uint8_t>(type)));
}

bool BsonReader::check_names(const Node& object) {
  const auto twice = [this](std::string_view name) {
    return wrong(fmt::format("an object has two members '{}'", name.substr(0, 100)));
  };
  if (object.count <= kMaxComparedNames) {
    for (const Node* a = object.first; a != nullptr; a = a->next) {
      for (const Node* b = object.first; b != a; b = b->next) {
        if (a->name == b->name) return twice(a->name);
      }
    }
    return true;
  }
  KeyedSet<std::string_view> names;
  names.reserve(object.count);
  for (const Node* node = object.first; node != nullptr; node = node->next) {
    if (!names.insert(node->name).second) return twice(node->name);
  }
  return true;
}

bool BsonReader::read_members(std::string_view bytes, Node& parent, int depth) {
  if (bytes.size() < kMinDocumentBytes || load_u32_le(bytes.data()) != bytes.size() ||
      bytes.back() != '\0') {
    return wrong("a document's length is not that of its bytes");
  }
  std::string_view rest = bytes.substr(4, bytes.size() - 5);
  const bool is_array = parent.type == Type::array;
  const Node** link = &parent.first;
  while (!rest.empty()) {
    const auto type = static_cast<ElementType>(rest[0]);
    rest.remove_prefix(1);
    std::string_view name;
    if (!take_cstring(rest, name)) return false;
    Node* const node = nodes_.add();
    node->is_json = false;
    if (!is_array) node->name = name;
    const char* const start = rest.data();
    if (!read_value(type, rest, *node, depth)) return false;
    node->raw = {start, static_cast<size_t>(rest.data() - start)};
    *link = node;
    link = &node->next;
    ++parent.count;
  }
  return is_array || check_names(parent);
}

}  // namespace orrery::mongo
