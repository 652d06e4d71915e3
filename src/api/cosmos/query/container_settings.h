// The parts of a container's definition that queries depend on, decoded once for each routing.
#pragma once

#include "base/result.h"
#include "cluster/routing.h"
#include "query/bind/bind.h"
#include "query/bind/vector_paths.h"

namespace orrery::cosmos {

struct ContainerSettings {
  query::ComputedProperties computed;
  query::VectorPaths vectors;
};

// They stay in place for as long as the routing does. Any thread may call.
Result<const ContainerSettings*> settings_of(const cluster::Routing& routing);

}  // namespace orrery::cosmos
