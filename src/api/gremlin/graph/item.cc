// See item.h.
#include "api/gremlin/graph/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <random>

#include "value/json.h"

namespace orrery::gremlin {
namespace {

using value::Node;
using value::Type;

constexpr std::array<std::string_view, 14> kOwnNames = {
    "id",    "label",      "_isEdge",        "_vertexId", "_vertexLabel",
    "_sink", "_sinkLabel", "_sinkPartition", "_rid",      "_self",
    "_etag", "_ts",        "_attachments",   "_lsn"};

bool is_own_name(std::string_view name) {
  return std::ranges::find(kOwnNames, name) != kOwnNames.end();
}

Value scalar(const Node& node) {
  switch (node.type) {
    case Type::boolean:
      return Value::boolean(node.boolean);
    case Type::string:
      return Value::text(std::string(node.text));
    case Type::number: {
      int64_t integer = 0;
      const char* const end = node.raw.data() + node.raw.size();
      const auto [at, failed] = std::from_chars(node.raw.data(), end, integer);
      if (failed == std::errc() && at == end) return Value::integer(integer);
      return Value::real(node.number);
    }
    default:
      return {};
  }
}

std::string text_at(const Node& item, std::string_view name) {
  const Node* found = item.find(name);
  return found != nullptr && found->type == Type::string ? std::string(found->text) : "";
}

Value scalar_at(const Node& item, std::string_view name) {
  const Node* found = item.find(name);
  return found == nullptr ? Value() : scalar(*found);
}

void append(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::boolean:
      out += value.as_bool() ? "true" : "false";
      return;
    case Kind::int32:
    case Kind::int64:
      out += std::to_string(value.as_integer());
      return;
    case Kind::float32:
    case Kind::float64: {
      if (!std::isfinite(value.as_number())) {
        value::append_json_string(out, value.print());
        return;
      }
      const size_t from = out.size();
      value::append_json_number(out, value.as_number());
      if (out.find_first_of(".eE", from) == std::string::npos) out += ".0";
      return;
    }
    case Kind::text:
      value::append_json_string(out, value.string());
      return;
    default:
      out += "null";
  }
}

void append_member(std::string& out, std::string_view name, const Value& value) {
  out += out.size() > 1 ? "," : "";
  value::append_json_string(out, name);
  out += ':';
  append(out, value);
}

Status check_name(std::string_view name) {
  if (!is_own_name(name)) return {};
  return fail(Code::invalid, fmt::format("a property cannot be named {}: the item has one of this "
                                         "name itself",
                                         name));
}

}  // namespace

bool is_edge_item(const Node& item) {
  const Node* found = item.find("_isEdge");
  return found != nullptr && found->type == Type::boolean && found->boolean;
}

namespace {

std::shared_ptr<VertexProperty> add_property(const std::shared_ptr<Vertex>& vertex,
                                             std::string_view key, Value value) {
  auto property = std::make_shared<VertexProperty>();
  property->key = key;
  property->value = std::move(value);
  property->owner = vertex;
  vertex->properties.push_back(property);
  return property;
}

// Of the vertex itself, and not in a list.
void add_flat(const std::shared_ptr<Vertex>& vertex, std::string_view key, Value value) {
  if (value.is_null()) return;
  add_property(vertex, key, std::move(value))->id = vertex->key.id + "|" + std::string(key);
}

bool is_property_list(const Node& node) {
  if (node.type != Type::array) return false;
  for (const Node* one = node.first; one != nullptr; one = one->next) {
    if (one->type != Type::object || one->find("_value") == nullptr) return false;
  }
  return true;
}

void add_listed(const std::shared_ptr<Vertex>& vertex, const Node& list) {
  for (const Node* one = list.first; one != nullptr; one = one->next) {
    const Node* value = one->find("_value");
    const auto property = add_property(vertex, list.name, scalar(*value));
    property->id = text_at(*one, "id");
    const Node* meta = one->find("_meta");
    if (meta == nullptr || meta->type != Type::object) continue;
    for (const Node* each = meta->first; each != nullptr; each = each->next) {
      property->meta.emplace_back(each->name, scalar(*each));
    }
  }
}

// Others have put it there: it stays when the element is written.
void append_unseen(std::string& out, const Node& member) {
  out += ",\"";
  out += member.raw_name;
  out += "\":";
  out += member.raw;
}

bool is_shown(const ItemForm& form, std::string_view name) {
  return std::ranges::find(form.shown, name) != form.shown.end();
}

}  // namespace

std::shared_ptr<Vertex> vertex_of(const Node& item, const ItemForm& form) {
  auto vertex = std::make_shared<Vertex>();
  vertex->key = {text_at(item, "id"), scalar_at(item, form.key_name)};
  vertex->label = text_at(item, "label");
  if (vertex->label.empty()) vertex->label = kNoLabel;
  vertex->version = text_at(item, "_etag");
  for (const Node* member = item.first; member != nullptr; member = member->next) {
    const bool is_flat =
        member->name == form.key_name || member->name == "ttl" || is_shown(form, member->name);
    if (is_flat) {
      add_flat(vertex, member->name, scalar(*member));
    } else if (!is_own_name(member->name)) {
      if (is_property_list(*member)) {
        add_listed(vertex, *member);
      } else {
        append_unseen(vertex->unseen, *member);
      }
    }
  }
  return vertex;
}

std::shared_ptr<Edge> edge_of(const Node& item, const ItemForm& form) {
  auto made = std::make_shared<Edge>();
  made->key = {text_at(item, "id"), scalar_at(item, form.key_name)};
  made->label = text_at(item, "label");
  made->version = text_at(item, "_etag");
  made->out = {text_at(item, "_vertexId"), made->key.partition};
  made->out_label = text_at(item, "_vertexLabel");
  made->in = {text_at(item, "_sink"), scalar_at(item, "_sinkPartition")};
  made->in_label = text_at(item, "_sinkLabel");
  for (const Node* member = item.first; member != nullptr; member = member->next) {
    const bool is_hidden = is_own_name(member->name) && !is_shown(form, member->name);
    if (is_hidden || member->name == form.key_name) continue;
    Value value = scalar(*member);
    if (value.is_null()) {
      append_unseen(made->unseen, *member);
    } else {
      made->properties.emplace_back(member->name, std::move(value));
    }
  }
  return made;
}

Result<std::string> item_of(const Vertex& vertex, const ItemForm& form) {
  std::string out = "{";
  append_member(out, "id", Value::text(vertex.key.id));
  append_member(out, "label", Value::text(vertex.label));
  std::vector<std::string_view> done;
  for (const auto& property : vertex.properties) {
    if (std::ranges::find(done, property->key) != done.end()) continue;
    if (is_shown(form, property->key)) continue;
    done.push_back(property->key);
    if (auto checked = check_name(property->key); !checked) return pass(checked.error());
    if (property->key == form.key_name || property->key == "ttl") {
      append_member(out, property->key, property->value);
      continue;
    }
    out += ',';
    value::append_json_string(out, property->key);
    out += ":[";
    bool first = true;
    for (const auto& same : vertex.properties) {
      if (same->key != property->key) continue;
      if (!first) out += ',';
      first = false;
      std::string one = "{";
      append_member(one, "id", Value::text(same->id));
      append_member(one, "_value", same->value);
      if (!same->meta.empty()) {
        one += ",\"_meta\":";
        std::string meta = "{";
        for (const auto& [key, value] : same->meta) append_member(meta, key, value);
        one += meta + "}";
      }
      out += one + "}";
    }
    out += ']';
  }
  return out + vertex.unseen + "}";
}

Result<std::string> item_of(const Edge& edge, const ItemForm& form) {
  std::string out = "{";
  append_member(out, "id", Value::text(edge.key.id));
  append_member(out, "label", Value::text(edge.label));
  if (!edge.out.partition.is_null()) append_member(out, form.key_name, edge.out.partition);
  append_member(out, "_isEdge", Value::boolean(true));
  append_member(out, "_vertexId", Value::text(edge.out.id));
  append_member(out, "_vertexLabel", Value::text(edge.out_label));
  append_member(out, "_sink", Value::text(edge.in.id));
  append_member(out, "_sinkLabel", Value::text(edge.in_label));
  if (!edge.in.partition.is_null()) append_member(out, "_sinkPartition", edge.in.partition);
  for (const auto& [key, value] : edge.properties) {
    if (is_shown(form, key)) continue;
    if (auto checked = check_name(key); !checked) return pass(checked.error());
    if (key == form.key_name) {
      if (value == edge.out.partition) continue;
      return fail(Code::invalid,
                  fmt::format("an edge lies with its source: its '{}' is {}, and cannot be {}", key,
                              edge.out.partition.print(), value.print().substr(0, 100)));
    }
    append_member(out, key, value);
  }
  return out + edge.unseen + "}";
}

std::string new_id() {
  thread_local std::mt19937_64 random{std::random_device()()};
  const uint64_t a = random(), b = random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xFFFF, a & 0xFFF,
                     0x8000 | ((b >> 48) & 0x3FFF), b & 0xFFFFFFFFFFFF);
}

}  // namespace orrery::gremlin
