// See value.h.
#include "api/gremlin/value/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "api/gremlin/value/elements.h"

namespace orrery::gremlin {
namespace {

size_t mix(size_t a, size_t b) {
  return a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6) + (a >> 2));
}

size_t hash_of(const std::string& text) {
  return std::hash<std::string>()(text);
}

int sign(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// Kinds that are never equal to one another.
int family(Kind kind) {
  switch (kind) {
    case Kind::int32:
    case Kind::int64:
    case Kind::float32:
    case Kind::float64:
      return static_cast<int>(Kind::int32);
    case Kind::set:
      return static_cast<int>(Kind::list);
    case Kind::entry:
      return static_cast<int>(Kind::map);
    default:
      return static_cast<int>(kind);
  }
}

bool is_word(const Value& value) {
  return value.is_text() || value.kind() == Kind::token;
}
// A text, or the last part of a token's name.
std::string_view word_of(const Value& value) {
  std::string_view word = value.string();
  if (value.kind() == Kind::token) word.remove_prefix(word.rfind('.') + 1);
  return word;
}

}  // namespace

const VertexProperty* Vertex::find(std::string_view name) const {
  for (const auto& property : properties) {
    if (property->key == name) return property.get();
  }
  return nullptr;
}

const Value* Edge::find(std::string_view name) const {
  for (const auto& [property, value] : properties) {
    if (property == name) return &value;
  }
  return nullptr;
}

Value Value::boolean(bool boolean) {
  Value made;
  made.kind_ = Kind::boolean;
  made.integer_ = boolean ? 1 : 0;
  return made;
}

Value Value::integer(int64_t integer) {
  const bool fits = integer >= std::numeric_limits<int32_t>::min() &&
                    integer <= std::numeric_limits<int32_t>::max();
  return Value::integer(integer, fits ? Kind::int32 : Kind::int64);
}

Value Value::integer(int64_t integer, Kind kind) {
  Value made;
  made.kind_ = kind;
  made.integer_ = integer;
  return made;
}

Value Value::real(double number, Kind kind) {
  Value made;
  made.kind_ = kind;
  made.real_ = number;
  return made;
}

Value Value::text(std::string text) {
  Value made;
  made.kind_ = Kind::text;
  made.shared_ = std::make_shared<std::string>(std::move(text));
  return made;
}

Value Value::token(std::string name) {
  Value made = text(std::move(name));
  made.kind_ = Kind::token;
  return made;
}

Value Value::list(List elements, Kind kind) {
  Value made;
  made.kind_ = kind;
  made.shared_ = std::make_shared<List>(std::move(elements));
  return made;
}

Value Value::map(Map members) {
  Value made;
  made.kind_ = Kind::map;
  made.shared_ = std::make_shared<Map>(std::move(members));
  return made;
}

Value Value::entry(Value key, Value value) {
  Value made = map({{std::move(key), std::move(value)}});
  made.kind_ = Kind::entry;
  return made;
}

Value Value::of(std::shared_ptr<Vertex> vertex) {
  Value made;
  made.kind_ = Kind::vertex;
  made.shared_ = std::move(vertex);
  return made;
}

Value Value::of(std::shared_ptr<Edge> edge) {
  Value made;
  made.kind_ = Kind::edge;
  made.shared_ = std::move(edge);
  return made;
}

Value Value::of(std::shared_ptr<VertexProperty> property) {
  Value made;
  made.kind_ = Kind::vertex_property;
  made.shared_ = std::move(property);
  return made;
}

Value Value::of(std::shared_ptr<Property> property) {
  Value made;
  made.kind_ = Kind::property;
  made.shared_ = std::move(property);
  return made;
}

Value Value::of(std::shared_ptr<const PathValue> path) {
  Value made;
  made.kind_ = Kind::path;
  made.shared_ = std::const_pointer_cast<PathValue>(path);
  return made;
}

Value Value::of(std::shared_ptr<const Tree> tree) {
  Value made;
  made.kind_ = Kind::tree;
  made.shared_ = std::const_pointer_cast<Tree>(tree);
  return made;
}

const Value* Value::find(const Value& key) const {
  if (!is_map()) return nullptr;
  for (const auto& [name, value] : members()) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Value::operator==(const Value& other) const {
  if (family(kind_) != family(other.kind_)) return false;
  switch (kind_) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return integer_ == other.integer_;
    case Kind::int32:
    case Kind::int64:
    case Kind::float32:
    case Kind::float64:
      if (is_integer() && other.is_integer()) return integer_ == other.integer_;
      return as_number() == other.as_number();
    case Kind::text:
    case Kind::token:
      return string() == other.string();
    case Kind::list:
      return elements() == other.elements();
    case Kind::set:
      return elements().size() == other.elements().size() &&
             std::ranges::all_of(elements(), [&](const Value& element) {
               return std::ranges::find(other.elements(), element) != other.elements().end();
             });
    case Kind::map:
    case Kind::entry:
      return members().size() == other.members().size() &&
             std::ranges::all_of(members(), [&](const auto& member) {
               const Value* there = other.find(member.first);
               return there != nullptr && *there == member.second;
             });
    case Kind::vertex:
      return shared_ == other.shared_ || as_vertex().key == other.as_vertex().key;
    case Kind::edge:
      return shared_ == other.shared_ || as_edge().key == other.as_edge().key;
    case Kind::vertex_property: {
      if (shared_ == other.shared_) return true;
      const auto mine = vertex_property(), theirs = other.vertex_property();
      const auto owner = mine->owner.lock(), their_owner = theirs->owner.lock();
      return mine->id == theirs->id && mine->key == theirs->key && owner && their_owner &&
             owner->key == their_owner->key;
    }
    case Kind::property:
      return property()->key == other.property()->key &&
             property()->value == other.property()->value;
    case Kind::path:
      return path()->objects == other.path()->objects && path()->labels == other.path()->labels;
    case Kind::tree: {
      const auto& mine = tree()->children;
      const auto& theirs = other.tree()->children;
      return std::ranges::equal(mine, theirs, [](const auto& a, const auto& b) {
        return a.first == b.first && Value::of(std::shared_ptr<const Tree>(a.second)) ==
                                         Value::of(std::shared_ptr<const Tree>(b.second));
      });
    }
  }
  return false;
}

size_t Value::hash() const {
  const size_t seed = static_cast<size_t>(family(kind_)) + 1;
  switch (kind_) {
    case Kind::null:
    case Kind::tree:
      return seed;
    case Kind::boolean:
      return mix(seed, static_cast<size_t>(integer_));
    case Kind::int32:
    case Kind::int64:
    case Kind::float32:
    case Kind::float64:
      return mix(seed, std::hash<double>()(as_number() + 0.0));
    case Kind::text:
    case Kind::token:
      return mix(seed, hash_of(string()));
    case Kind::list: {
      size_t hash = seed;
      for (const Value& element : elements()) hash = mix(hash, element.hash());
      return hash;
    }
    case Kind::set:
      return mix(seed, elements().size());
    case Kind::map:
    case Kind::entry: {
      size_t hash = seed;  // whatever their order
      for (const auto& [key, value] : members()) hash += mix(key.hash(), value.hash());
      return hash;
    }
    case Kind::vertex:
      return mix(seed, hash_of(as_vertex().key.id));
    case Kind::edge:
      return mix(seed, hash_of(as_edge().key.id));
    case Kind::vertex_property:
      return mix(seed, hash_of(vertex_property()->id));
    case Kind::property:
      return mix(mix(seed, hash_of(property()->key)), property()->value.hash());
    case Kind::path: {
      size_t hash = seed;
      for (const Value& object : path()->objects) hash = mix(hash, object.hash());
      return hash;
    }
  }
  return seed;
}

std::string Value::print() const {
  const auto join = [](const List& elements) {
    std::string out;
    for (const Value& element : elements) {
      if (!out.empty()) out += ", ";
      if (out.size() > 4096) return out + "…";
      out += element.print();
    }
    return out;
  };
  switch (kind_) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return integer_ != 0 ? "true" : "false";
    case Kind::int32:
    case Kind::int64:
      return std::to_string(integer_);
    case Kind::float32:
    case Kind::float64:
      return real_ == std::floor(real_) && std::abs(real_) < 1e15 ? fmt::format("{:.1f}", real_)
                                                                  : fmt::format("{}", real_);
    case Kind::text:
      return string();
    case Kind::token:
      return string().substr(string().rfind('.') + 1);
    case Kind::list:
    case Kind::set:
      return "[" + join(elements()) + "]";
    case Kind::map:
    case Kind::entry: {
      std::string out = "{";
      for (const auto& [key, value] : members()) {
        if (out.size() > 1) out += ", ";
        if (out.size() > 4096) return out + "…";
        out += key.print() + "=" + value.print();
      }
      return out + "}";
    }
    case Kind::vertex:
      return "v[" + vertex()->key.id + "]";
    case Kind::edge:
      return fmt::format("e[{}][{}-{}->{}]", edge()->key.id, edge()->out.id, edge()->label,
                         edge()->in.id);
    case Kind::vertex_property:
      return "vp[" + vertex_property()->key + "->" + vertex_property()->value.print() + "]";
    case Kind::property:
      return "p[" + property()->key + "->" + property()->value.print() + "]";
    case Kind::path:
      return "path[" + join(path()->objects) + "]";
    case Kind::tree: {
      std::string out = "{";
      for (const auto& [key, children] : tree()->children) {
        if (out.size() > 1) out += ", ";
        if (out.size() > 4096) return out + "…";
        out += key.print() + "=" + of(std::shared_ptr<const Tree>(children)).print();
      }
      return out + "}";
    }
  }
  return {};
}

size_t Value::memory() const {
  size_t bytes = sizeof(Value);
  switch (kind_) {
    case Kind::text:
    case Kind::token:
      return bytes + 48 + string().size();
    case Kind::list:
    case Kind::set:
      for (const Value& element : elements()) bytes += element.memory();
      return bytes + 40;
    case Kind::map:
    case Kind::entry:
      for (const auto& [key, value] : members()) bytes += key.memory() + value.memory();
      return bytes + 40;
    case Kind::path:
      return bytes + 80 * (path()->objects.size() + 1);
    default:
      return bytes;
  }
}

bool are_comparable(const Value& a, const Value& b) {
  return (a.is_number() && b.is_number()) ||
         (a.kind() == b.kind() && (a.is_text() || a.kind() == Kind::boolean));
}

int compare(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer()) return sign(a.as_integer() <=> b.as_integer());
    const double x = a.as_number(), y = b.as_number();
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? (std::isnan(y) ? 0 : 1) : -1;
    return x < y ? -1 : x > y ? 1 : 0;
  }
  // The keys of an element's map are texts, and T.id and T.label among them.
  if (is_word(a) && is_word(b)) {
    if (const int order = sign(word_of(a) <=> word_of(b)); order != 0) return order;
  }
  if (family(a.kind()) != family(b.kind())) return family(a.kind()) < family(b.kind()) ? -1 : 1;
  if (a.kind() == Kind::boolean) return sign(a.as_integer() <=> b.as_integer());
  if (a.is_text()) return sign(a.string() <=> b.string());
  if (a.is_list()) {
    const auto& x = a.elements();
    const auto& y = b.elements();
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (const int order = compare(x[i], y[i]); order != 0) return order;
    }
    return sign(x.size() <=> y.size());
  }
  return sign(a.print() <=> b.print());
}

}  // namespace orrery::gremlin
