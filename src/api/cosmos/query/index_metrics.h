// The value of x-ms-cosmos-index-utilization: what a query used of the index, as clients read it.
#pragma once

#include <cstdint>
#include <string>

#include "query/plan/index_use.h"

namespace orrery::cosmos {

enum class IndexMetricsForm : uint8_t {
  // Base64 of a JSON object with the lists UtilizedSingleIndexes, PotentialSingleIndexes,
  // UtilizedCompositeIndexes and PotentialCompositeIndexes.
  base64,
  // For those who ask with …-V2, percent-encoded: Utilized and Potential, each an object with the
  // lists SingleIndexes and CompositeIndexes.
  percent_encoded,
};
std::string encode_index_metrics(const query::IndexUse& use, IndexMetricsForm form);

}  // namespace orrery::cosmos
