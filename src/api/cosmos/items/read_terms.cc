// See read_terms.h.
#include "api/cosmos/items/read_terms.h"

#include <utility>

#include "api/cosmos/wire/session_token.h"

namespace orrery::cosmos {

Result<cluster::LsnDemand> demand_of(std::string_view session_token) {
  if (session_token.empty()) return cluster::LsnDemand();
  // Checked as a whole here, so that the demand below cannot fail.
  if (auto checked = lsn_required(session_token, 0, {}); !checked) return pass(checked.error());
  return cluster::LsnDemand([session_token](const catalog::PartitionRange& range) {
    auto needed = lsn_required(session_token, range.id, range.parents);
    return needed ? *needed : std::nullopt;
  });
}

Result<cluster::ReadTerms> read_terms_of(const RequestHeaders& headers, Consistency account_level) {
  auto demand = demand_of(headers.session_token);
  if (!demand) return pass(demand.error());
  auto factor = consistency_factor(headers.consistency, account_level);
  if (!factor) return pass(factor.error());
  return cluster::ReadTerms{std::move(*demand), *factor};
}

void allow_replicas(cluster::ReadTerms& terms, const RequestHeaders& headers,
                    Consistency account_level) {
  const Consistency level = parse_consistency(headers.consistency).value_or(account_level);
  if (level == Consistency::strong) return;
  terms.demand.set_freshness(level == Consistency::bounded_staleness ? cluster::Freshness::bounded
                                                                     : cluster::Freshness::any);
}

}  // namespace orrery::cosmos
