// What the removal of purged items may use of each budget: a share of its rate (limit
// purge-percent) that requests cannot take. A share is there only while there is something to
// purge; until then all of the budget is for requests.
//
// Threading: one thread, the upkeep's. The buckets are paid from any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "cluster/budgets/token_bucket.h"

namespace orrery::cluster {

class PurgeShares {
 public:
  explicit PurgeShares(uint64_t percent) : percent_(static_cast<double>(percent)) {}

  // The share of a budget, at the rate that the budget has now.
  std::shared_ptr<TokenBucket> of(const std::shared_ptr<TokenBucket>& budget, int64_t now_us);
  // Nothing is left to purge.
  void clear() { shares_.clear(); }

 private:
  const double percent_;
  std::map<std::shared_ptr<TokenBucket>, std::shared_ptr<TokenBucket>> shares_;  // by budget
};

}  // namespace orrery::cluster
