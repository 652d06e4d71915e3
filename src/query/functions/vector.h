// How VECTORDISTANCE measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "query/functions/registry.h"

namespace orrery::query {

enum class VectorMetric : uint8_t { cosine, dot_product, euclidean };

// The metric that the options of a call name, else cosine. Empty when they are no options, or name
// an unknown one.
std::optional<VectorMetric> vector_metric(const Value& options);

// As options name it.
std::string_view to_string(VectorMetric metric);
std::optional<VectorMetric> parse_vector_metric(std::string_view name);

}  // namespace orrery::query
