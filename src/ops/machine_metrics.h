// The figures of the server below the faces: its connections, its threads, every open partition.
#pragma once

#include <vector>

#include "cluster/engine.h"
#include "face/metric_families.h"
#include "net/server.h"
#include "nodes/status.h"

namespace orrery::ops {

// What each listener counts by itself.
void add_metrics(const std::vector<net::ListenerStatus>& listeners, face::MetricFamilies& all);
// What the listeners share.
void add_metrics(const net::ServerCounters& server, face::MetricFamilies& all);
void add_metrics(const cluster::Engine& engine, face::MetricFamilies& all);
// Of a node among others: its lease, and how it is coordinated.
void add_metrics(const nodes::NodeStatus& node, face::MetricFamilies& all);

}  // namespace orrery::ops
