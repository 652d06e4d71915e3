// See entity_codec.h.
#include "api/table/entities/entity_codec.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "api/table/entities/entity.h"
#include "value/value.h"

namespace orrery::table {
namespace {

using value::Date;
using value::Node;
using value::NumberKind;
using value::Type;
using value::Value;

Date date_of(Ticks ticks) {
  const Ticks rest = ticks % Ticks{value::kTicksInMs};
  return {ticks / Ticks{value::kTicksInMs} - (rest < 0 ? 1 : 0),
          static_cast<uint32_t>(rest < 0 ? rest + Ticks{value::kTicksInMs} : rest)};
}

Ticks ticks_of(Date date) {
  return date.ms * Ticks{value::kTicksInMs} + date.ticks;
}

struct Tree final : value::Document::Tree {
  explicit Tree(std::string_view body) : bytes(body), nodes(body.size()) {}
  size_t memory() const override { return bytes.size() + nodes.bytes(); }
  const std::string bytes;
  value::NodeArena nodes;
};

void fill(Node& node, const EdmValue& from) {
  node.is_json = false;
  switch (from.type) {
    case Edm::string:
      node.type = Type::string;
      node.text = from.bytes;
      return;
    case Edm::boolean:
      node.type = Type::boolean;
      node.boolean = from.boolean;
      return;
    case Edm::int32:
      return node.set_integer(from.integer, NumberKind::int32);
    case Edm::int64:
      return node.set_integer(from.integer, NumberKind::int64);
    case Edm::real:
      node.type = Type::number;
      node.number = from.real;
      return;
    case Edm::datetime:
      return node.set_date(date_of(from.integer));
    case Edm::guid:
      return node.set_bytes(Type::guid, from.bytes);
    case Edm::binary:
      return node.set_bytes(Type::binary, from.bytes);
  }
}

// Nothing: entities have no such values.
bool to_edm(const Value& from, EdmValue& to, std::string& text) {
  switch (from.type()) {
    case Type::string:
      to.type = Edm::string;
      to.bytes = from.text();
      return true;
    case Type::boolean:
      to.type = Edm::boolean;
      to.boolean = from.boolean();
      return true;
    case Type::number:
      if (from.number_kind() == NumberKind::int32 || from.number_kind() == NumberKind::int64) {
        to.type = from.number_kind() == NumberKind::int32 ? Edm::int32 : Edm::int64;
        to.integer = from.integer();
      } else {
        to.type = Edm::real;
        to.real = from.number();
      }
      return true;
    case Type::date:
      to.type = Edm::datetime;
      to.integer = ticks_of(from.date());
      text = time_text(to.integer);
      to.bytes = text;
      return true;
    case Type::guid:
    case Type::binary:
      to.type = from.type() == Type::guid ? Edm::guid : Edm::binary;
      to.bytes = from.bytes();
      return true;
    default:
      return false;
  }
}

class EntityCodec final : public value::Codec {
 public:
  Result<value::Document> parse(std::string_view body) const override {
    auto tree = std::make_unique<Tree>(body);
    auto reader = EntityReader::open(tree->bytes);
    if (!reader) return pass(reader.error());
    Node* root = tree->nodes.add();
    root->type = Type::object;
    root->is_json = false;
    root->raw = tree->bytes;
    const Node** link = &root->first;
    std::set<std::string_view> names;
    const auto append = [&](std::string_view name, const EdmValue& value) {
      if (!names.insert(name).second) return false;
      Node* member = tree->nodes.add();
      member->name = name;
      fill(*member, value);
      member->raw = value.bytes;
      *link = member;
      link = &member->next;
      ++root->count;
      return true;
    };
    Property property;
    bool is_sound = true;
    const auto append_timestamp = [&] {
      EdmValue time;
      time.type = Edm::datetime;
      time.integer = reader->timestamp();
      is_sound = is_sound && append(kTimestamp, time);
    };
    while (is_sound && reader->next(property)) {
      if (root->count == 2) append_timestamp();
      is_sound = is_sound && append(property.name, property.value);
    }
    if (root->count <= 2) append_timestamp();
    if (!is_sound || !reader->is_sound()) {
      return fail(Code::corrupt, "the stored body is not an entity of a table");
    }
    tree->root = root;
    return value::Document(std::move(tree));
  }

  // Of an object, the entity that it makes; of a scalar, a property of no name. What entities do
  // not have is left out.
  bool append(std::string& out, const Value& value, size_t most) const override {
    EntityWriter writer;
    Ticks timestamp = 0;
    const auto add = [&](std::string_view name, const Value& member) {
      EdmValue edm;
      std::string text;
      if (!to_edm(member, edm, text)) return;
      if (name == kTimestamp && edm.type == Edm::datetime) {
        timestamp = edm.integer;
        return;
      }
      writer.add(name, edm);
    };
    if (value.is_object()) {
      for (const Value::Member& member : value.members()) add(member.name, member.value);
    } else {
      add("", value);
    }
    std::string entity = writer.take();
    set_timestamp(entity, timestamp);
    out += entity;
    return out.size() <= most;
  }
};

}  // namespace

std::shared_ptr<const value::Codec> entity_codec() {
  static const auto codec = std::make_shared<const EntityCodec>();
  return codec;
}

}  // namespace orrery::table
