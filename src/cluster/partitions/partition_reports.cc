// See partition_reports.h.
#include "cluster/partitions/partition_reports.h"

#include <algorithm>
#include <iterator>

namespace orrery::cluster {

using partition::Partition;

Result<std::vector<PartitionStatus>> PartitionReports::status(uint32_t container) {
  RoutingPtr routing = table_.find(container);
  if (!routing) return fail(Code::not_found, "the container is not there");
  std::vector<PartitionStatus> all;
  for (const auto& slot : routing->slots) {
    PartitionStatus& one = all.emplace_back();
    one.range = slot->range;
    one.reads = slot->counters.reads;
    one.writes = slot->counters.writes;
    one.throttled = slot->counters.throttled;
    one.charge = slot->counters.charge;
    if (const auto plan = plan_.current()) {
      if (const auto* owner = ServingPlan::owner_of(*plan, *slot)) one.node = owner->name;
    }
    if (!slot->here) continue;
    auto opened = opener_.open_if_there(slot);
    if (!opened) {
      one.read_only_reason = opened.error().message;
      if (routing->container->indexed_version < routing->container->index_version) {
        one.indexed_percent = 0;
      }
    } else if (*opened) {
      one.open = true;
      one.usage = (*opened)->usage();
      one.index_bytes = (*opened)->index_bytes();
      one.lsn = (*opened)->lsn();
      one.read_only_reason = (*opened)->read_only_reason();
      one.indexed_percent = (*opened)->indexed_percent(*routing->schema);
    }
  }
  return all;
}

Result<std::vector<Partition::LogicalPartition>> PartitionReports::largest(uint32_t container,
                                                                           size_t count) {
  RoutingPtr routing = table_.find(container);
  if (!routing) return fail(Code::not_found, "the container is not there");
  std::vector<Partition::LogicalPartition> all;
  for (const auto& slot : routing->slots) {
    auto opened = opener_.open_if_there(slot);
    if (!opened || !*opened) continue;
    auto some = (*opened)->largest(count);
    if (!some) return pass(some.error());
    std::ranges::move(*some, std::back_inserter(all));
  }
  std::ranges::sort(all, std::greater<>(), [](const auto& one) { return one.usage.bytes; });
  if (all.size() > count) all.resize(count);
  return all;
}

}  // namespace orrery::cluster
