// See splitter.h.
#include "cluster/splitting/splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"

namespace orrery::cluster {
namespace {

using partition::CutBy;
using partition::Partition;

// A child begins with what of its parent's sample is its own.
void adopt_load(const Routing& before, Slot& child) {
  const std::shared_ptr<Slot>& parent = before.slot_of(child.range.min);
  if (parent->load) child.load->adopt(*parent->load, child.range.min, child.range.max);
}

// The slot of a range that can be split.
Result<std::shared_ptr<Slot>> slot_to_split(const Routing& routing, uint32_t range) {
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

// Replaces a range by its two halves in a copy of the container's map. `attempt` makes names in the
// volume that were never used.
catalog::PartitionMap split_map(const catalog::Container& container, uint32_t range,
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

}  // namespace

// A partition that was never written to has no files: only the map changes.
Result<std::optional<SplitReport>> Splitter::split_empty(const Routing& routing, Slot& slot) {
  MutexLock change(table_.change_mutex);
  MutexLock opening(slot.open_mutex);
  if (slot.opened() || volume_.exists(slot.range.volume_name)) return std::nullopt;
  auto noted = catalog_.has_files(slot.range);
  if (!noted) return pass(noted.error());
  if (*noted) return std::nullopt;  // they are lost, which opening it tells
  const value::Placement placement = routing.container->spec.key.placement;
  const std::string cut = value::middle_of(placement, slot.range.min, slot.range.max);
  if (cut.empty()) {
    return fail(Code::conflict, placement == value::Placement::range
                                    ? "the partition is empty: ranges of keys in order have no "
                                      "middle before there are keys"
                                    : "the partition's range is too small to be split");
  }
  const uint32_t number = routing.container->number;
  const catalog::ContainerPtr record = catalog_.container(number);
  if (!record) return fail(Code::not_found, "the container is not there");
  const uint32_t next_id = record->map->next_id;
  const SplitReport report{.parent = slot.range.id, .left = next_id, .right = next_id + 1};
  auto updated = catalog_.replace_map(number, split_map(*record, slot.range.id, cut, ""),
                                      catalog::Catalog::NewRanges::without_files);
  if (!updated) return pass(updated.error());
  table_.rebuild(number);
  slot.gone = true;  // after the new map is there to be found; until then it cannot be opened
  return report;
}

Result<Splitter::Plan> Splitter::begin(const Routing& routing, const Slot& slot, Partition& parent,
                                       CutBy by) {
  const catalog::Container& container = *routing.container;
  const value::KeyDefinition& keys = container.spec.key;
  const std::string key =
      slot.load ? (by == CutBy::load ? slot.load->half() : slot.load->growth()) : "";
  if (by == CutBy::load && key.empty()) by = CutBy::bytes;
  auto cut = parent.begin_split(
      keys, value::middle_of(keys.placement, slot.range.min, slot.range.max), by, key);
  if (!cut) return pass(cut.error());
  Plan plan;
  plan.cut = std::move(*cut);
  plan.map = split_map(container, slot.range.id, plan.cut.at,
                       fmt::format("-e{}-{}", parent.epoch(), parent.next_split_attempt()));
  const uint32_t left = container.map->next_id;
  for (const catalog::PartitionRange& range : plan.map.ranges) {
    if (range.id == left) plan.left = {range.id, range.volume_name};
    if (range.id == left + 1) plan.right = {range.id, range.volume_name};
  }
  return plan;
}

// From here on the clones are to be removed, whatever happens, unless they are published.
Status Splitter::intend(const Slot& slot, const Partition& parent, const Plan& plan) {
  const std::vector<std::string> clones = {plan.left.volume_name, plan.right.volume_name};
  for (const std::string& name : clones) {
    if (!volume_.exists(name)) continue;
    return fail(Code::conflict,
                fmt::format("there are files in {}, which is where a clone was to be made: move "
                            "them away",
                            volume_.place(name)));
  }
  if (auto intended = catalog_.intend_split(slot.range, parent.epoch(), clones); !intended) {
    return intended;
  }
  Status injected = fault::point("split.intended");
  if (!injected) remove_clones(plan);
  return injected;
}

// Ends the intent.
void Splitter::remove_clones(const Plan& plan) {
  remover_.retire(nullptr, plan.left.volume_name);
  remover_.retire(nullptr, plan.right.volume_name);
}

// Makes a new map durable and routes to the children from then on; returns their slots.
//
// When the disk fails under the catalog's commit, nobody knows which map a restart would find. So
// the parent may then neither go on (its writes would be lost under the new map) nor give up its
// files or the children's: writes wait while the commit is tried again, which settles it either
// way. Should the server be stopped before that, nothing is returned, and everything stays in
// place for whichever map is there at the next start.
Result<Splitter::Children> Splitter::store_map(uint32_t number, const catalog::PartitionMap& map,
                                               const Partition::Children& made) {
  for (bool first = true;; first = false) {
    Result<Children> children;
    // Memory that runs out in the middle leaves the same doubt.
    const bool known = survive("storing a partition map", [&] {
      MutexLock change(table_.change_mutex);
      auto updated = catalog_.replace_map(number, map, catalog::Catalog::NewRanges::with_files);
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
    if (stop_.is_set()) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Splitter::Children Splitter::route_to_children(const catalog::ContainerPtr& container,
                                               const Partition::Children& made) {
  const RoutingPtr before = table_.find(container->number);
  const RoutingPtr after = table_.make(container, before.get());
  Children children;
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

Result<Splitter::Split> Splitter::split(uint32_t container, uint32_t range, CutBy by) {
  const int64_t started_us = clock_.steady_us();
  const RoutingPtr routing = table_.find(container);
  if (!routing) return fail(Code::not_found, "the container is not there");
  auto found = slot_to_split(*routing, range);
  if (!found) return pass(found.error());
  const std::shared_ptr<Slot> slot = std::move(*found);
  auto empty = split_empty(*routing, *slot);
  if (!empty) return pass(empty.error());
  if (*empty) return Split{.report = **empty, .children = {}};
  auto opened = opener_.open(slot);
  if (!opened) return pass(opened.error());
  std::shared_ptr<Partition> parent = std::move(*opened);
  Split done;
  auto report = split_files(*routing, *slot, *parent, by, done.children);
  if (!report) {
    trimmer_.trim_later(slot);  // it gave way to this split
    return pass(report.error());
  }
  // Stopped before it was known which map is stored: all files stay for the next start.
  if (done.children.empty()) {
    return fail(Code::read_only, "the server stopped before the split was recorded");
  }
  remover_.retire(std::move(parent), slot->range.volume_name);
  for (const auto& child : done.children) trimmer_.trim_later(child);
  done.report = *report;
  done.report.total_us = clock_.steady_us() - started_us;
  log::info("split a partition", {{"container", routing->container->spec.name},
                                  {"range", done.report.parent},
                                  {"left", done.report.left},
                                  {"right", done.report.right},
                                  {"pause_us", done.report.pause_us},
                                  {"total_us", done.report.total_us}});
  return done;
}

// The children are empty when the server stopped before it was known which map is stored.
Result<SplitReport> Splitter::split_files(const Routing& routing, const Slot& slot,
                                          Partition& parent, CutBy by, Children& children) {
  auto plan = begin(routing, slot, parent, by);
  if (!plan) return pass(plan.error());
  if (auto intended = intend(slot, parent, *plan); !intended) {
    parent.abandon_split();
    return pass(intended.error());
  }
  auto publish = [&](const Partition::Children& made) -> Status {
    auto published = store_map(routing.container->number, plan->map, made);
    if (!published) return pass(published.error());
    children = std::move(*published);
    return {};
  };
  auto times = parent.finish_split(plan->cut, plan->left, plan->right, publish);
  if (!times) {
    remove_clones(*plan);
    return pass(times.error());
  }
  return SplitReport{.parent = slot.range.id,
                     .left = plan->left.range,
                     .right = plan->right.range,
                     .pause_us = times->pause_us};
}

}  // namespace orrery::cluster
