// The figures of the server below the faces: its connections, its threads, every open partition.
#pragma once

#include "cluster/engine.h"
#include "face/metric_families.h"
#include "net/server.h"

namespace orrery::ops {

void add_metrics(const net::ServerCounters& server, face::MetricFamilies& all);
void add_metrics(const cluster::Engine& engine, face::MetricFamilies& all);

}  // namespace orrery::ops
