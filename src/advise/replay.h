// Replays the busiest time of a workload against N partitions, with the rule that the engine's
// budgets have: a request may start while its partition's budget is above zero, pays afterwards,
// and the budget holds one second's worth.
#pragma once

#include "advise/facts.h"
#include "advise/key_expression.h"

namespace orrery::advise {

// The share of requests that are throttled at the container's throughput.
double throttled_share(const Facts& facts, const KeyExpression& key);

}  // namespace orrery::advise
