// See history.h.
#include "nodes/simulation/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery::nodes::simulation {

void History::raise(Sequence& sequence, size_t floor) {
  if (floor <= sequence.floor) return;
  sequence.floor = floor;
  sequence.floors.emplace_back(world_.now_us(), floor);
}

// Of its line: what an ancestor has it has too, and once a child has more, an ancestor may not
// answer any more.
size_t History::floor(RangeRef ref) {
  size_t floor = of(ref).floor;
  for (auto parent = of(ref).parent; parent; parent = of(*parent).parent) {
    floor = std::max(floor, of(*parent).floor);
  }
  for (const auto& [other, sequence] : sequences_) {
    for (auto parent = sequence.parent; parent; parent = of(*parent).parent) {
      if (*parent == ref) floor = std::max(floor, sequence.floor);
    }
  }
  return floor;
}

size_t History::floor_at(RangeRef ref, int64_t time_us) {
  size_t floor = 0;
  for (const auto& [since_us, value] : of(ref).floors) {
    if (since_us <= time_us) floor = value;
  }
  return floor;
}

void History::seen(RangeRef ref, const std::vector<uint64_t>& writes) {
  Sequence& sequence = of(ref);
  const size_t common = std::min(writes.size(), sequence.longest.size());
  for (size_t i = 0; i < common; ++i) {
    if (writes[i] == sequence.longest[i]) continue;
    world_.fail(fmt::format("I3: write {} of partition {} is {} for one and {} for another", i,
                            ref.range, writes[i], sequence.longest[i]));
    return;
  }
  if (sequence.parent) {
    // Which the parent cannot have more of any more.
    const std::vector<uint64_t>& inherited = of(*sequence.parent).longest;
    for (size_t i = 0; i < std::min(inherited.size(), writes.size()); ++i) {
      if (writes[i] == inherited[i]) continue;
      world_.fail(fmt::format("I3: write {} of partition {} is {}, and was {} in its parent {}", i,
                              ref.range, writes[i], inherited[i], sequence.parent->range));
      return;
    }
  }
  for (size_t i = common; i < writes.size(); ++i) {
    bool is_failed = sequence.failed.contains(writes[i]);
    for (auto parent = sequence.parent; parent; parent = of(*parent).parent) {
      is_failed |= of(*parent).failed.contains(writes[i]);
    }
    if (is_failed) {
      world_.fail(fmt::format("I4: write {} of partition {} was told as failed and is there",
                              writes[i], ref.range));
    }
    sequence.longest.push_back(writes[i]);
  }
}

void History::acknowledged(RangeRef ref, const std::vector<uint64_t>& writes) {
  seen(ref, writes);
  raise(of(ref), writes.size());
}

void History::told_failed(RangeRef ref, uint64_t value) {
  Sequence& sequence = of(ref);
  if (std::ranges::find(sequence.longest, value) != sequence.longest.end()) {
    world_.fail(
        fmt::format("I4: write {} of partition {} is there and told as failed", value, ref.range));
  }
  sequence.failed.insert(value);
}

void History::opened(RangeRef ref, const std::vector<uint64_t>& writes, bool is_owner) {
  seen(ref, writes);
  if (is_owner && writes.size() < floor(ref)) {
    world_.fail(fmt::format("I3: partition {} was opened with {} writes, and {} were acknowledged",
                            ref.range, writes.size(), floor(ref)));
  }
}

void History::read(RangeRef ref, const std::vector<uint64_t>& writes, size_t floor,
                   bool was_dropped) {
  seen(ref, writes);
  if (writes.size() < floor) {
    world_.fail(
        fmt::format("I2: a strong read of partition {} has {} writes, and {} were "
                    "acknowledged or read before it began",
                    ref.range, writes.size(), floor));
  }
  if (was_dropped) {
    world_.fail(
        fmt::format("I9: a read of partition {} began after its drop was acknowledged", ref.range));
  }
  raise(of(ref), writes.size());
}

void History::planned(const Plan& plan) {
  std::map<RangeRef, std::string> owners;
  for (const auto& [ref, owner] : plan.owners) owners[ref] = plan.members[owner].incarnation;
  const auto [known, is_new] = plans_.try_emplace({plan.term, plan.version}, owners);
  if (!is_new && known->second != owners) {
    world_.fail(fmt::format("I6: there are two plans {}.{}", plan.term, plan.version));
  }
}

}  // namespace orrery::nodes::simulation
