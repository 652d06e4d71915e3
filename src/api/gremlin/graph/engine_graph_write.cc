// Writing. See engine_graph.h.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"

namespace orrery::gremlin {
namespace {

// A transaction of the engine's holds so many; beyond that the traversal is stored in pieces.
constexpr uint64_t kStagedMax = 10'000;
constexpr uint64_t kStagedBytesMax = 16ULL << 20;

}  // namespace

Status EngineGraph::commit() {
  if (staged_.empty()) return {};
  if (!terms_.may_wait) return fail(Code::would_wait, "this is not stored in one transaction");
  if (auto checked = check(); !checked) return checked;
  known_hops_.clear();  // without what is staged
  // The next moment may be of other numbers.
  moment_.reset();
  read_vertices_.clear();
  for (NumberSet* paid : {&paid_out_, &paid_in_, &paid_vertices_}) paid->clear();
  return staged_.commit(commit_terms(), written_);
}

void EngineGraph::commit_later(StagedWrites::Done done) {
  if (auto checked = check(); !checked) return done(std::move(checked));
  reader_.settle();
  staged_.commit_later(commit_terms(), written_, std::move(done));
}

StagedWrites::Terms EngineGraph::commit_terms() {
  return {.engine = terms_.engine,
          .routing = reader_.routing_ptr(),
          .wait =
              [this](uint32_t ms) {
                if (!check()) return false;
                std::this_thread::sleep_for(std::chrono::milliseconds(ms));
                return true;
              },
          .anywhere = terms_.anywhere,
          .known = terms_.cache && terms_.remote == nullptr ? terms_.cache->graph() : nullptr};
}

WriteReport EngineGraph::written() const {
  WriteReport report = written_;
  report.waiting += staged_.count();
  return report;
}

Status EngineGraph::stage(partition::Write write, Value element) {
  if (!reader_.bounds().has(write.placement)) {
    return fail(Code::forbidden,
                "the token of this connection is for one partition key, and the traversal writes "
                "outside it");
  }
  if (auto kept = keep(write.body.size() + 256); !kept) return kept;
  if (auto staged = staged_.put(std::move(write), std::move(element)); !staged) return staged;
  if (staged_.count() < kStagedMax && staged_.bytes() < kStagedBytesMax) return {};
  return commit();
}

Status EngineGraph::stage(partition::Verb verb, const ElementKey& key, const std::string& json,
                          const std::string& version, Value element) {
  if (auto checked = check(); !checked) return checked;
  verb = staged_.verb_for({place(key.partition), key.id}, verb);
  auto made = terms_.items.make_write(verb, json, reader_.routing(), terms_.engine.limits());
  if (!made) return pass(made.error());
  if (verb == partition::Verb::replace && !version.empty()) {
    made->if_version = terms_.items.version_of(version);
  }
  return stage(std::move(*made), std::move(element));
}

Status EngineGraph::stage_removal(const ElementKey& key, Value element) {
  partition::Write gone;
  gone.verb = partition::Verb::remove;
  gone.placement = place(key.partition);
  gone.row = key.id;
  gone.key_text = "[" + key.partition.print() + "]";
  gone.schema = reader_.routing().schema;
  gone.needs_room = false;
  return stage(std::move(gone), std::move(element));
}

Status EngineGraph::add(const VertexPtr& vertex) {
  if (vertex->key.id.empty()) vertex->key.id = new_id();
  for (const auto& property : vertex->properties) {
    const bool is_flat = property->key == form_.key_name || property->key == "ttl";
    if (is_flat) property->id = vertex->key.id + "|" + property->key;
    if (property->id.empty()) property->id = new_id();
    if (property->key == form_.key_name) vertex->key.partition = property->value;
  }
  auto json = item_of(*vertex, form_);
  if (!json) return pass(json.error());
  auto staged = stage(partition::Verb::create, vertex->key, *json, "", Value::of(vertex));
  if (!staged) return staged;
  known_vertices_[vertex->key] = vertex;
  return keep(3 * json->size() + 256);
}

Status EngineGraph::add(const EdgePtr& edge) {
  if (edge->key.id.empty()) edge->key.id = new_id();
  edge->key.partition = edge->out.partition;
  auto json = item_of(*edge, form_);
  if (!json) return pass(json.error());
  auto staged = stage(partition::Verb::create, edge->key, *json, "", Value::of(edge));
  if (!staged) return staged;
  known_edges_[edge->key] = edge;
  return keep(3 * json->size() + 256);
}

Status EngineGraph::save(const VertexPtr& vertex) {
  if (vertex->dropped) return {};
  // What places the vertex cannot be taken from it: V().properties().drop() leaves it.
  if (!vertex->key.partition.is_null() && vertex->find(form_.key_name) == nullptr) {
    auto placing = std::make_shared<VertexProperty>();
    placing->id = vertex->key.id + "|" + form_.key_name;
    placing->key = form_.key_name;
    placing->value = vertex->key.partition;
    placing->owner = vertex;
    vertex->properties.insert(vertex->properties.begin(), std::move(placing));
  }
  for (const auto& property : vertex->properties) {
    if (property->id.empty()) property->id = new_id();
    if (property->key == form_.key_name && !(property->value == vertex->key.partition)) {
      return fail(Code::invalid,
                  fmt::format("the partition key of a vertex cannot be changed: '{}' is {}",
                              form_.key_name, vertex->key.partition.print()));
    }
  }
  auto json = item_of(*vertex, form_);
  if (!json) return pass(json.error());
  return stage(partition::Verb::replace, vertex->key, *json, vertex->version, Value::of(vertex));
}

Status EngineGraph::save(const EdgePtr& edge) {
  if (edge->dropped) return {};
  auto json = item_of(*edge, form_);
  if (!json) return pass(json.error());
  return stage(partition::Verb::replace, edge->key, *json, edge->version, Value::of(edge));
}

Status EngineGraph::drop(const VertexPtr& vertex) {
  if (vertex->dropped) return {};
  auto cursor = edges_of({vertex}, {});
  if (!cursor) return pass(cursor.error());
  auto edges = all_edges(**cursor);
  if (!edges) return pass(edges.error());
  for (const EdgePtr& edge : *edges) {
    if (auto dropped = drop(edge); !dropped) return dropped;
  }
  if (auto removed = stage_removal(vertex->key, Value::of(vertex)); !removed) return removed;
  vertex->dropped = true;
  return {};
}

Status EngineGraph::drop(const EdgePtr& edge) {
  if (edge->dropped) return {};
  if (auto removed = stage_removal(edge->key, Value::of(edge)); !removed) return removed;
  edge->dropped = true;
  return {};
}

}  // namespace orrery::gremlin
