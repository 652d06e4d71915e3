// See known_graph.h.
#include "api/gremlin/graph/known_graph.h"

#include <algorithm>
#include <cstddef>
#include <thread>

#include "api/gremlin/graph/item.h"
#include "api/gremlin/graph/item_reader.h"
#include "base/survive.h"
#include "partition/format.h"
#include "partition/removal_log.h"
#include "prices/request_units.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

// Of one partition: beyond that all that is known of it is dropped.
constexpr size_t kChangesMax = 65'536;
constexpr size_t kChangedBytesMax = 64ULL << 20;
// Changes that are told apart; a power of two. What is read while a change with the same place here
// is taken in is not kept.
constexpr size_t kPlacesOfChanges = 16'384;
// Placements whose misses are told apart; a power of two. Two that share a place are read as a
// whole once between them.
constexpr size_t kPlacesOfMisses = 65'536;
constexpr uint8_t kMissesOfScan = 2;
constexpr int kTriesToFollow = 8;
// With its place in the maps and vectors.
constexpr size_t kVertexBytes = 320;
// Of EdgeEnds, for each list that names the edge.
constexpr size_t kEndBytes = 24;

size_t memory_of(const KnownGraph::Known& known) {
  return known.vertex ? 2 * known.json_bytes + 256 : 0;
}

}  // namespace

ReadCost ReadCost::of_item(size_t json_bytes) {
  return {.items = 1, .bytes = prices::charged_bytes(json_bytes), .returned = json_bytes};
}

KnownGraph::KnownGraph(std::atomic<size_t>& used, size_t bytes_max, cluster::RoutingPtr routing,
                       std::string key_name)
    : used_(used),
      bytes_max_(bytes_max),
      routing_(std::move(routing)),
      key_name_(std::move(key_name)),
      noted_(routing_->slots.size()),
      lsns_(routing_->slots.size()),
      changed_at_(kPlacesOfChanges),
      misses_(kPlacesOfMisses) {}

KnownGraph::~KnownGraph() {
  retire();
}

uint64_t KnownGraph::item_hash(std::string_view placement, std::string_view row) {
  const std::hash<std::string_view> hash;
  return hash(placement) * 0x9E3779B97F4A7C15ULL + hash(row);
}

uint64_t KnownGraph::hash_of(const std::string& id, About about) {
  return (std::hash<std::string_view>()(id) + static_cast<uint64_t>(about)) * 0x9E3779B97F4A7C15ULL;
}

void KnownGraph::note_change(uint64_t hash) {
  changed_at_[hash >> 32 & (kPlacesOfChanges - 1)] = moment_;
}

bool KnownGraph::is_true(uint64_t moment, uint64_t hash) const {
  return !is_retired() && all_changed_at_ <= moment &&
         changed_at_[hash >> 32 & (kPlacesOfChanges - 1)] <= moment;
}

bool KnownGraph::is_behind(size_t part) const {
  // One that is closed does not change.
  const auto partition = routing_->slots[part]->opened();
  return partition != nullptr && partition->lsn() != lsns_[part];
}

std::optional<uint64_t> KnownGraph::current_moment() const {
  const ReadLock lock(mutex_);
  for (size_t part = 0; part < lsns_.size(); ++part) {
    if (is_behind(part)) return std::nullopt;
  }
  return moment_;
}

uint64_t KnownGraph::catch_up() {
  if (const auto moment = current_moment()) return *moment;
  const MutexLock following(following_);
  return *follow(true);
}

std::optional<uint64_t> KnownGraph::try_catch_up() {
  if (const auto moment = current_moment()) return moment;
  // Others hold it for microseconds, unless they read.
  for (int tries = 1; !following_.try_lock(); ++tries) {
    if (tries == kTriesToFollow) return std::nullopt;
    std::this_thread::yield();
  }
  const MutexLock following(following_, std::adopt_lock);
  return follow(false);
}

std::optional<uint64_t> KnownGraph::follow(bool reads) {
  std::vector<std::pair<size_t, uint64_t>> behind;
  {
    const ReadLock lock(mutex_);
    for (size_t part = 0; part < lsns_.size(); ++part) {
      if (is_behind(part)) behind.emplace_back(part, lsns_[part]);
    }
    if (behind.empty()) return moment_;
  }
  bool has_all = true;
  std::vector<News> all;
  for (const auto& [part, from] : behind) {
    const auto partition = routing_->slots[part]->opened();
    if (partition == nullptr) continue;
    const uint64_t now = partition->lsn();
    if (auto noted = noted_.take(part, from, now)) {
      all.push_back({.part = part, .lsn = now, .changes = std::move(noted)});
    } else if (reads) {
      feeds_read_.fetch_add(1, std::memory_order_relaxed);
      all.push_back(read_news(part, *partition, from));
    } else {
      has_all = false;
    }
  }
  const WriteLock lock(mutex_);
  ++moment_;
  for (const News& news : all) take_in(news);
  evict();
  return has_all ? std::optional(moment_) : std::nullopt;
}

void KnownGraph::keep_up() {
  if (noted_.changes() < keeps_up_at_.load(std::memory_order_relaxed)) return;
  try_catch_up();
  // What is left waits for somebody who reads.
  keeps_up_at_.store(std::max(kKeptUpWith, 2 * noted_.changes()), std::memory_order_relaxed);
}

void KnownGraph::note_stored(uint32_t range, std::vector<StoredNotes::Stored> transaction) {
  if (is_retired() || transaction.empty()) return;
  const cluster::Slot* slot = routing_->slot_of(transaction.front().change.placement).get();
  // After a split it is another partition.
  if (slot->range.id != range) return;
  const auto at =
      std::ranges::find(routing_->slots, slot, [](const auto& one) { return one.get(); });
  noted_.add(static_cast<size_t>(at - routing_->slots.begin()), std::move(transaction));
}

KnownGraph::News KnownGraph::read_news(size_t part, const partition::Partition& partition,
                                       uint64_t from) const {
  News news{.part = part, .lsn = partition.lsn(), .changes = std::nullopt};
  bool is_empty = false;
  {
    const ReadLock lock(mutex_);
    is_empty = ids_.empty();
  }
  if (is_empty || news.lsn - from > kChangesMax) return news;
  const auto page = partition.changes(
      {.after = from, .items_max = kChangesMax, .bytes_max = kChangedBytesMax}, *routing_->schema);
  // After the changes, so that it has all removals up to the page's LSN.
  const auto removed = partition::removed_since(partition, from);
  if (!page || page->more || !removed) return news;
  news.lsn = page->lsn;
  auto& changes = news.changes.emplace();
  for (const std::string& stored : *removed) {
    if (auto key = partition::parse_item_key(stored)) {
      changes.push_back({std::move(key->placement), std::move(key->row), nullptr});
    }
  }
  for (const partition::Change& change : page->changes) {
    auto document = value::JsonDocument::parse(change.item.body);
    const bool is_edge = document && is_edge_item(document->root());
    changes.push_back({change.key.placement, change.key.row,
                       is_edge ? edge_of(document->root(), {.key_name = key_name_}) : nullptr});
  }
  return news;
}

void KnownGraph::take_in(const News& news) {
  lsns_[news.part] = news.lsn;
  if (!news.changes) return drop_part(news.part);
  for (const StoredNotes::Change& change : *news.changes) {
    drop_item(change.placement, change.row);
    if (!change.edge) continue;
    note_change(hash_of(change.edge->out.id, About::outgoing));
    note_change(hash_of(change.edge->in.id, About::incoming));
    if (const Number out = find_number(change.edge->out); out != kNone) add_edge(out, true, change);
    if (const Number in = find_number(change.edge->in); in != kNone) add_edge(in, false, change);
  }
}

void KnownGraph::add_edge(Number of, bool is_out, const StoredNotes::Change& change) {
  bool added = false;
  survive("a neighbour", [&]() ORRERY_HELD_BY_CALLER { added = try_add_edge(of, is_out, change); });
  if (!added) drop_list(of, is_out);
}

bool KnownGraph::try_add_edge(Number of, bool is_out, const StoredNotes::Change& change) {
  const ListPtr before = side(is_out)[of];
  if (!before || change.new_bytes == 0) return false;
  if (before->is_too_long) return true;
  if (before->edges.size() == kListMax) return false;
  const uint64_t hash = item_hash(change.placement, change.row);
  EdgeEnds::Ends ends = ends_.find(hash);
  Number& end = is_out ? ends.out : ends.in;
  if (end != kNone) return false;
  end = of;

  auto list = std::make_shared<List>(*before);
  const uint32_t label = label_number(change.edge->label);
  auto stretch = std::ranges::find(list->labels, label, &Stretch::label);
  if (stretch == list->labels.end()) {
    const auto at = static_cast<uint32_t>(list->others.size());
    stretch = list->labels.insert(stretch, {label, at, at});
  }
  const auto at = static_cast<std::ptrdiff_t>(stretch->to);
  list->others.insert(list->others.begin() + at,
                      make_number(is_out ? change.edge->in : change.edge->out));
  list->edges.insert(list->edges.begin() + at, hash);
  ++stretch->to;
  for (++stretch; stretch != list->labels.end(); ++stretch) ++stretch->from, ++stretch->to;
  list->cost += ReadCost::of_item(change.new_bytes);
  ++list->cost.entries;

  ends_.set(hash, ends);
  grow(list->memory() - before->memory() + kEndBytes);
  side(is_out)[of] = std::move(list);
  return true;
}

void KnownGraph::drop_item(std::string_view placement, const std::string& row) {
  const uint64_t hash = item_hash(placement, row);
  note_change(hash);
  note_change(hash_of(row, About::vertex));
  const EdgeEnds::Ends ends = ends_.find(hash);
  if (ends.out != kNone) drop_list(ends.out, true);
  if (ends.in != kNone) drop_list(ends.in, false);
  if (const auto id = ids_.find(row); id != ids_.end()) {
    id->second.is_complete = false;
    for (Number at = id->second.first; at != kNone; at = same_id_[at]) drop_vertex(at);
  }
}

void KnownGraph::drop_part(size_t part) {
  all_changed_at_ = moment_;
  for (auto& [id, entry] : ids_) entry.is_complete = false;
  for (Number at = 0; at < keys_.size(); ++at) {
    drop_list(at, false);  // incoming edges lie anywhere
    if (parts_[at] != part) continue;
    drop_list(at, true);
    drop_vertex(at);
  }
}

void KnownGraph::drop_list(Number of, bool is_out) {
  const ListPtr list = std::exchange(side(is_out)[of], nullptr);
  if (!list) return;
  unregister(of, is_out, *list, list->edges.size());
  shrink(list->memory() + list->edges.size() * kEndBytes);
}

void KnownGraph::unregister(Number of, bool is_out, const List& list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    EdgeEnds::Ends ends = ends_.find(list.edges[i]);
    Number& end = is_out ? ends.out : ends.in;
    if (end != of) continue;
    end = kNone;
    ends_.set(list.edges[i], ends);
  }
}

void KnownGraph::drop_vertex(Number vertex) {
  shrink(memory_of(known_[vertex]));
  known_[vertex] = {};
}

std::vector<KnownGraph::Number> KnownGraph::numbers(std::span<const ElementKey> keys) {
  std::vector<Number> made(keys.size(), kNone);
  bool all = true;
  {
    const ReadLock lock(mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
      made[i] = find_number(keys[i]);
      all = all && made[i] != kNone;
    }
  }
  if (all) return made;
  const WriteLock lock(mutex_);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (made[i] == kNone) made[i] = make_number(keys[i]);
  }
  return made;
}

std::vector<ElementKey> KnownGraph::keys(std::span<const Number> numbers) const {
  std::vector<ElementKey> made;
  made.reserve(numbers.size());
  const ReadLock lock(mutex_);
  for (const Number number : numbers) made.push_back(keys_[number]);
  return made;
}

std::vector<uint32_t> KnownGraph::labels(std::span<const std::string> names) const {
  std::vector<uint32_t> made;
  const ReadLock lock(mutex_);
  for (const std::string& name : names) {
    if (const auto found = labels_.find(name); found != labels_.end())
      made.push_back(found->second);
  }
  return made;
}

std::vector<KnownGraph::ListPtr> KnownGraph::lists(std::span<const Number> vertices, bool is_out) {
  std::vector<ListPtr> found;
  found.reserve(vertices.size());
  const ReadLock lock(mutex_);
  for (const Number vertex : vertices) {
    mark_used(vertex);
    found.push_back(side(is_out)[vertex]);
  }
  return found;
}

KnownGraph::ListPtr KnownGraph::put_list(uint64_t moment, Number of, bool is_out,
                                         std::vector<FoundEdge> edges, const ReadCost& cost) {
  std::ranges::sort(edges, [](const FoundEdge& a, const FoundEdge& b) {
    const int by_label = a.label.compare(b.label);
    return by_label != 0 ? by_label < 0 : a.age < b.age;
  });
  auto list = std::make_shared<List>();
  list->cost = cost;
  list->others.reserve(edges.size());
  list->edges.reserve(edges.size());
  const WriteLock lock(mutex_);
  const std::string* last = nullptr;
  for (const FoundEdge& edge : edges) {
    const auto at = static_cast<uint32_t>(list->others.size());
    if (last == nullptr || *last != edge.label) {
      list->labels.push_back({label_number(edge.label), at, at});
    }
    last = &edge.label;
    ++list->labels.back().to;
    list->others.push_back(make_number(edge.other));
    list->edges.push_back(edge.edge);
  }
  const bool stays =
      is_true(moment, hash_of(keys_[of].id, is_out ? About::outgoing : About::incoming)) &&
      std::ranges::all_of(
          list->edges, [&](uint64_t edge) ORRERY_HELD_BY_CALLER { return is_true(moment, edge); });
  if (stays) keep_list(of, is_out, list);
  evict();
  return list;
}

// Not when two edges have the same hash: a change of one could not be told from one of the other.
bool KnownGraph::keep_list(Number of, bool is_out, ListPtr list) {
  drop_list(of, is_out);
  for (size_t done = 0; done < list->edges.size(); ++done) {
    EdgeEnds::Ends ends = ends_.find(list->edges[done]);
    Number& end = is_out ? ends.out : ends.in;
    if (end != kNone) {
      unregister(of, is_out, *list, done);
      return false;
    }
    end = of;
    ends_.set(list->edges[done], ends);
  }
  grow(list->memory() + list->edges.size() * kEndBytes);
  side(is_out)[of] = std::move(list);
  return true;
}

void KnownGraph::put_too_long(uint64_t moment, Number of, bool is_out) {
  auto list = std::make_shared<List>();
  list->is_too_long = true;
  const WriteLock lock(mutex_);
  if (is_true(moment, hash_of(keys_[of].id, is_out ? About::outgoing : About::incoming))) {
    keep_list(of, is_out, std::move(list));
  }
}

void KnownGraph::put_vertices(uint64_t moment, std::span<const std::pair<Number, Known>> read) {
  const WriteLock lock(mutex_);
  for (const auto& [number, known] : read) {
    if (known_[number].is_known && !known.vertex) continue;
    if (!is_true(moment, hash_of(keys_[number].id, About::vertex))) continue;
    drop_vertex(number);
    known_[number] = known;
    grow(memory_of(known));
  }
  evict();
}

bool KnownGraph::is_worth_a_scan(std::string_view placement) {
  const uint64_t hash = std::hash<std::string_view>()(placement);
  const WriteLock lock(mutex_);
  if (is_retired()) return false;  // it would be for one traversal
  uint8_t& misses = misses_[hash & (kPlacesOfMisses - 1)];
  if (misses > kMissesOfScan) return false;
  return ++misses > kMissesOfScan;
}

std::optional<KnownGraph::FoundById> KnownGraph::find_id(const std::string& id) {
  const ReadLock lock(mutex_);
  const auto entry = ids_.find(id);
  if (entry == ids_.end() || !entry->second.is_complete) return std::nullopt;
  FoundById found{.keys = {}, .numbers = {}, .vertices = {}, .cost = entry->second.cost};
  bool are_decoded = true;
  for (Number at = entry->second.first; at != kNone; at = same_id_[at]) {
    const Known& known = known_[at];
    mark_used(at);
    if (known.is_known && !known.exists) continue;
    are_decoded = are_decoded && known.vertex != nullptr;
    found.keys.push_back(keys_[at]);
    found.numbers.push_back(at);
    found.vertices.push_back(known.vertex);
  }
  if (!are_decoded) found.vertices.clear();
  return found;
}

void KnownGraph::put_id(uint64_t moment, const std::string& id, std::span<const ElementKey> keys,
                        const ReadCost& cost) {
  const WriteLock lock(mutex_);
  if (keys.empty() || !is_true(moment, hash_of(id, About::vertex))) return;
  for (const ElementKey& key : keys) make_number(key);
  Id& entry = ids_.find(id)->second;
  for (Number at = entry.first; at != kNone; at = same_id_[at]) {
    if (std::ranges::find(keys, keys_[at]) != keys.end()) continue;
    drop_vertex(at);
    known_[at].is_known = true;  // edges name it, and it is not there
  }
  entry.is_complete = true;
  entry.cost = cost;
  evict();
}

KnownGraph::Number KnownGraph::find_number(const ElementKey& key) const {
  const auto id = ids_.find(key.id);
  if (id == ids_.end()) return kNone;
  Number at = id->second.first;
  while (at != kNone && !(keys_[at].partition == key.partition)) at = same_id_[at];
  return at;
}

KnownGraph::Number KnownGraph::make_number(const ElementKey& key) {
  if (const Number there = find_number(key); there != kNone) return there;
  const auto number = static_cast<Number>(keys_.size());
  keys_.push_back(key);
  Id& id = ids_[keys_.back().id];
  same_id_.push_back(id.first);
  id.first = number;
  id.is_complete = false;
  size_t part = 0;
  if (routing_->slots.size() > 1) {
    part = static_cast<size_t>(&routing_->slot_of(place_of(*routing_, key.partition)) -
                               routing_->slots.data());
  }
  parts_.push_back(static_cast<uint32_t>(part));
  known_.emplace_back();
  out_.emplace_back();
  in_.emplace_back();
  is_used_.push_back(1);
  grow(kVertexBytes + key.id.size());
  return number;
}

uint32_t KnownGraph::label_number(const std::string& name) {
  const auto number = static_cast<uint32_t>(labels_.size());
  const auto [at, is_new] = labels_.try_emplace(name, number);
  if (is_new) grow(128 + name.size());
  return at->second;
}

void KnownGraph::grow(size_t bytes) {
  if (is_retired()) return;
  bytes_ += bytes;
  used_ += bytes;
}

void KnownGraph::shrink(size_t bytes) {
  if (is_retired()) return;
  bytes_ -= bytes;
  used_ -= bytes;
}

// What was not used since the last time goes. When that is little, what was decoded goes as well,
// which is most of it and read again soonest; and then all: another sweep would follow soon.
// Numbers go with all of it only.
void KnownGraph::evict() {
  if (used_ <= bytes_max_ || is_retired()) return;
  const size_t enough = bytes_max_ / 4 * 3;
  for (Number at = 0; at < keys_.size(); ++at) {
    if (std::exchange(is_used_[at], 0) != 0) continue;
    drop_list(at, true);
    drop_list(at, false);
    drop_vertex(at);
  }
  for (Number at = 0; at < keys_.size() && used_ > enough; ++at) {
    shrink(memory_of(known_[at]));
    known_[at].vertex.reset();
  }
  if (used_ > enough) drop_all();
}

void KnownGraph::retire() {
  const WriteLock lock(mutex_);
  drop_all();
}

void KnownGraph::drop_all() {
  if (is_retired()) return;
  for (Number at = 0; at < keys_.size(); ++at) {
    out_[at].reset();
    in_[at].reset();
    known_[at] = {};
  }
  ends_.clear();
  shrink(bytes_);
  is_retired_.store(true, std::memory_order_release);
}

}  // namespace orrery::gremlin
