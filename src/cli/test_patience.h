// For tests in which no node is to fail: how many times longer than usual a node stays silent
// before others take it for dead. A busy machine or disk then ends no lease. Only a process whose
// environment has ORRERY_TEST_PATIENCE waits longer, and its log says so; all nodes of a volume
// need the same.
#pragma once

#include "nodes/times.h"
#include "volume/objects/lease.h"

namespace orrery::cli {

volume::LeaseTimes lease_times();
nodes::NodeTimes node_times();

}  // namespace orrery::cli
