// See merger.h.
#include "cluster/splitting/merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "base/log.h"
#include "partition/merge.h"

namespace orrery::cluster {

using catalog::MergeCause;
using partition::Partition;

Result<Merger::Pair> Merger::find_pair(const Routing& routing, uint32_t first, uint32_t second) {
  for (const uint32_t id : {first, second}) {
    const bool is_there =
        std::ranges::any_of(routing.slots, [&](const auto& slot) { return slot->range.id == id; });
    if (is_there) continue;
    return fail(Code::not_found,
                fmt::format("container '{}' has no range {}", routing.container->spec.name, id));
  }
  for (size_t i = 0; i + 1 < routing.slots.size(); ++i) {
    const uint32_t left = routing.slots[i]->range.id;
    const uint32_t right = routing.slots[i + 1]->range.id;
    if ((left == first && right == second) || (left == second && right == first)) {
      return Pair{routing.slots[i], routing.slots[i + 1]};
    }
  }
  return fail(Code::conflict,
              fmt::format("ranges {} and {} of container '{}' are not neighbours: only two ranges "
                          "of which one begins where the other ends can be merged",
                          first, second, routing.container->spec.name));
}

// Partitions that were never written to have no files: only the map changes.
Result<std::optional<MergeReport>> Merger::merge_if_empty(const Routing& routing, const Pair& pair,
                                                          MergeCause cause) {
  const MutexLock change(table_.change_mutex);
  // Whoever holds one of these and wants another only tries, so this waits for nobody in a circle.
  const MutexLock opening_left(pair.left->open_mutex);
  const MutexLock opening_right(pair.right->open_mutex);
  // A copy of the catalog changes no map: what is merged there has files, or gets some.
  if (!catalog_.is_owner()) return std::nullopt;
  for (const auto& slot : {pair.left, pair.right}) {
    if (slot->opened() || volume_.exists(slot->range.volume_name)) return std::nullopt;
    if (catalog_.has_files(slot->range)) return std::nullopt;  // lost, which opening it tells
  }
  const uint32_t number = routing.container->number;
  auto updated = catalog_.merge_empty(number, pair.left->range.id, pair.right->range.id,
                                      {clock_.now_s(), cause});
  if (!updated) return pass(updated.error());
  table_.rebuild(number);
  // After the new map is there to be found; until then they cannot be opened.
  pair.left->gone = true;
  pair.right->gone = true;
  return MergeReport{.left = pair.left->range.id,
                     .right = pair.right->range.id,
                     .child = (*updated)->map->merges.back().child};
}

// From here on the child's files are to be removed, whatever happens, unless they are published.
Result<catalog::IntendedMerge> Merger::intend(const Pair& pair, Partition& left, Partition& right) {
  auto intended = catalog_.intend_merge(pair.left->container,
                                        {.left = pair.left->range.id,
                                         .right = pair.right->range.id,
                                         .left_epoch = left.epoch(),
                                         .right_epoch = right.epoch()},
                                        left.next_split_attempt());
  if (!intended) return intended;
  if (volume_.exists(intended->name)) {
    // Nobody's, by the catalog: they are not removed as the child's would be.
    if (auto forgotten = catalog_.forget_removals({intended->name}); !forgotten) {
      log::warn("cannot give up a merge", {{"error", forgotten.error().message}});
    }
    return fail(Code::conflict,
                fmt::format("there are files in {}, which is where the merged partition was to be "
                            "made: move them away",
                            volume_.place(intended->name)));
  }
  if (auto injected = fault::point("merge.intended"); !injected) {
    remover_.retire(nullptr, intended->name);
    return pass(injected.error());
  }
  return intended;
}

Result<MergeReport> Merger::merge_files(const Pair& pair, Partition& left, Partition& right,
                                        bool keeps_history, MergeCause cause) {
  auto intended = intend(pair, left, right);
  if (!intended) return pass(intended.error());
  bool is_known = false;
  auto publish = [&](const PartitionPtr& child) -> Status {
    auto published = publisher_.publish(
        pair.left->container,
        [&] {
          return catalog_.publish_merge(pair.left->container, pair.left->range.id,
                                        pair.right->range.id, *intended, {clock_.now_s(), cause});
        },
        {&child, 1}, "merge.published");
    if (!published) return pass(published.error());
    is_known = !published->empty();
    return {};
  };
  auto times = partition::merge(
      left, right, {intended->id, intended->name}, keeps_history, [&] { return stop_.is_set(); },
      publish);
  if (!times) {
    remover_.retire(nullptr, intended->name);
    return pass(times.error());
  }
  // Stopped before it was known which map is stored, or so late to know it that others have the
  // child: all files stay, for the next start or for them.
  if (!is_known) {
    return fail(Code::read_only, "the server stopped before it knew that the merge was recorded");
  }
  return MergeReport{.left = pair.left->range.id,
                     .right = pair.right->range.id,
                     .child = intended->id,
                     .pause_us = times->pause_us};
}

Result<MergeReport> Merger::merge(const Routing& routing, const Pair& pair, MergeCause cause,
                                  uint64_t bytes_max) {
  const int64_t started_us = clock_.steady_us();
  if (auto injected = fault::point("merge.begin"); !injected) return pass(injected.error());
  auto empty = merge_if_empty(routing, pair, cause);
  if (!empty) return pass(empty.error());
  if (*empty) return **empty;
  auto opened_left = opener_.open(pair.left);
  if (!opened_left) return pass(opened_left.error());
  auto opened_right = opener_.open(pair.right);
  if (!opened_right) return pass(opened_right.error());
  PartitionPtr left = std::move(*opened_left);
  PartitionPtr right = std::move(*opened_right);
  if (auto checked = partition::check_merge(*left, *right, bytes_max); !checked) {
    return pass(checked.error());
  }
  auto report = merge_files(pair, *left, *right, routing.schema->history_s > 0, cause);
  if (!report) {
    // They gave way to this merge.
    trimmer_.trim_later(pair.left);
    trimmer_.trim_later(pair.right);
    return report;
  }
  remover_.retire(std::move(left), pair.left->range.volume_name);
  remover_.retire(std::move(right), pair.right->range.volume_name);
  report->total_us = clock_.steady_us() - started_us;
  log::info("merged two partitions", {{"container", routing.container->spec.name},
                                      {"cause", to_text(cause)},
                                      {"left", report->left},
                                      {"right", report->right},
                                      {"range", report->child},
                                      {"pause_us", report->pause_us},
                                      {"total_us", report->total_us}});
  return report;
}

}  // namespace orrery::cluster
