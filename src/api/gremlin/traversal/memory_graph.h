// A graph in memory, for tests of traversals.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/gremlin/traversal/graph.h"

namespace orrery::gremlin {

class MemoryGraph final : public Graph {
 public:
  Result<std::unique_ptr<ElementCursor>> find_vertices(const ElementFilter& filter) override {
    std::vector<Value> found;
    for (const VertexPtr& vertex : vertices_) {
      if (!vertex->dropped && is_asked(filter, vertex->key.id)) found.push_back(Value::of(vertex));
    }
    return std::make_unique<Cursor>(std::move(found));
  }
  Result<std::unique_ptr<ElementCursor>> find_edges(const ElementFilter& filter) override {
    std::vector<Value> found;
    for (const EdgePtr& edge : edges_) {
      if (!edge->dropped && is_asked(filter, edge->key.id)) found.push_back(Value::of(edge));
    }
    return std::make_unique<Cursor>(std::move(found));
  }
  Result<std::unique_ptr<HopCursor>> edges_of(std::vector<VertexPtr> vertices,
                                              const HopFilter& hop) override {
    ++hops;
    std::vector<HopEdge> found;
    for (size_t i = 0; i < vertices.size(); ++i) {
      for (const bool out : {true, false}) {
        if (hop.way == (out ? Way::in : Way::out)) continue;
        for (const EdgePtr& edge : edges_) {
          const bool has_label =
              hop.labels.empty() || std::ranges::find(hop.labels, edge->label) != hop.labels.end();
          if (!edge->dropped && has_label && (out ? edge->out : edge->in) == vertices[i]->key) {
            found.push_back({i, edge});
          }
        }
      }
    }
    return std::make_unique<Edges>(std::move(found), hop_edges);
  }
  Result<std::vector<VertexPtr>> vertices(std::span<const ElementKey> keys) override {
    std::vector<VertexPtr> found;
    for (const ElementKey& key : keys) {
      const auto at = std::ranges::find_if(vertices_, [&](const VertexPtr& vertex) {
        return vertex->key == key && !vertex->dropped;
      });
      found.push_back(at == vertices_.end() ? nullptr : *at);
    }
    return found;
  }
  Status add(const VertexPtr& vertex) override {
    if (vertex->key.id.empty()) vertex->key.id = "v" + std::to_string(vertices_.size());
    vertices_.push_back(vertex);
    return {};
  }
  Status add(const EdgePtr& edge) override {
    if (edge->key.id.empty()) edge->key.id = "e" + std::to_string(edges_.size());
    edges_.push_back(edge);
    return {};
  }
  Status save(const VertexPtr&) override { return {}; }
  Status save(const EdgePtr&) override { return {}; }
  Status drop(const VertexPtr& vertex) override {
    vertex->dropped = true;
    for (const EdgePtr& edge : edges_) {
      if (edge->out == vertex->key || edge->in == vertex->key) edge->dropped = true;
    }
    return {};
  }
  Status drop(const EdgePtr& edge) override {
    edge->dropped = true;
    return {};
  }
  Status check() override { return {}; }

  size_t hops = 0;       // requests for edges
  size_t hop_edges = 0;  // that were given

 private:
  class Cursor final : public ElementCursor {
   public:
    explicit Cursor(std::vector<Value> found) : found_(std::move(found)) {}
    Result<std::vector<Value>> next(size_t want) override {
      const size_t count = std::min(want, found_.size() - at_);
      std::vector<Value> some(found_.begin() + static_cast<std::ptrdiff_t>(at_),
                              found_.begin() + static_cast<std::ptrdiff_t>(at_ + count));
      at_ += count;
      return some;
    }

   private:
    std::vector<Value> found_;
    size_t at_ = 0;
  };

  class Edges final : public HopCursor {
   public:
    Edges(std::vector<HopEdge> found, size_t& given) : found_(std::move(found)), given_(given) {}
    Result<std::vector<HopEdge>> next(size_t want) override {
      const size_t count = std::min(want, found_.size() - at_);
      std::vector<HopEdge> some(found_.begin() + static_cast<std::ptrdiff_t>(at_),
                                found_.begin() + static_cast<std::ptrdiff_t>(at_ + count));
      at_ += count;
      given_ += count;
      return some;
    }

   private:
    std::vector<HopEdge> found_;
    size_t& given_;
    size_t at_ = 0;
  };

  static bool is_asked(const ElementFilter& filter, const std::string& id) {
    return !filter.by_id || std::ranges::any_of(filter.ids, [&](const Value& one) {
      return (one.is_list() ? one.elements()[1] : one).print() == id;
    });
  }

  std::vector<VertexPtr> vertices_;
  std::vector<EdgePtr> edges_;
};

}  // namespace orrery::gremlin
