// Splitting partitions: on demand, when one is full, and until the throughput asked for is served.
// What happens inside a partition is told in src/partition/split.cc; here the map changes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/await.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"
#include "cluster/engine.h"
#include "cluster/throughput.h"

namespace orrery::cluster {

namespace {

constexpr int64_t kSplitAgainUs = 1'000'000;
constexpr int64_t kScaleAgainUs = 10'000'000;

// A child begins with what of its parent's sample is its own.
void adopt_load(const Routing& before, Slot& child) {
  const std::shared_ptr<Slot>& parent = before.slot_of(child.range.min);
  if (parent->load) child.load->adopt(*parent->load, child.range.min, child.range.max);
}

}  // namespace

using partition::CutBy;
using partition::Partition;

void Engine::split_if_full(const Routing& routing, const std::shared_ptr<Slot>& slot) {
  if (slot->bytes.load(std::memory_order_relaxed) < limits().physical_partition_bytes) return;
  // While stopping a pool runs jobs in the caller: that may be the writer, which a split waits for.
  if (stopping_ || !may_split_by_itself(*routing.container, limits())) return;
  if (clock_.steady_us() < slot->split_not_before_us.load(std::memory_order_relaxed)) return;
  if (slot->split_wanted.exchange(true)) return;
  OnEnd failed([this, slot] {
    slot->split_not_before_us = clock_.steady_us() + kSplitAgainUs;
    slot->split_wanted = false;
  });
  splitter_.post(
      [this, number = routing.container->number, slot, failed = std::move(failed)]() mutable {
        if (stopping_ || split_slot(number, slot->range.id, CutBy::bytes)) failed.release();
      });
}

void Engine::scale_if_loaded(const Routing& routing, Slot& slot) {
  // A sample that is full, so that both halves have enough of it to be cut in their turn.
  if (stopping_ || slot.load->size() < LoadSample::kMax) return;
  const int64_t now_us = clock_.steady_us();
  int64_t not_before_us = slot.scale_not_before_us.load(std::memory_order_relaxed);
  if (now_us < not_before_us) return;
  // Once for each attempt, whichever writer comes first.
  if (!slot.scale_not_before_us.compare_exchange_strong(not_before_us, now_us + kScaleAgainUs)) {
    return;
  }
  scale(routing.container->number);
}

catalog::PartitionMap Engine::split_map(const catalog::Container& container, uint32_t range,
                                        const std::string& cut, const std::string& attempt) {
  catalog::PartitionMap next = *container.map;
  ++next.version;
  auto parent = std::ranges::find(next.ranges, range, &catalog::PartitionRange::id);
  if (parent == next.ranges.end()) return next;
  catalog::PartitionRange left = *parent;
  left.parents.push_back(range);
  catalog::PartitionRange right = left;
  left.max = cut;
  right.min = cut;
  for (catalog::PartitionRange* child : {&left, &right}) {
    child->id = next.next_id++;
    child->volume_name = fmt::format("c{}-p{}{}", container.number, child->id, attempt);
  }
  *parent = std::move(left);
  next.ranges.insert(parent + 1, std::move(right));
  return next;
}

Result<SplitReport> Engine::split(uint32_t container, std::optional<uint32_t> range) {
  auto report = await<Result<SplitReport>>(
      [&](auto done) { split_later({.container = container, .range = range}, std::move(done)); });
  return report ? std::move(*report) : pass(report.error());
}

void Engine::split_later(SplitRequest request,
                         std::move_only_function<void(Result<SplitReport>)> done) {
  if (splits_waiting_.fetch_add(1) >= kSplitsWaitingMax) {
    splits_waiting_.fetch_sub(1);
    return done(std::unexpected(
        Error{.code = Code::overloaded,
              .message = fmt::format("{} splits are waiting already, and they are done one after "
                                     "the other: try again",
                                     kSplitsWaitingMax),
              .retry_after_ms = 1000}));
  }
  OnEnd waited([this] { splits_waiting_.fetch_sub(1); });
  // On the splitter's thread, so that splits never overlap.
  splitter_.post([this, request = std::move(request), waited = std::move(waited),
                  done = std::move(done)]() mutable {
    if (stopping_) return done(fail(Code::overloaded, "the server is stopping"));
    if (request.is_wanted && !request.is_wanted()) {
      return done(fail(Code::overloaded, "nobody waits for this split any more"));
    }
    const uint32_t container = request.container;
    std::optional<uint32_t> chosen = request.range;
    RoutingPtr routing = find(container);
    if (!chosen && routing) {
      uint64_t most = 0;
      for (const auto& slot : routing->slots) {
        auto opened = open_if_there(slot);
        const uint64_t bytes = opened && *opened ? (*opened)->usage().bytes : 0;
        if (!chosen || bytes > most) {
          chosen = slot->range.id;
          most = bytes;
        }
      }
    }
    done(split_slot(container, chosen.value_or(0), CutBy::bytes));
  });
}

// A partition that was never written to has no files: only the map changes.
Result<std::optional<SplitReport>> Engine::split_empty(const RoutingPtr& routing, Slot& slot) {
  MutexLock change(table_.change_mutex);
  MutexLock opening(slot.open_mutex);
  if (slot.opened() || volume_.exists(slot.range.volume_name)) return std::nullopt;
  auto noted = catalog_->has_files(slot.range);
  if (!noted) return pass(noted.error());
  if (*noted) return std::nullopt;  // they are lost, which opening it tells
  const value::Placement placement = routing->container->spec.key.placement;
  const std::string cut = value::middle_of(placement, slot.range.min, slot.range.max);
  if (cut.empty()) {
    return fail(Code::conflict, placement == value::Placement::range
                                    ? "the partition is empty: ranges of keys in order have no "
                                      "middle before there are keys"
                                    : "the partition's range is too small to be split");
  }
  const uint32_t number = routing->container->number;
  const catalog::ContainerPtr record = catalog_->container(number);
  if (!record) return fail(Code::not_found, "the container is not there");
  const uint32_t next_id = record->map->next_id;
  const SplitReport report{.parent = slot.range.id, .left = next_id, .right = next_id + 1};
  auto updated = catalog_->replace_map(number, split_map(*record, slot.range.id, cut, ""),
                                       catalog::Catalog::NewRanges::without_files);
  if (!updated) return pass(updated.error());
  table_.rebuild(number);
  slot.gone = true;  // after the new map is there to be found; until then it cannot be opened
  return report;
}

// Makes a new map durable and routes to the children from then on; returns their slots.
//
// When the disk fails under the catalog's commit, nobody knows which map a restart would find. So
// the parent may then neither go on (its writes would be lost under the new map) nor give up its
// files or the children's: writes wait while the commit is tried again, which settles it either
// way. Should the server be stopped before that, nothing is returned, and everything stays in
// place for whichever map is there at the next start.
Result<std::vector<std::shared_ptr<Slot>>> Engine::store_map(uint32_t number,
                                                             const catalog::PartitionMap& map,
                                                             const Partition::Children& made) {
  for (bool first = true;; first = false) {
    Result<std::vector<std::shared_ptr<Slot>>> children;
    // Memory that runs out in the middle leaves the same doubt.
    const bool known = survive("storing a partition map", [&] {
      MutexLock change(table_.change_mutex);
      auto updated = catalog_->replace_map(number, map, catalog::Catalog::NewRanges::with_files);
      if (!updated) {
        children = pass(updated.error());
        return;
      }
      if (auto injected = fault::point("split.published"); !injected) {
        log::warn("fault after a split was published", {{"error", injected.error().message}});
      }
      children = route_to_children(*updated, made);
    });
    if (known && children) return children;
    if (known) {
      const Code code = children.error().code;
      if (code != Code::read_only && code != Code::corrupt && code != Code::overloaded) {
        return children;
      }
      if (first) {
        log::error("a split waits until the catalog takes writes again",
                   {{"container", number}, {"error", children.error().message}});
      }
    }
    if (stopping_) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::vector<std::shared_ptr<Slot>> Engine::route_to_children(const catalog::ContainerPtr& container,
                                                             const Partition::Children& made) {
  const RoutingPtr before = find(container->number);
  const RoutingPtr after = table_.make(container, before.get());
  std::vector<std::shared_ptr<Slot>> children;
  for (const auto& slot : after->slots) {
    for (const auto& child : {made.first, made.second}) {
      if (slot->range.id != child->identity().range) continue;
      slot->bytes = child->usage().bytes;
      if (slot->load) adopt_load(*before, *slot);
      slot->last_used_us = clock_.steady_us();
      MutexLock lock(slot->mutex);
      slot->partition = child;
      children.push_back(slot);
    }
  }
  table_.install(after);
  // Before the parent lets go of the writes that wait: whoever has one acknowledged by a child must
  // not read from the parent afterwards, with an old routing either.
  for (const auto& slot : before->slots) {
    if (std::ranges::find(after->slots, slot) != after->slots.end()) continue;
    slot->close_for_good();
  }
  return children;
}

// From here on the clones are to be removed, whatever happens, unless they are published.
Status Engine::intend_split(const Slot& slot, const Partition& parent,
                            const std::vector<std::string>& clones) {
  for (const std::string& name : clones) {
    if (!volume_.exists(name)) continue;
    return fail(Code::conflict,
                fmt::format("there are files in {}, which is where a clone was to be made: move "
                            "them away",
                            volume_.place(name)));
  }
  if (auto intended = catalog_->intend_split(slot.range, parent.epoch(), clones); !intended) {
    return intended;
  }
  Status injected = fault::point("split.intended");
  if (injected) return {};
  for (const std::string& name : clones) retire(nullptr, name);
  return injected;
}

Result<std::shared_ptr<Slot>> Engine::slot_to_split(const Routing& routing, uint32_t range) {
  const std::string& name = routing.container->spec.name;
  for (const auto& slot : routing.slots) {
    if (slot->range.id != range) continue;
    if (!routing.container->spec.key.paths.empty()) return slot;
    return fail(Code::conflict,
                fmt::format("container '{}' has no partition key, so all of it is one logical "
                            "partition, which cannot be split",
                            name));
  }
  return fail(Code::not_found, fmt::format("container '{}' has no range {}", name, range));
}

void Engine::settle_split(const Routing& routing, const std::string& parent_volume_name,
                          std::shared_ptr<Partition> parent,
                          const std::vector<std::shared_ptr<Slot>>& children) {
  persist("retiring a partition", [&] { retire(parent, parent_volume_name); });
  parent.reset();
  for (const auto& child : children) {
    trim_later(child);
    split_if_full(routing, child);  // it may have been far over the limit
  }
}

Result<SplitReport> Engine::split_slot(uint32_t number, uint32_t range, CutBy by) {
  const int64_t started_us = clock_.steady_us();
  RoutingPtr routing = find(number);
  if (!routing) return fail(Code::not_found, "the container is not there");
  auto found = slot_to_split(*routing, range);
  if (!found) return pass(found.error());
  const std::shared_ptr<Slot> slot = std::move(*found);
  auto empty = split_empty(routing, *slot);
  if (!empty) return pass(empty.error());
  if (*empty) return **empty;
  auto opened = open_slot(slot);
  if (!opened) return pass(opened.error());
  std::shared_ptr<Partition> parent = std::move(*opened);
  const value::KeyDefinition& keys = routing->container->spec.key;
  const std::string key =
      slot->load ? (by == CutBy::load ? slot->load->half() : slot->load->growth()) : "";
  if (by == CutBy::load && key.empty()) by = CutBy::bytes;
  auto cut = parent->begin_split(
      keys, value::middle_of(keys.placement, slot->range.min, slot->range.max), by, key);
  if (!cut) {
    trim_later(slot);  // it gave way to this split
    return pass(cut.error());
  }

  SplitReport report{.parent = range};
  const catalog::PartitionMap next =
      split_map(*routing->container, range, cut->at,
                fmt::format("-e{}-{}", parent->epoch(), parent->next_split_attempt()));
  auto child = [&](uint32_t id) -> const catalog::PartitionRange& {
    return *std::ranges::find(next.ranges, id, &catalog::PartitionRange::id);
  };
  report.left = routing->container->map->next_id;
  report.right = report.left + 1;
  const std::vector<std::string> clones = {child(report.left).volume_name,
                                           child(report.right).volume_name};
  if (auto intended = intend_split(*slot, *parent, clones); !intended) {
    parent->abandon_split();
    trim_later(slot);
    return pass(intended.error());
  }
  std::vector<std::shared_ptr<Slot>> children;
  bool in_doubt = false;
  auto publish = [&](const Partition::Children& made) -> Status {
    auto published = store_map(number, next, made);
    if (!published) return pass(published.error());
    children = std::move(*published);
    in_doubt = children.empty();
    return {};
  };
  auto times =
      parent->finish_split(*cut, {report.left, clones[0]}, {report.right, clones[1]}, publish);
  if (!times) {
    for (const std::string& name : clones) retire(nullptr, name);  // ends the intent
    trim_later(slot);
    return pass(times.error());
  }
  if (in_doubt) return fail(Code::read_only, "the server stopped before the split was recorded");
  settle_split(*routing, slot->range.volume_name, std::move(parent), children);
  report.pause_us = times->pause_us;
  report.total_us = clock_.steady_us() - started_us;
  log::info("split a partition", {{"container", routing->container->spec.name},
                                  {"range", report.parent},
                                  {"left", report.left},
                                  {"right", report.right},
                                  {"pause_us", report.pause_us},
                                  {"total_us", report.total_us}});
  return report;
}

void Engine::trim_later(const std::shared_ptr<Slot>& slot) {
  trimmer_.post([this, slot] {
    auto partition = slot->opened();
    if (!partition || stopping_) return;
    if (auto trimmed = partition->trim(); !trimmed) {
      log::warn("trimming after a split failed and will be done when it is next opened",
                {{"range", partition->identity().range}, {"error", trimmed.error().message}});
    }
  });
}

void Engine::scale(uint32_t number) {
  RoutingPtr routing = find(number);
  if (!routing || !routing->container->throughput ||
      !may_split_by_itself(*routing->container, limits()))
    return;
  if (routing->slots.size() >= partitions_for(*routing->container->throughput, limits())) return;
  {
    MutexLock lock(scaling_mutex_);
    ++scaling_[number];
  }
  OnEnd done([this, number] { scaling_done(number); });
  splitter_.post([this, number, done = std::move(done)] {
    for (;;) {
      RoutingPtr now = find(number);
      if (stopping_ || !now || !now->container->throughput ||
          now->slots.size() >= partitions_for(*now->container->throughput, limits())) {
        break;
      }
      if (!split_one_more(*now)) break;
    }
  });
}

// Where hashes spread the load: those with the fewest splits behind them first, then the oldest, in
// the middle, which keeps ranges even, as throughput is given to ranges. Where keys are in order:
// those that were charged most, where their load is halved. One that cannot be split gives way to
// the next.
bool Engine::split_one_more(const Routing& routing) {
  const bool in_order = routing.container->spec.key.placement == value::Placement::range;
  std::vector<std::pair<double, uint32_t>> candidates;
  for (const auto& slot : routing.slots) {
    if (in_order && !slot->opened()) continue;  // not in use
    candidates.emplace_back(in_order ? -slot->counters.charge.load(std::memory_order_relaxed)
                                     : static_cast<double>(slot->range.parents.size()),
                            slot->range.id);
  }
  std::ranges::sort(candidates);
  const uint32_t number = routing.container->number;
  for (const auto& [rank, range] : candidates) {
    auto report = split_slot(number, range, in_order ? CutBy::load : CutBy::middle);
    if (report) return true;
    log::warn("cannot split towards the throughput asked for",
              {{"container", number}, {"range", range}, {"error", report.error().message}});
  }
  return false;
}

void Engine::scaling_done(uint32_t number) {
  MutexLock lock(scaling_mutex_);
  const auto found = scaling_.find(number);
  if (found != scaling_.end() && --found->second == 0) scaling_.erase(found);
}

}  // namespace orrery::cluster
