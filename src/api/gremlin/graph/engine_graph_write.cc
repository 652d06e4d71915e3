// Writing. See engine_graph.h.
#include <fmt/format.h>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"
#include "base/await.h"

namespace orrery::gremlin {
namespace {

std::string version_in(std::string_view json) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return {};
  const value::Node* mark = document->root().find("_etag");
  return mark != nullptr ? std::string(mark->text) : "";
}

}  // namespace

Result<std::string> EngineGraph::write(partition::Write one) {
  if (auto checked = check(); !checked) return pass(checked.error());
  std::vector<partition::Write> transaction;
  transaction.push_back(std::move(one));
  auto reply = await<cluster::WriteReply>(
      [&](auto done) { terms_.engine.write(routing_, std::move(transaction), std::move(done)); });
  if (!reply) return pass(reply.error());
  spent_.charge += reply->receipt.charge;
  ++spent_.writes;
  if (reply->error) return pass(*reply->error);
  return std::move(reply->written.front().item.body);
}

Result<std::string> EngineGraph::store(partition::Verb verb, const std::string& json,
                                       const std::string& version) {
  auto made = terms_.items.make_write(verb, json, *routing_, terms_.engine.limits());
  if (!made) return pass(made.error());
  if (!version.empty()) made->if_version = terms_.items.version_of(version);
  return write(std::move(*made));
}

Status EngineGraph::remove(const ElementKey& key, const std::string& version) {
  partition::Write gone;
  gone.verb = partition::Verb::remove;
  gone.placement = place(key.partition);
  gone.row = key.id;
  gone.key_text = "[" + key.partition.print() + "]";
  gone.schema = routing_->schema;
  gone.needs_room = false;
  if (!version.empty()) gone.if_version = terms_.items.version_of(version);
  auto written = write(std::move(gone));
  if (!written && written.error().code == Code::not_found) return {};  // somebody else was faster
  if (!written) return pass(written.error());
  return {};
}

Status EngineGraph::add(const VertexPtr& vertex) {
  if (vertex->key.id.empty()) vertex->key.id = new_id();
  for (const auto& property : vertex->properties) {
    const bool is_flat = property->key == key_name_ || property->key == "ttl";
    if (is_flat) property->id = vertex->key.id + "|" + property->key;
    if (property->id.empty()) property->id = new_id();
    if (property->key == key_name_) vertex->key.partition = property->value;
  }
  auto json = item_of(*vertex, key_name_);
  if (!json) return pass(json.error());
  auto stored = store(partition::Verb::create, *json, "");
  if (!stored) return pass(stored.error());
  vertex->version = version_in(*stored);
  known_vertices_[vertex->key] = vertex;
  return keep(3 * stored->size() + 256);
}

Status EngineGraph::add(const EdgePtr& edge) {
  if (edge->key.id.empty()) edge->key.id = new_id();
  edge->key.partition = edge->out.partition;
  auto json = item_of(*edge, key_name_);
  if (!json) return pass(json.error());
  auto stored = store(partition::Verb::create, *json, "");
  if (!stored) return pass(stored.error());
  edge->version = version_in(*stored);
  known_edges_[edge->key] = edge;
  return keep(3 * stored->size() + 256);
}

Status EngineGraph::save(const VertexPtr& vertex) {
  if (vertex->dropped) return {};
  // What places the vertex cannot be taken from it: V().properties().drop() leaves it.
  if (!vertex->key.partition.is_null() && vertex->find(key_name_) == nullptr) {
    auto placing = std::make_shared<VertexProperty>();
    placing->id = vertex->key.id + "|" + key_name_;
    placing->key = key_name_;
    placing->value = vertex->key.partition;
    placing->owner = vertex;
    vertex->properties.insert(vertex->properties.begin(), std::move(placing));
  }
  for (const auto& property : vertex->properties) {
    if (property->id.empty()) property->id = new_id();
    if (property->key == key_name_ && !(property->value == vertex->key.partition)) {
      return fail(Code::invalid,
                  fmt::format("the partition key of a vertex cannot be changed: '{}' is {}",
                              key_name_, vertex->key.partition.print()));
    }
  }
  auto json = item_of(*vertex, key_name_);
  if (!json) return pass(json.error());
  auto stored = store(partition::Verb::replace, *json, vertex->version);
  if (!stored) return pass(stored.error());
  vertex->version = version_in(*stored);
  return {};
}

Status EngineGraph::save(const EdgePtr& edge) {
  if (edge->dropped) return {};
  auto json = item_of(*edge, key_name_);
  if (!json) return pass(json.error());
  auto stored = store(partition::Verb::replace, *json, edge->version);
  if (!stored) return pass(stored.error());
  edge->version = version_in(*stored);
  return {};
}

Status EngineGraph::drop(const VertexPtr& vertex) {
  if (vertex->dropped) return {};
  const VertexPtr one[] = {vertex};
  auto edges = edges_of(one, Way::both, {});
  if (!edges) return pass(edges.error());
  for (const EdgePtr& edge : edges->front()) {
    if (auto dropped = drop(edge); !dropped) return dropped;
  }
  if (auto removed = remove(vertex->key, ""); !removed) return removed;
  vertex->dropped = true;
  return {};
}

Status EngineGraph::drop(const EdgePtr& edge) {
  if (edge->dropped) return {};
  if (auto removed = remove(edge->key, ""); !removed) return removed;
  edge->dropped = true;
  return {};
}

}  // namespace orrery::gremlin
