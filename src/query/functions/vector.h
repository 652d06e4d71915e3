// How VECTORDISTANCE measures.
#pragma once

#include <optional>

#include "query/functions/registry.h"

namespace orrery::query {

// The metric that the options of a call name, else the container's. Empty when they are no options,
// or name an unknown one.
std::optional<VectorMetric> vector_metric(const Value& options, const Context& context);

}  // namespace orrery::query
