// What the commands of this face share. There is one, in Service, and it outlives every call.
//
// Threading: what it refers to may be used by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "account/account.h"
#include "api/mongo/auth/scram.h"
#include "api/mongo/auth/users.h"
#include "api/mongo/changes/watched_names.h"
#include "api/mongo/commands/fail_point.h"
#include "api/mongo/cursors/cursor_places.h"
#include "api/mongo/cursors/cursor_store.h"
#include "api/mongo/cursors/parking.h"
#include "api/mongo/documents/retry_memory.h"
#include "api/mongo/transactions/snapshot_store.h"
#include "api/mongo/transactions/transaction_store.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "cluster/query/remote_views.h"
#include "face/face.h"
#include "face/items_anywhere.h"
#include "face/lanes.h"

namespace orrery::mongo {

inline constexpr std::string_view kFaceName = "mongo";

struct ServiceOptions {
  bool in_development = false;  // on loopback nobody has to log in
  // The replica set that handshakes name. Empty: they answer as a mongos does.
  std::string replica_set;
};

struct HandlerContext {
  HandlerContext(const face::Context& lent, ServiceOptions options_in,
                 face::ItemsAnywhere::Complete complete_write)
      : engine(lent.engine),
        lanes(lent.lanes),
        clock(lent.clock),
        account(lent.account),
        options(std::move(options_in)),
        secrets(lent.account),
        users(lent.engine),
        query_helpers(lent.query_helpers),
        forwarder(lent.forwarder),
        items(lent.engine, lent.forwarder, kFaceName, std::move(complete_write)),
        cursors(lent.clock),
        transactions(lent.engine, lent.clock),
        snapshots(lent.engine, lent.clock) {
    if (forwarder != nullptr && forwarder->calls() != nullptr) {
      remote = std::make_unique<cluster::RemoteViews>(*forwarder->calls(), forwarder->placement());
    }
  }

  cluster::Engine& engine;
  face::Lanes& lanes;
  const Clock& clock;
  account::Account& account;
  const ServiceOptions options;
  mutable ScramSecrets secrets;
  mutable Users users;
  query::Helpers* const query_helpers;           // null: there are none
  face::Forwarder* const forwarder;              // null in a server alone
  mutable face::ItemsAnywhere items;             // documents by their keys, at any node
  std::unique_ptr<cluster::RemoteViews> remote;  // null in a server alone
  mutable CursorStore cursors;
  mutable CursorPlaces far_cursors;  // those at other nodes that clients of this one have opened
  mutable WatchedNames watched;
  mutable Parking parking;
  mutable RetryMemory retries;
  mutable TransactionStore transactions;
  mutable SnapshotStore snapshots;
  mutable FailPoint fail_point;
  mutable std::atomic<int64_t> connections_open = 0;
  mutable std::atomic<int64_t> connections_made = 0;
  const int64_t started_us = clock.steady_us();
};

}  // namespace orrery::mongo
