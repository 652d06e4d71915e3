// What the commands of this face share. There is one, in Service, and it outlives every call.
//
// Threading: what it refers to may be used by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "account/account.h"
#include "api/mongo/auth/scram.h"
#include "api/mongo/auth/users.h"
#include "api/mongo/changes/watched_names.h"
#include "api/mongo/commands/fail_point.h"
#include "api/mongo/cursors/cursor_store.h"
#include "api/mongo/cursors/parking.h"
#include "api/mongo/documents/retry_memory.h"
#include "api/mongo/transactions/transaction_store.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "face/lanes.h"

namespace orrery::mongo {

inline constexpr std::string_view kFaceName = "mongo";

struct ServiceOptions {
  bool in_development = false;  // on loopback nobody has to log in
  // The replica set that handshakes name. Empty: they answer as a mongos does.
  std::string replica_set;
};

struct Context {
  Context(const face::Context& lent, ServiceOptions options_in)
      : engine(lent.engine),
        lanes(lent.lanes),
        clock(lent.clock),
        account(lent.account),
        options(std::move(options_in)),
        secrets(lent.account),
        users(lent.engine),
        cursors(lent.clock),
        transactions(lent.engine, lent.clock) {}

  cluster::Engine& engine;
  face::Lanes& lanes;
  const Clock& clock;
  account::Account& account;
  const ServiceOptions options;
  mutable ScramSecrets secrets;
  mutable Users users;
  mutable CursorStore cursors;
  mutable WatchedNames watched;
  mutable Parking parking;
  mutable RetryMemory retries;
  mutable TransactionStore transactions;
  mutable FailPoint fail_point;
  mutable std::atomic<int64_t> connections_open = 0;
  mutable std::atomic<int64_t> connections_made = 0;
  const int64_t started_us = clock.steady_us();
};

}  // namespace orrery::mongo
