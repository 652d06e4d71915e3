// See bson_codec.h.
#include "api/mongo/bson/bson_codec.h"

#include <utility>

#include "api/mongo/bson/bson_reader.h"

namespace orrery::mongo {

using value::Node;
using value::Type;

namespace {

struct Tree final : value::Document::Tree {
  Tree(std::string_view body, bool copies)
      : bytes(copies ? body : std::string_view()), nodes(body.size()) {}
  size_t memory() const override { return bytes.size() + nodes.bytes(); }
  const std::string bytes;
  value::NodeArena nodes;
};

Answer<value::Document> parse(std::string_view bytes, bool copies) {
  auto tree = std::make_unique<Tree>(bytes, copies);
  const std::string_view body = copies ? std::string_view(tree->bytes) : bytes;
  Node* const root = tree->nodes.add();
  root->type = Type::object;
  root->is_json = false;
  root->raw = body;
  BsonReader reader(tree->nodes);
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
