// See bson_codec.h.
#include "api/mongo/bson/bson_codec.h"

#include <bit>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/bytes.h"
#include "base/keyed_hash.h"

namespace orrery::mongo {

using value::Node;
using value::NumberKind;
using value::Type;

namespace {

constexpr size_t kMinDocumentBytes = 5;
constexpr size_t kObjectIdBytes = 12;
constexpr size_t kDecimalBytes = 16;
constexpr uint8_t kOldBinarySubtype = 2;  // has a second length inside
// Up to here names are compared with one another; beyond, a table finds the second of a name.
constexpr uint32_t kMaxComparedNames = 16;

struct Tree final : value::Document::Tree {
  Tree(std::string_view body, bool copies)
      : bytes(copies ? body : std::string_view()), nodes(body.size()) {}
  size_t memory() const override { return bytes.size() + nodes.bytes(); }
  const std::string bytes;
  value::NodeArena nodes;
};

// Reads from the start of what is left.
class Reader {
 public:
  explicit Reader(value::NodeArena& nodes) : nodes_(nodes) {}

  // A document's or an array's members; `bytes` is all of it. False: error() says why.
  bool read_members(std::string_view bytes, Node& parent, int depth);
  std::string take_error() { return std::move(error_); }

 private:
  bool wrong(std::string message) {
    error_ = std::move(message);
    return false;
  }
  bool read_value(ElementType type, std::string_view& rest, Node& node, int depth);
  bool read_number(ElementType type, std::string_view& rest, Node& node);
  bool read_binary(std::string_view& rest, Node& node);
  bool read_regex(std::string_view& rest, Node& node);
  bool read_pointer(std::string_view& rest, Node& node);
  bool read_scoped_code(std::string_view& rest, Node& node, int depth);
  bool take(std::string_view& rest, size_t size, std::string_view& taken) {
    if (rest.size() < size) return wrong("a value ends beyond its document");
    taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  bool take_cstring(std::string_view& rest, std::string_view& taken);
  bool take_string(std::string_view& rest, std::string_view& taken);
  bool take_document(std::string_view& rest, std::string_view& taken);
  bool check_names(const Node& object);

  value::NodeArena& nodes_;
  std::string error_;
};

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

bool Reader::take_cstring(std::string_view& rest, std::string_view& taken) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return wrong("a name or a pattern has no end");
  taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (!is_utf8(taken)) return wrong("a name or a pattern is not UTF-8");
  return true;
}

bool Reader::take_string(std::string_view& rest, std::string_view& taken) {
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

bool Reader::take_document(std::string_view& rest, std::string_view& taken) {
  if (rest.size() < kMinDocumentBytes) return wrong("a document ends beyond the one it is in");
  const uint32_t size = load_u32_le(rest.data());
  if (size < kMinDocumentBytes) {
    return wrong(fmt::format("a document has the length {}", size));
  }
  return take(rest, size, taken);
}

bool Reader::read_number(ElementType type, std::string_view& rest, Node& node) {
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

bool Reader::read_binary(std::string_view& rest, Node& node) {
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
bool Reader::read_regex(std::string_view& rest, Node& node) {
  const char* const start = rest.data();
  std::string_view pattern;
  std::string_view options;
  if (!take_cstring(rest, pattern) || !take_cstring(rest, options)) return false;
  node.set_bytes(Type::regex, {start, pattern.size() + 1 + options.size()});
  return true;
}

// {$ref, $id}
bool Reader::read_pointer(std::string_view& rest, Node& node) {
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

bool Reader::read_scoped_code(std::string_view& rest, Node& node, int depth) {
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

bool Reader::read_value(ElementType type, std::string_view& rest, Node& node, int depth) {
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

bool Reader::check_names(const Node& object) {
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

bool Reader::read_members(std::string_view bytes, Node& parent, int depth) {
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

Answer<value::Document> parse(std::string_view bytes, bool copies) {
  auto tree = std::make_unique<Tree>(bytes, copies);
  const std::string_view body = copies ? std::string_view(tree->bytes) : bytes;
  Node* const root = tree->nodes.add();
  root->type = Type::object;
  root->is_json = false;
  root->raw = body;
  Reader reader(tree->nodes);
  if (!reader.read_members(body, *root, 1)) {
    return refuse(kInvalidBson, "not a BSON document: " + reader.take_error());
  }
  tree->root = root;
  return value::Document(std::move(tree));
}

class BsonCodec final : public value::Codec {
 public:
  Result<value::Document> parse(std::string_view body) const override {
    auto document = parse_bson(body);
    if (!document) return fail(Code::invalid, std::move(document.error().message));
    return std::move(*document);
  }

  // Of what is no object, an object with it as its one member, without a name.
  bool append(std::string& out, const value::Value& value, size_t most) const override {
    if (value.is_undefined()) return true;
    BsonWriter writer;
    const size_t room = most > out.size() ? most - out.size() : 0;
    const bool is_whole =
        value.is_object() ? writer.members(value, room) : writer.value("", value, room);
    if (!is_whole) return false;
    out += writer.take();
    return true;
  }
};

}  // namespace

const std::shared_ptr<const value::Codec>& bson_codec() {
  static const std::shared_ptr<const value::Codec> codec = std::make_shared<const BsonCodec>();
  return codec;
}

Answer<value::Document> parse_bson(std::string_view bytes) {
  return parse(bytes, true);
}

Answer<value::Document> parse_bson_in_place(std::string_view bytes) {
  return parse(bytes, false);
}

Answer<value::Value> from_bson(std::string_view bytes) {
  auto document = parse_bson(bytes);
  if (!document) return pass(std::move(document.error()));
  return value::Value::make_document(std::move(*document));
}

}  // namespace orrery::mongo
