// See neighbour_cache.h.
#include "api/gremlin/graph/neighbour_cache.h"

#include <algorithm>
#include <utility>

#include "api/gremlin/graph/item.h"
#include "api/gremlin/graph/item_reader.h"
#include "partition/format.h"
#include "partition/removal_log.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

// Of one partition: beyond that all that is known of it is dropped.
constexpr size_t kChangesMax = 65'536;
constexpr size_t kChangedBytesMax = 64ULL << 20;
// With the nodes of the maps that they are in.
constexpr size_t kNodeBytes = 320;
constexpr size_t kEdgeBytes = sizeof(NeighbourCache::Adjacent) + 56;

}  // namespace

NeighbourCache::~NeighbourCache() {
  clear();
}

uint64_t NeighbourCache::item_hash(std::string_view placement, std::string_view row) {
  const std::hash<std::string_view> hash;
  return hash(placement) * 0x9E3779B97F4A7C15ULL + hash(row);
}

std::optional<NeighbourCache::Moment> NeighbourCache::catch_up(const cluster::RoutingPtr& routing,
                                                               const std::string& key_name) {
  MutexLock lock(mutex_);
  const bool is_followed = !routing->schema->default_life_ms &&
                           std::ranges::all_of(routing->slots, [](const auto& slot) {
                             return slot->here && !slot->gone;
                           });
  if (!is_followed) {
    clear_all();
    return std::nullopt;
  }
  if (!routing_ || routing_->slots != routing->slots) {
    clear_all();
    lsns_.assign(routing->slots.size(), 0);
  }
  routing_ = routing;
  key_name_ = key_name;
  for (size_t part = 0; part < lsns_.size(); ++part) {
    // One that is closed does not change.
    const auto partition = routing->slots[part]->opened();
    if (partition != nullptr && partition->lsn() != lsns_[part]) follow(part, *partition);
  }
  return Moment{generation_, lsns_};
}

void NeighbourCache::follow(size_t part, const partition::Partition& partition) {
  const uint64_t from = lsns_[part];
  const uint64_t now = partition.lsn();
  const auto page =
      ids_.empty() || now - from > kChangesMax
          ? Result<partition::ChangePage>(fail(Code::too_large, ""))
          : partition.changes(
                {.after = from, .items_max = kChangesMax, .bytes_max = kChangedBytesMax},
                *routing_->schema);
  // After the changes, so that it has all removals up to the page's LSN.
  const auto removed = partition::removed_since(partition, from);
  if (!page || page->more || !removed) {
    drop_part(part);
    lsns_[part] = now;
    return;
  }
  lsns_[part] = page->lsn;
  for (const std::string& stored : *removed) {
    if (const auto key = partition::parse_item_key(stored)) drop_item(key->placement, key->row);
  }
  for (const partition::Change& change : page->changes) {
    drop_item(change.key.placement, change.key.row);
    auto document = value::JsonDocument::parse(change.item.body);
    if (!document || !is_edge_item(document->root())) continue;
    const EdgePtr edge = edge_of(document->root(), {.key_name = key_name_});
    if (const NodePtr source = find_node(edge->out)) drop_list(*source, true);
    if (const NodePtr sink = find_node(edge->in)) drop_list(*sink, false);
  }
}

void NeighbourCache::drop_item(std::string_view placement, const std::string& row) {
  if (const auto edge = edges_.find(item_hash(placement, row)); edge != edges_.end()) {
    const Ends ends = edge->second;
    if (ends.out != nullptr) drop_list(*ends.out, true);
    if (ends.in != nullptr) drop_list(*ends.in, false);
  }
  if (const auto id = ids_.find(row); id != ids_.end()) {
    id->second.is_complete = false;
    for (const NodePtr& node : id->second.nodes) drop_vertex(*node);
  }
}

void NeighbourCache::drop_part(size_t part) {
  for (auto& [id, entry] : ids_) {
    entry.is_complete = false;
    for (const NodePtr& node : entry.nodes) {
      drop_list(*node, false);  // incoming edges lie anywhere
      if (node->part != part) continue;
      drop_list(*node, true);
      drop_vertex(*node);
    }
  }
}

void NeighbourCache::drop_list(Node& node, bool is_out) {
  const ListPtr list = std::exchange(is_out ? node.out : node.in, nullptr);
  if (!list) return;
  for (const Adjacent& one : list->edges) {
    const auto edge = edges_.find(one.edge);
    if (edge == edges_.end()) continue;
    (is_out ? edge->second.out : edge->second.in) = nullptr;
    if (edge->second.out == nullptr && edge->second.in == nullptr) edges_.erase(edge);
  }
  shrink(sizeof(List) + list->edges.size() * kEdgeBytes);
}

void NeighbourCache::drop_vertex(Node& node) {
  node.is_read = false;
  node.vertex.reset();
  shrink(std::exchange(node.vertex_bytes, 0));
}

std::vector<NeighbourCache::ListPtr> NeighbourCache::lists(std::span<const VertexPtr> vertices,
                                                           bool is_out) {
  std::vector<ListPtr> found(vertices.size());
  MutexLock lock(mutex_);
  for (size_t i = 0; i < vertices.size(); ++i) {
    const auto id = ids_.find(vertices[i]->key.id);
    if (id == ids_.end()) continue;
    for (const NodePtr& node : id->second.nodes) {
      if (node->vertex != vertices[i] && !(node->key.partition == vertices[i]->key.partition)) {
        continue;
      }
      node->is_used = true;
      found[i] = is_out ? node->out : node->in;
      break;
    }
  }
  return found;
}

NeighbourCache::ListPtr NeighbourCache::put_list(const Moment& moment, const ElementKey& of,
                                                 bool is_out, std::vector<FoundEdge> edges,
                                                 const ReadCost& cost) {
  std::ranges::sort(edges, [](const FoundEdge& a, const FoundEdge& b) {
    const int by_label = a.label.compare(b.label);
    return by_label != 0 ? by_label < 0 : a.age < b.age;
  });
  auto list = std::make_shared<List>();
  list->cost = cost;
  list->edges.reserve(edges.size());
  MutexLock lock(mutex_);
  for (const FoundEdge& edge : edges) {
    const size_t at = list->edges.size();
    if (list->labels.empty() || list->labels.back().label != edge.label) {
      list->labels.push_back({edge.label, at, at});
    }
    ++list->labels.back().to;
    list->edges.push_back({make_node(edge.other), edge.edge});
  }
  const NodePtr node = make_node(of);
  const bool stays = is_out ? is_true(moment, node->part) : is_true(moment);
  if (stays && register_list(*node, is_out, *list)) (is_out ? node->out : node->in) = list;
  evict();
  return list;
}

// Not when two edges have the same hash: a change of one could not be told from one of the other.
bool NeighbourCache::register_list(Node& node, bool is_out, const List& list) {
  drop_list(node, is_out);
  size_t done = 0;
  for (; done < list.edges.size(); ++done) {
    Node*& end = is_out ? edges_[list.edges[done].edge].out : edges_[list.edges[done].edge].in;
    if (end != nullptr) break;
    end = &node;
  }
  grow(sizeof(List) + list.edges.size() * kEdgeBytes);
  if (done == list.edges.size()) return true;
  for (size_t i = 0; i < done; ++i) {
    Ends& ends = edges_[list.edges[i].edge];
    (is_out ? ends.out : ends.in) = nullptr;
  }
  shrink(sizeof(List) + list.edges.size() * kEdgeBytes);
  return false;
}

void NeighbourCache::put_too_long(const Moment& moment, const ElementKey& of, bool is_out) {
  auto list = std::make_shared<List>();
  list->is_too_long = true;
  MutexLock lock(mutex_);
  const NodePtr node = make_node(of);
  if (is_out ? !is_true(moment, node->part) : !is_true(moment)) return;
  if (register_list(*node, is_out, *list)) (is_out ? node->out : node->in) = list;
}

void NeighbourCache::put_vertex(const Moment& moment, Node& node, VertexPtr vertex,
                                const ReadCost& cost, size_t bytes) {
  MutexLock lock(mutex_);
  if (!is_true(moment, node.part)) return;
  drop_vertex(node);
  node.is_read = true;
  node.vertex = std::move(vertex);
  node.cost = cost;
  node.vertex_bytes = bytes;
  grow(bytes);
  evict();
}

std::optional<NeighbourCache::FoundById> NeighbourCache::find_id(const std::string& id) {
  MutexLock lock(mutex_);
  const auto entry = ids_.find(id);
  if (entry == ids_.end() || !entry->second.is_complete) return std::nullopt;
  FoundById found{.keys = {}, .nodes = {}, .vertices = {}, .cost = entry->second.cost};
  bool are_read = true;
  for (const NodePtr& node : entry->second.nodes) {
    node->is_used = true;
    are_read = are_read && node->is_read;
    if (node->is_read && !node->vertex) continue;
    found.keys.push_back(node->key);
    found.nodes.push_back(node.get());
    found.vertices.push_back(node->vertex);
  }
  if (!are_read) found.vertices.clear();
  return found;
}

void NeighbourCache::put_id(const Moment& moment, const std::string& id,
                            std::span<const ElementKey> keys, const ReadCost& cost) {
  MutexLock lock(mutex_);
  if (!is_true(moment)) return;
  if (keys.empty()) return;
  for (const ElementKey& key : keys) make_node(key);
  Id& entry = ids_[id];
  for (const NodePtr& node : entry.nodes) {
    if (std::ranges::find(keys, node->key) != keys.end()) continue;
    drop_vertex(*node);  // edges name it, and it is not there
    node->is_read = true;
    node->cost = {};
  }
  entry.is_complete = true;
  entry.cost = cost;
  evict();
}

NeighbourCache::NodePtr NeighbourCache::node(const ElementKey& key) {
  MutexLock lock(mutex_);
  return make_node(key);
}

NeighbourCache::NodePtr NeighbourCache::find_node(const ElementKey& key) const {
  const auto id = ids_.find(key.id);
  if (id == ids_.end()) return nullptr;
  for (const NodePtr& node : id->second.nodes) {
    if (node->key.partition == key.partition) return node;
  }
  return nullptr;
}

NeighbourCache::NodePtr NeighbourCache::make_node(const ElementKey& key) {
  Id& id = ids_[key.id];
  for (const NodePtr& node : id.nodes) {
    if (node->key.partition == key.partition) return node;
  }
  auto node = std::make_shared<Node>();
  node->key = key;
  node->part = part_of(key);
  id.nodes.push_back(node);
  id.is_complete = false;
  grow(kNodeBytes + 2 * key.id.size());
  return node;
}

size_t NeighbourCache::part_of(const ElementKey& key) const {
  const auto& slot = routing_->slot_of(place_of(*routing_, key.partition));
  return static_cast<size_t>(&slot - routing_->slots.data());
}

bool NeighbourCache::is_true(const Moment& moment, size_t part) const {
  return moment.generation == generation_ && moment.lsns[part] == lsns_[part];
}

bool NeighbourCache::is_true(const Moment& moment) const {
  return moment.generation == generation_ && moment.lsns == lsns_;
}

void NeighbourCache::grow(size_t bytes) {
  bytes_ += bytes;
  used_ += bytes;
}

void NeighbourCache::shrink(size_t bytes) {
  bytes_ -= bytes;
  used_ -= bytes;
}

// What was not used since the last time goes. When that is little, all of it: another sweep would
// follow soon.
void NeighbourCache::evict() {
  if (used_ <= bytes_max_) return;
  for (auto& [id, entry] : ids_) {
    for (const NodePtr& node : entry.nodes) {
      if (std::exchange(node->is_used, false)) continue;
      drop_list(*node, true);
      drop_list(*node, false);
      drop_vertex(*node);
    }
  }
  for (auto at = ids_.begin(); at != ids_.end();) {
    const size_t had = at->second.nodes.size();
    std::erase_if(at->second.nodes, [&](const NodePtr& node) ORRERY_HELD_BY_CALLER {
      if (node.use_count() > 1 || node->is_read || node->out || node->in) return false;
      shrink(kNodeBytes + 2 * node->key.id.size());
      return true;
    });
    if (at->second.nodes.size() != had) at->second.is_complete = false;
    at = at->second.nodes.empty() ? ids_.erase(at) : std::next(at);
  }
  if (used_ > bytes_max_ / 4 * 3) clear_all();
}

void NeighbourCache::clear() {
  MutexLock lock(mutex_);
  clear_all();
}

void NeighbourCache::clear_all() {
  // Lists and nodes refer to one another.
  for (auto& [id, entry] : ids_) {
    for (const NodePtr& node : entry.nodes) {
      node->out.reset();
      node->in.reset();
      node->vertex.reset();
      node->is_read = false;
      node->vertex_bytes = 0;
    }
  }
  ids_.clear();
  edges_.clear();
  ++generation_;
  shrink(bytes_);
}

std::shared_ptr<NeighbourCache> NeighbourCaches::of(uint32_t container) {
  if (bytes_max_ == 0) return nullptr;
  MutexLock lock(mutex_);
  const auto found =
      std::ranges::find(caches_, container, [](const auto& one) { return one.first; });
  if (found == caches_.end()) {
    caches_.emplace_back(container, std::make_shared<NeighbourCache>(used_, bytes_max_));
  } else {
    std::rotate(found, found + 1, caches_.end());
  }
  while (caches_.size() > 1 && (caches_.size() > kGraphsMax || used_ > bytes_max_)) {
    caches_.front().second->clear();
    caches_.erase(caches_.begin());
  }
  return caches_.back().second;
}

}  // namespace orrery::gremlin
