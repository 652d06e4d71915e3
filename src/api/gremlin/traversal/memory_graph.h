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
  Result<std::vector<std::vector<EdgePtr>>> edges_of(
      std::span<const VertexPtr> vertices, Way way,
      const std::vector<std::string>& labels) override {
    ++hops;
    std::vector<std::vector<EdgePtr>> found;
    for (const VertexPtr& vertex : vertices) {
      auto& mine = found.emplace_back();
      for (const bool out : {true, false}) {
        if (way == (out ? Way::in : Way::out)) continue;
        for (const EdgePtr& edge : edges_) {
          const bool has_label =
              labels.empty() || std::ranges::find(labels, edge->label) != labels.end();
          if (!edge->dropped && has_label && (out ? edge->out : edge->in) == vertex->key) {
            mine.push_back(edge);
          }
        }
      }
    }
    return found;
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

  size_t hops = 0;  // requests for edges

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

  static bool is_asked(const ElementFilter& filter, const std::string& id) {
    return !filter.by_id || std::ranges::any_of(filter.ids, [&](const Value& one) {
      return (one.is_list() ? one.elements()[1] : one).print() == id;
    });
  }

  std::vector<VertexPtr> vertices_;
  std::vector<EdgePtr> edges_;
};

}  // namespace orrery::gremlin
