// The graph that a traversal runs over: elements found by conditions, hops of many vertices at
// once, and writes of one element each.
//
// What find_…() and edges_of() give may be more than was asked for by conditions: the steps test
// what they get. Within one traversal an element is one object, however often it is given.
//
// Threading: one thread at a time. Everything may block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/gremlin/parse/tree.h"
#include "api/gremlin/value/elements.h"
#include "base/result.h"

namespace orrery::gremlin {

using VertexPtr = std::shared_ptr<Vertex>;
using EdgePtr = std::shared_ptr<Edge>;

enum class Way : uint8_t { out, in, both };

// has(): of an id, a label or a property. Without a predicate the property has to be there.
struct Condition {
  enum class Of : uint8_t { id, label, property };
  Of of = Of::property;
  std::string name;
  std::shared_ptr<const Predicate> predicate;
};

struct ElementFilter {
  bool by_id = false;      // only elements that `ids` names
  std::vector<Value> ids;  // a text or a number: an id; a list of two: a partition key and an id
  std::vector<Condition> conditions;  // all of them hold
};

// What the store did for a traversal.
struct StoreWork {
  double charge = 0;
  uint64_t requests = 0;  // that read
  uint64_t items = 0;     // read
  uint64_t entries = 0;   // of the index
  uint64_t writes = 0;
};

class ElementCursor {
 public:
  virtual ~ElementCursor() = default;
  // About so many further elements; none at the end.
  virtual Result<std::vector<Value>> next(size_t want) = 0;
};

// Which edges of a vertex: all of one of the labels (of any when there are none) for which all
// conditions hold.
struct HopFilter {
  Way way = Way::both;
  std::vector<std::string> labels;
  std::vector<Condition> conditions;
};

struct HopEdge {
  size_t from;  // which of the vertices that were asked about
  EdgePtr edge;
};

class HopCursor {
 public:
  virtual ~HopCursor() = default;
  // About so many further edges; none at the end. Those of one call are in the order of the
  // vertices, and the outgoing ones of a vertex come first. An edge of a vertex with itself comes
  // twice with Way::both.
  virtual Result<std::vector<HopEdge>> next(size_t want) = 0;
};

struct Neighbour {
  size_t from;  // which of the vertices that were asked about
  VertexPtr vertex;
};

class NeighbourCursor {
 public:
  virtual ~NeighbourCursor() = default;
  // About so many further ones; none at the end. In the order of the edges of HopCursor.
  virtual Result<std::vector<Neighbour>> next(size_t want) = 0;
};

// Vertices by numbers that the graph gives them for a traversal, and how many traversers are at
// each. A number may come more than once.
struct Frontier {
  std::vector<uint32_t> vertices;
  std::vector<uint64_t> bulks;

  bool empty() const { return vertices.empty(); }
  size_t size() const { return vertices.size(); }
  void clear() { vertices.clear(), bulks.clear(); }
  void add(uint32_t vertex, uint64_t bulk) {
    vertices.push_back(vertex);
    bulks.push_back(bulk);
  }
};

class Graph {
 public:
  virtual ~Graph() = default;

  virtual Result<std::unique_ptr<ElementCursor>> find_vertices(const ElementFilter& filter) = 0;
  virtual Result<std::unique_ptr<ElementCursor>> find_edges(const ElementFilter& filter) = 0;
  // How many find_…() would give; nothing when that has to be found out by finding them.
  virtual Result<std::optional<uint64_t>> count(const ElementFilter& /*filter*/, bool /*edges*/) {
    return std::nullopt;
  }
  virtual Result<std::unique_ptr<HopCursor>> edges_of(std::vector<VertexPtr> vertices,
                                                      const HopFilter& hop) = 0;
  // The vertices at the other ends of edges, and how many edges each vertex has. Nothing when that
  // has to be found out by edges_of(). `hop` has no conditions.
  virtual Result<std::unique_ptr<NeighbourCursor>> neighbours_of(
      std::vector<VertexPtr> /*vertices*/, const HopFilter& /*hop*/) {
    return nullptr;
  }
  virtual Result<std::optional<std::vector<uint64_t>>> degrees_of(
      std::span<const VertexPtr> /*vertices*/, const HopFilter& /*hop*/) {
    return std::nullopt;
  }
  // Null where there is no such vertex.
  virtual Result<std::vector<VertexPtr>> vertices(std::span<const ElementKey> keys) = 0;

  // Hops of many vertices at once. False, or nothing: the graph has no numbers for this traversal,
  // or the hop has to be made by edges_of().
  virtual Result<bool> number(std::span<const VertexPtr> /*vertices*/,
                              std::vector<uint32_t>& /*to*/) {
    return false;
  }
  // Adds the vertices that there are at the other ends, in the order of HopCursor. `hop` has no
  // conditions.
  virtual Result<bool> hop(const Frontier& /*from*/, const HopFilter& /*hop*/, Frontier& /*to*/) {
    return false;
  }
  // How many edges the traversers would go along.
  virtual Result<std::optional<uint64_t>> count_hop(const Frontier& /*from*/,
                                                    const HopFilter& /*hop*/) {
    return std::nullopt;
  }
  // Null where there is no vertex any more.
  virtual Result<std::vector<VertexPtr>> numbered(std::span<const uint32_t> numbers) {
    return std::vector<VertexPtr>(numbers.size());
  }

  // Stores a new element. An empty id is replaced by a new one, and so are those of its properties.
  virtual Status add(const VertexPtr& vertex) = 0;
  virtual Status add(const EdgePtr& edge) = 0;
  // Stores an element that was changed.
  virtual Status save(const VertexPtr& vertex) = 0;
  virtual Status save(const EdgePtr& edge) = 0;
  // A vertex goes with all its edges.
  virtual Status drop(const VertexPtr& vertex) = 0;
  virtual Status drop(const EdgePtr& edge) = 0;

  // Elements that are read from now on have these as properties, which cannot be written.
  // Code::unsupported for a name that is none.
  virtual Status show_system_properties(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    return fail(Code::unsupported, names.front() + " cannot be shown");
  }

  // Whether the traversal may go on: its time, and whether its client is there.
  virtual Status check() = 0;
  // So far.
  virtual StoreWork work() const { return {}; }
};

// All edges that the cursor still has.
Result<std::vector<EdgePtr>> all_edges(HopCursor& cursor);

}  // namespace orrery::gremlin
