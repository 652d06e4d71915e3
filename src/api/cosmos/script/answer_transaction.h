// The beginning of the answer to a request that ran scripts, or all of it when they failed.
#pragma once

#include <expected>

#include "api/cosmos/call.h"
#include "api/cosmos/script/script_transaction.h"
#include "cluster/routing.h"

namespace orrery::cosmos {

// Adds the charge, the session token and the log of a transaction that has ended with `ran`. False:
// it failed, and the call has been answered with that.
bool begin_answer(Call& call, const cluster::Routing& routing, const ScriptTransaction& transaction,
                  const std::expected<void, ScriptStop>& ran);

}  // namespace orrery::cosmos
