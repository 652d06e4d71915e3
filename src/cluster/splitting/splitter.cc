// See splitter.h.
#include "cluster/splitting/splitter.h"

#include <fmt/format.h>

#include <array>

#include "base/fault.h"
#include "base/log.h"

namespace orrery::cluster {
namespace {

using catalog::SplitCause;
using partition::CutBy;
using partition::Partition;

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
    const std::array both = {made.first, made.second};
    auto published = publisher_.publish(
        slot.container,
        [&] {
          return catalog_.publish_split(slot.container, slot.range.id, cut->at, *clones,
                                        {clock_.now_s(), cause});
        },
        both, "split.published");
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
