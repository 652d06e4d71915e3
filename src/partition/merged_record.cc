// See merged_record.h.
#include "partition/merged_record.h"

#include <algorithm>

namespace orrery::partition {
namespace {

// After which LSN the history of one parent has every write. One that keeps none has had none
// since its newest write: a reader that has got there misses nothing.
uint64_t history_start(const PartitionRecord& parent) {
  return parent.history_after == kNoHistory ? parent.lsn : parent.history_after;
}

void add_floors(const PartitionRecord& parent, PartitionRecord& merged) {
  const uint64_t start = history_start(parent);
  if (start > merged.history_after) {
    merged.history_floors.push_back({.min = parent.min, .max = parent.max, .after = start});
  }
  for (const HistoryFloor& floor : parent.history_floors) {
    if (floor.after <= start) continue;
    // A split leaves floors of both sides.
    HistoryFloor kept{.min = std::max(floor.min, parent.min),
                      .max = std::min(floor.max, parent.max),
                      .after = floor.after};
    if (kept.min < kept.max) merged.history_floors.push_back(std::move(kept));
  }
}

// A reader from before may then be told that the history does not go back far enough, though it
// does for the keys that it reads. None misses anything.
void draw_together(PartitionRecord& merged) {
  if (merged.history_floors.size() <= kHistoryFloorsMax) return;
  const uint64_t after =
      std::ranges::max_element(merged.history_floors, {}, &HistoryFloor::after)->after;
  merged.history_floors = {{.min = merged.min, .max = merged.max, .after = after}};
}

// A history that a parent has begun is kept, although the caller may not have heard of it yet. But
// giving one up comes with newer index rules: a parent that is behind with those has one that is
// over.
bool is_without_history(const PartitionRecord& left, const PartitionRecord& right) {
  const auto has_history = [](const PartitionRecord& parent) {
    return parent.history_after != kNoHistory;
  };
  if (!has_history(left) && !has_history(right)) return true;
  if (left.index_version == right.index_version) return false;
  return !has_history(left.index_version > right.index_version ? left : right);
}

// Whether every item of the parent has the terms of this version.
bool has_terms(const PartitionRecord& parent, uint32_t index_version) {
  return parent.items == 0 || (parent.indexed && parent.index_version == index_version);
}

}  // namespace

PartitionRecord merged_record(const PartitionRecord& left, const PartitionRecord& right,
                              uint32_t range, bool keeps_history) {
  PartitionRecord merged;
  merged.range = range;
  merged.min = left.min;
  merged.max = right.max;
  merged.lsn = std::max(left.lsn, right.lsn);
  merged.time_s = std::max(left.time_s, right.time_s);
  merged.bytes = left.bytes + right.bytes;
  merged.items = left.items + right.items;
  merged.made = std::max(left.made, right.made);
  merged.index_version = std::max(left.index_version, right.index_version);
  merged.indexed = has_terms(left, merged.index_version) && has_terms(right, merged.index_version);
  if (keeps_history || !is_without_history(left, right)) {
    merged.history_after = std::min(history_start(left), history_start(right));
    add_floors(left, merged);
    add_floors(right, merged);
    draw_together(merged);
  }
  merged.time_order = {.until = 0,
                       .until_s = 0,
                       .from = merged.lsn,
                       .from_s = std::max({left.time_s, left.time_order.from_s, right.time_s,
                                           right.time_order.from_s})};
  return merged;
}

}  // namespace orrery::partition
