// What a request demands of the reads that answer it: how new the data must be (its session token),
// what its consistency level costs, and whether replicas may answer it.
//
// Pure; any thread may call.
#pragma once

#include <string_view>

#include "api/cosmos/wire/consistency.h"
#include "api/cosmos/wire/request_headers.h"
#include "base/result.h"
#include "cluster/engine.h"

namespace orrery::cosmos {

// The LSN that a session token requires of each range. The demand has a view of the token; a
// malformed one is an error.
Result<cluster::LsnDemand> demand_of(std::string_view session_token);

Result<cluster::ReadTerms> read_terms_of(const RequestHeaders& headers, Consistency account_level);
// Lets read replicas answer, if the consistency level of the request allows that: not for strong.
// For bounded staleness only those that are behind by little; for session any that has what the
// token asks for; for the weaker levels any.
void allow_replicas(cluster::ReadTerms& terms, const RequestHeaders& headers,
                    Consistency account_level);

}  // namespace orrery::cosmos
