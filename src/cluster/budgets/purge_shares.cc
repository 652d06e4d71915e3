// See purge_shares.h.
#include "cluster/budgets/purge_shares.h"

#include <algorithm>

namespace orrery::cluster {

std::shared_ptr<TokenBucket> PurgeShares::of(const std::shared_ptr<TokenBucket>& budget,
                                             int64_t now_us) {
  const double rate = std::max(budget->rate() * percent_ / 100, 1.0);
  std::shared_ptr<TokenBucket>& share = shares_[budget];
  if (!share) share = std::make_shared<TokenBucket>(rate, now_us);
  share->set_rate(rate, now_us);
  return share;
}

}  // namespace orrery::cluster
