// Merging two neighbouring partitions into one: the reverse of a split (split.cc), by copying. Both
// are small, or they would not be merged.
//
// merge()  A snapshot of each parent is copied into a new database while writes go on; what is
//          written meanwhile is followed (commit_tail.h) and copied too. Then writes pause, the
//          little that is left follows, and the new partition gets its record. `publish` makes the
//          new map durable: that is the moment of the merge. Before it, a failure or a crash leaves
//          both parents as they were, and files that the caller has recorded as to be removed;
//          after it, the parents' files are.
//
// Invariants
//  - Only what is in a parent's range is copied, so a parent need not be trimmed, and the new
//    partition is.
//  - LSNs, versions, and with them positions of readers stay as they are. The new partition gives
//    LSNs after the larger of both (merged_record.h).
//  - The pause does not depend on the amount of data.
//
// Fault points, in order: merge.begin, merge.intended (both in the caller), merge.copied,
// merge.opened, merge.committed (at the catalog's owner, if that is another node), merge.published
// (in the caller, after the map).
//
// Threading: any thread that may block, and one merge or split of a partition at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "partition/partition.h"

namespace orrery::partition {

// Whether two partitions can be merged: neighbours, `left` first, together within `bytes_max`, and
// with an index that one partition can have. Code::conflict otherwise. Cheap.
Status check_merge(const Partition& left, const Partition& right, uint64_t bytes_max);

struct MergeTimes {
  int64_t pause_us = 0;
};

// Blocks. From the success of `publish` on both parents answer Code::moved. Code::conflict while
// one of them is split or merged, Code::overloaded when too much is written meanwhile. `is_over` is
// asked now and then: true gives up. The place of the child must not be there. `keeps_history`:
// whether the container does, as far as the caller knows.
Result<MergeTimes> merge(Partition& left, Partition& right, const ChildSpec& child,
                         bool keeps_history, const std::function<bool()>& is_over,
                         const std::function<Status(const std::shared_ptr<Partition>&)>& publish);

}  // namespace orrery::partition
