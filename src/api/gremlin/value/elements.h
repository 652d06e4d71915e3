// Vertices, edges, properties, paths and trees, as a traversal has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/gremlin/value/value.h"

namespace orrery::gremlin {

// Where an element is: ids are unique within a partition key only.
struct ElementKey {
  std::string id;
  Value partition;  // null: not known
  bool operator==(const ElementKey&) const = default;
};

struct VertexProperty {
  std::string id;
  std::string key;
  Value value;
  std::vector<std::pair<std::string, Value>> meta;
  std::weak_ptr<Vertex> owner;
};

struct Vertex {
  ElementKey key;
  std::string label;
  std::vector<std::shared_ptr<VertexProperty>> properties;
  std::string version;  // of the stored item, as it says itself; empty: not stored
  std::string unseen;   // members of the item that are no properties: ,"name":value…
  bool dropped = false;

  const VertexProperty* find(std::string_view name) const;
};

struct Edge {
  ElementKey key;
  std::string label;
  ElementKey out;
  std::string out_label;
  ElementKey in;
  std::string in_label;
  std::vector<std::pair<std::string, Value>> properties;
  std::string version;
  std::string unseen;
  bool dropped = false;

  const Value* find(std::string_view name) const;
};

// Of an edge, or of a vertex property (a meta-property).
struct Property {
  std::string key;
  Value value;
  Value owner;  // the edge or the vertex property
};

struct PathValue {
  std::vector<Value> objects;
  std::vector<std::vector<std::string>> labels;
};

struct Tree {
  std::vector<std::pair<Value, std::shared_ptr<Tree>>> children;
};

}  // namespace orrery::gremlin
