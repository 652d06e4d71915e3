// See replies.h.
#include "cluster/replies.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cluster {

Status check_demand(const LsnDemand& demand, const catalog::PartitionRange& range, uint64_t lsn) {
  auto needed = demand.needed(range);
  if (!needed || *needed <= lsn) return {};
  return fail(Code::behind, fmt::format("the request asks for LSN {} of range {}, which is at {}",
                                        *needed, range.id, lsn));
}

uint32_t indexed_percent(const std::vector<PartitionStatus>& partitions) {
  uint32_t least = 100;
  double items = 0;
  double indexed = 0;
  for (const PartitionStatus& one : partitions) {
    least = std::min(least, one.indexed_percent);
    items += static_cast<double>(one.usage.items);
    indexed += static_cast<double>(one.usage.items) * one.indexed_percent;
  }
  if (least == 100) return 100;
  return items == 0 ? least : std::min(99U, static_cast<uint32_t>(indexed / items));
}

}  // namespace orrery::cluster
