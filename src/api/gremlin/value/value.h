// A value of a traversal: what a step takes and gives, a property's value, an argument of a step.
//
// Values are cheap to copy: what is large is shared and not changed after it is made. Elements
// (elements.h) are the exception: within one traversal there is one object for one vertex, so that
// what a step writes is seen by the steps after it.
//
// Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::gremlin {

struct Vertex;
struct Edge;
struct VertexProperty;
struct Property;
struct PathValue;
struct Tree;

enum class Kind : uint8_t {
  null,
  boolean,
  int32,
  int64,
  float32,
  float64,
  text,
  list,
  set,
  map,
  entry,  // of a map: a map of one
  vertex,
  edge,
  vertex_property,
  property,
  path,
  tree,
  token,  // a constant of the language by its full name: T.id, Direction.OUT
};

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<Value, Value>>;  // in the order of insertion; keys differ

  Value() = default;
  static Value boolean(bool boolean);
  // int32 if it fits and nothing else is said.
  static Value integer(int64_t integer);
  static Value integer(int64_t integer, Kind kind);
  static Value real(double number, Kind kind = Kind::float64);
  static Value text(std::string text);
  static Value token(std::string name);
  static Value list(List elements, Kind kind = Kind::list);
  static Value map(Map members);
  static Value entry(Value key, Value value);
  static Value of(std::shared_ptr<Vertex> vertex);
  static Value of(std::shared_ptr<Edge> edge);
  static Value of(std::shared_ptr<VertexProperty> property);
  static Value of(std::shared_ptr<Property> property);
  static Value of(std::shared_ptr<const PathValue> path);
  static Value of(std::shared_ptr<const Tree> tree);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_number() const { return kind_ >= Kind::int32 && kind_ <= Kind::float64; }
  bool is_integer() const { return kind_ == Kind::int32 || kind_ == Kind::int64; }
  bool is_list() const { return kind_ == Kind::list || kind_ == Kind::set; }
  bool is_map() const { return kind_ == Kind::map || kind_ == Kind::entry; }
  bool is_vertex() const { return kind_ == Kind::vertex; }
  bool is_edge() const { return kind_ == Kind::edge; }
  bool is_element() const { return is_vertex() || is_edge() || kind_ == Kind::vertex_property; }
  bool is_token(std::string_view name) const { return kind_ == Kind::token && string() == name; }

  // Each is for its kind alone.
  bool as_bool() const { return integer_ != 0; }
  int64_t as_integer() const { return integer_; }
  double as_number() const { return is_integer() ? static_cast<double>(integer_) : real_; }
  const std::string& string() const { return *static_cast<const std::string*>(shared_.get()); }
  const List& elements() const { return *static_cast<const List*>(shared_.get()); }
  const Map& members() const { return *static_cast<const Map*>(shared_.get()); }
  // Null when there is none.
  const Value* find(const Value& key) const;
  std::shared_ptr<Vertex> vertex() const { return std::static_pointer_cast<Vertex>(shared_); }
  std::shared_ptr<Edge> edge() const { return std::static_pointer_cast<Edge>(shared_); }
  const Vertex& as_vertex() const { return *static_cast<const Vertex*>(shared_.get()); }
  const Edge& as_edge() const { return *static_cast<const Edge*>(shared_.get()); }
  std::shared_ptr<VertexProperty> vertex_property() const {
    return std::static_pointer_cast<VertexProperty>(shared_);
  }
  std::shared_ptr<Property> property() const { return std::static_pointer_cast<Property>(shared_); }
  std::shared_ptr<const PathValue> path() const {
    return std::static_pointer_cast<const PathValue>(shared_);
  }
  std::shared_ptr<const Tree> tree() const { return std::static_pointer_cast<const Tree>(shared_); }

  // Numbers are equal by what they are worth, elements by their ids.
  bool operator==(const Value& other) const;
  size_t hash() const;
  struct Hash {
    size_t operator()(const Value& value) const { return value.hash(); }
  };
  // As people read it: v[1], [a, b], marko.
  std::string print() const;
  // Estimated memory, without what elements have.
  size_t memory() const;

 private:
  Kind kind_ = Kind::null;
  union {
    int64_t integer_ = 0;
    double real_;
  };
  std::shared_ptr<void> shared_;
};

// Total: numbers by size, texts by bytes, others by kind and then by their printed form.
int compare(const Value& a, const Value& b);
// Whether one can be less than the other: both numbers, both texts, both booleans.
bool are_comparable(const Value& a, const Value& b);

}  // namespace orrery::gremlin
