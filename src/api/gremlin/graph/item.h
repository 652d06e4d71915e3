// Vertices and edges as the items of a container:
//   vertex  {id, label, KEY: value, name: [{id, _value, _meta: {…}}, …], ttl}
//   edge    {id, label, KEY: of its source, _isEdge: true, _vertexId, _vertexLabel, _sink,
//            _sinkLabel, _sinkPartition, name: value, ttl}
// KEY is the property that the container is partitioned by. Other members of a vertex that are no
// arrays of this form are kept as they are, and are not seen.
//
// Pure; any thread may call.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/gremlin/value/elements.h"
#include "base/result.h"
#include "value/document.h"

namespace orrery::gremlin {

// The label of a vertex whose item has none.
inline constexpr const char* kNoLabel = "vertex";

// How the items of a container are read and written.
struct ItemForm {
  std::string key_name;
  // Of kShowable: they are properties of what is read, and are not written.
  std::vector<std::string> shown = {};
};
inline constexpr std::string_view kShowable[] = {"_ts", "_etag", "_rid", "_self"};

bool is_edge_item(const value::Node& item);
std::shared_ptr<Vertex> vertex_of(const value::Node& item, const ItemForm& form);
std::shared_ptr<Edge> edge_of(const value::Node& item, const ItemForm& form);

// Code::invalid when a property has a name that the item needs for itself. Without a partition key
// it lies with the others that have none.
Result<std::string> item_of(const Vertex& vertex, const ItemForm& form);
Result<std::string> item_of(const Edge& edge, const ItemForm& form);

// A new one, in the form of a UUID.
std::string new_id();

}  // namespace orrery::gremlin
