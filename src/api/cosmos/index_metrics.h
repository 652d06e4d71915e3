// The value of x-ms-cosmos-index-utilization: what a query used of the index, as clients read it.
#pragma once

#include <string>

#include "query/index_use.h"

namespace orrery::cosmos {

// Base64 of a JSON object with the lists UtilizedSingleIndexes, PotentialSingleIndexes,
// UtilizedCompositeIndexes and PotentialCompositeIndexes.
std::string encode_index_metrics(const query::IndexUse& use);

}  // namespace orrery::cosmos
