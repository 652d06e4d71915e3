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

using catalog::SplitCause;
using partition::CutBy;
using partition::Partition;

// A child begins with what of its parent's sample is its own.
void adopt_load(const Routing& before, Slot& child) {
  const std::shared_ptr<Slot>& parent = before.slot_of(child.range.min);
  if (parent->load) child.load->adopt(*parent->load, child.range.min, child.range.max);
}

// Whether a commit of the catalog's that ended so may have been made, or may succeed later.
bool leaves_doubt(Code code) {
  return code == Code::read_only || code == Code::corrupt || code == Code::overloaded ||
         code == Code::elsewhere || code == Code::internal;
}

// For throughput, which is given to ranges, in the middle: ranges stay even.
CutBy cut_for(SplitCause cause) {
  if (cause == SplitCause::throughput) return CutBy::middle;
  return cause == SplitCause::load ? CutBy::load : CutBy::bytes;
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

}  // namespace

// A partition that was never written to has no files: only the map changes.
Result<std::optional<SplitReport>> Splitter::split_empty(const Routing& routing, Slot& slot,
                                                         SplitCause cause) {
  MutexLock change(table_.change_mutex);
  MutexLock opening(slot.open_mutex);
  // A copy of the catalog changes no map: what is split there has files, or gets some.
  if (!catalog_.is_owner()) return std::nullopt;
  if (slot.opened() || volume_.exists(slot.range.volume_name)) return std::nullopt;
  if (catalog_.has_files(slot.range)) return std::nullopt;  // lost, which opening it tells
  const value::Placement placement = routing.container->spec.key.placement;
  const std::string cut = value::middle_of(placement, slot.range.min, slot.range.max);
  if (cut.empty()) {
    return fail(Code::conflict, placement == value::Placement::range
                                    ? "the partition is empty: ranges of keys in order have no "
                                      "middle before there are keys"
                                    : "the partition's range is too small to be split");
  }
  const uint32_t number = routing.container->number;
  auto updated = catalog_.split_empty(number, slot.range.id, cut, {clock_.now_s(), cause});
  if (!updated) return pass(updated.error());
  table_.rebuild(number);
  slot.gone = true;  // after the new map is there to be found; until then it cannot be opened
  SplitReport report{.parent = slot.range.id};
  for (const catalog::PartitionRange& range : (*updated)->map->ranges) {
    if (range.parents.empty() || range.parents.back() != slot.range.id) continue;
    (range.min == slot.range.min ? report.left : report.right) = range.id;
  }
  return report;
}

Result<partition::Cut> Splitter::begin(const Routing& routing, const Slot& slot, Partition& parent,
                                       SplitCause cause) {
  CutBy by = cut_for(cause);
  const value::KeyDefinition& keys = routing.container->spec.key;
  const std::string key =
      slot.load ? (by == CutBy::load ? slot.load->half() : slot.load->growth()) : "";
  if (by == CutBy::load && key.empty()) by = CutBy::bytes;
  return parent.begin_split(keys, value::middle_of(keys.placement, slot.range.min, slot.range.max),
                            by, key);
}

// From here on the clones are to be removed, whatever happens, unless they are published.
Result<catalog::IntendedClones> Splitter::intend(const Slot& slot, Partition& parent) {
  auto clones = catalog_.intend_split(slot.container, slot.range.id, parent.epoch(),
                                      parent.next_split_attempt());
  if (!clones) return clones;
  for (const std::string& name : {clones->left_name, clones->right_name}) {
    if (!volume_.exists(name)) continue;
    // Nobody's, by the catalog: they are not removed as clones would be.
    if (auto forgotten = catalog_.forget_removals({clones->left_name, clones->right_name});
        !forgotten) {
      log::warn("cannot give up a split", {{"error", forgotten.error().message}});
    }
    return fail(Code::conflict,
                fmt::format("there are files in {}, which is where a clone was to be made: move "
                            "them away",
                            volume_.place(name)));
  }
  if (auto injected = fault::point("split.intended"); !injected) {
    remove_clones(*clones);
    return pass(injected.error());
  }
  return clones;
}

// Ends the intent.
void Splitter::remove_clones(const catalog::IntendedClones& clones) {
  remover_.retire(nullptr, clones.left_name);
  remover_.retire(nullptr, clones.right_name);
}

// Makes a new map durable and routes to the children from then on; returns their slots.
//
// When the disk fails under the catalog's commit, nobody knows which map a restart would find. So
// the parent may then neither go on (its writes would be lost under the new map) nor give up its
// files or the children's: writes wait while the commit is tried again, which settles it either
// way. Should the server be stopped before that, nothing is returned, and everything stays in
// place for whichever map is there at the next start.
Result<Splitter::Children> Splitter::publish(const Slot& slot, const std::string& cut,
                                             const catalog::IntendedClones& clones,
                                             const Partition::Children& made,
                                             const catalog::SplitReason& why) {
  for (bool first = true;; first = false) {
    Result<Children> children;
    // Memory that runs out in the middle leaves the same doubt.
    const bool known = survive("storing a partition map", [&] {
      MutexLock change(table_.change_mutex);
      auto updated = catalog_.publish_split(slot.container, slot.range.id, cut, clones, why);
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
      if (!leaves_doubt(code)) return children;
      if (first) {
        log::error("a split waits until the catalog takes writes again",
                   {{"container", slot.container}, {"error", children.error().message}});
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

Result<std::optional<SplitReport>> Splitter::split_if_empty(uint32_t container, uint32_t range,
                                                            SplitCause cause) {
  const RoutingPtr routing = table_.find(container);
  if (!routing) return fail(Code::not_found, "the container is not there");
  auto slot = slot_to_split(*routing, range);
  if (!slot) return pass(slot.error());
  return split_empty(*routing, **slot, cause);
}

Result<Splitter::Split> Splitter::split(uint32_t container, uint32_t range, SplitCause cause) {
  const int64_t started_us = clock_.steady_us();
  const RoutingPtr routing = table_.find(container);
  if (!routing) return fail(Code::not_found, "the container is not there");
  auto found = slot_to_split(*routing, range);
  if (!found) return pass(found.error());
  const std::shared_ptr<Slot> slot = std::move(*found);
  auto empty = split_empty(*routing, *slot, cause);
  if (!empty) return pass(empty.error());
  if (*empty) return Split{.report = **empty, .children = {}};
  auto opened = opener_.open(slot);
  if (!opened) return pass(opened.error());
  std::shared_ptr<Partition> parent = std::move(*opened);
  Split done;
  auto report = split_files(*routing, *slot, *parent, cause, done.children);
  if (!report) {
    trimmer_.trim_later(slot);  // it gave way to this split
    return pass(report.error());
  }
  // Stopped before it was known which map is stored, or so late to know it that others, who took
  // the children over, have split them: all files stay, for the next start or for them.
  if (done.children.empty()) {
    return fail(Code::read_only, "the server stopped before it knew that the split was recorded");
  }
  remover_.retire(std::move(parent), slot->range.volume_name);
  for (const auto& child : done.children) trimmer_.trim_later(child);
  done.report = *report;
  done.report.total_us = clock_.steady_us() - started_us;
  log::info("split a partition", {{"container", routing->container->spec.name},
                                  {"cause", to_text(cause)},
                                  {"range", done.report.parent},
                                  {"left", done.report.left},
                                  {"right", done.report.right},
                                  {"pause_us", done.report.pause_us},
                                  {"total_us", done.report.total_us}});
  return done;
}

// The children are empty when the server stopped before it was known which map is stored, or when
// that has neither of them any more.
Result<SplitReport> Splitter::split_files(const Routing& routing, const Slot& slot,
                                          Partition& parent, SplitCause cause, Children& children) {
  auto cut = begin(routing, slot, parent, cause);
  if (!cut) return pass(cut.error());
  auto clones = intend(slot, parent);
  if (!clones) {
    parent.abandon_split();
    return pass(clones.error());
  }
  auto publish_made = [&](const Partition::Children& made) -> Status {
    auto published = publish(slot, cut->at, *clones, made, {clock_.now_s(), cause});
    if (!published) return pass(published.error());
    children = std::move(*published);
    return {};
  };
  auto times = parent.finish_split(*cut, {clones->left, clones->left_name},
                                   {clones->right, clones->right_name}, publish_made);
  if (!times) {
    remove_clones(*clones);
    return pass(times.error());
  }
  return SplitReport{.parent = slot.range.id,
                     .left = clones->left,
                     .right = clones->right,
                     .pause_us = times->pause_us};
}

}  // namespace orrery::cluster
