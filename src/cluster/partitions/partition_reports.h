// What the engine tells about its partitions to operators and tests. It opens those that have files
// to find out.
//
// Threading: any thread that may wait for files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "cluster/partitions/opener.h"
#include "cluster/replies.h"
#include "cluster/routing_table.h"
#include "partition/partition.h"

namespace orrery::cluster {

class PartitionReports {
 public:
  PartitionReports(const RoutingTable& table, const ServingPlan& plan, Opener& opener)
      : table_(table), plan_(plan), opener_(opener) {}

  // As the functions of the same names of Engine.
  Result<std::vector<PartitionStatus>> status(uint32_t container);
  Result<std::vector<partition::Partition::LogicalPartition>> largest(uint32_t container,
                                                                      size_t count);

 private:
  const RoutingTable& table_;
  const ServingPlan& plan_;
  Opener& opener_;
};

}  // namespace orrery::cluster
