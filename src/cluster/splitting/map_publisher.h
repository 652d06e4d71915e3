// Makes a new partition map durable and routes by it: the moment of a split or a merge.
//
// When the disk fails under the catalog's commit, nobody knows which map a restart would find. So
// the parents may then neither go on (their writes would be lost under the new map) nor give up
// their files or the children's: writes wait while the commit is tried again, which settles it
// either way. Should the server be stopped before that, nothing is returned, and everything stays
// in place for whichever map is there at the next start.
//
// Invariant: a slot that the plan names another node for gets no partition (NodeSeat's first). Both
// happen under the table's change_mutex.
//
// Threading: the split queue's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/routing_table.h"
#include "cluster/stop_signal.h"
#include "partition/partition.h"

namespace orrery::cluster {

class MapPublisher {
 public:
  using Slots = std::vector<std::shared_ptr<Slot>>;
  using Made = std::span<const std::shared_ptr<partition::Partition>>;

  MapPublisher(RoutingTable& table, const Clock& clock, const StopSignal& stop)
      : table_(table), clock_(clock), stop_(stop) {}

  // `commit` is the catalog's, and may be repeated. `made` are the new partitions; their slots are
  // returned. `point` is the fault point after the commit. An error: there is no new map.
  Result<Slots> publish(uint32_t container,
                        const std::function<Result<catalog::ContainerPtr>()>& commit, Made made,
                        std::string_view point);

 private:
  Slots route_to(const catalog::ContainerPtr& container, Made made)
      ORRERY_REQUIRES(table_.change_mutex);

  RoutingTable& table_;
  const Clock& clock_;
  const StopSignal& stop_;
};

}  // namespace orrery::cluster
