// See read_terms.h.
#include "api/cosmos/items/read_terms.h"

#include <utility>

#include "api/cosmos/wire/session_token.h"
#include "cluster/replicas/replica_reader.h"

namespace orrery::cosmos {

Result<cluster::LsnDemand> demand_of(std::string_view session_token) {
  if (session_token.empty()) return nullptr;
  // Checked as a whole here, so that the demand below cannot fail.
  if (auto checked = lsn_required(session_token, 0, {}); !checked) return pass(checked.error());
  return [session_token](const catalog::PartitionRange& range) -> std::optional<uint64_t> {
    auto needed = lsn_required(session_token, range.id, range.parents);
    return needed ? *needed : std::nullopt;
  };
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
  terms.demand = cluster::ReaderDemand(
      std::move(terms.demand), level == Consistency::bounded_staleness ? cluster::Freshness::bounded
                                                                       : cluster::Freshness::any);
}

}  // namespace orrery::cosmos
