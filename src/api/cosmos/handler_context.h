// What the handlers of this face share: the parts that the program lends, and the face's own keys
// and settings. There is one, in Service, and it outlives every call.
//
// A handler is a function of this and of one call, for one resource:
//   void handle_databases(const HandlerContext& context, CallPtr call);
// It runs on an event-loop thread and knows the methods of its resource. It answers at once, or
// hands the call over to the engine or to a thread that may block (later.h), where it is answered.
//
// Threading: immutable; what it refers to may be used by any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "account/account.h"
#include "api/cosmos/auth/resource_token.h"
#include "api/cosmos/query/service_rules.h"
#include "api/cosmos/wire/consistency.h"
#include "api/cosmos/wire/continuation.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "cluster/query/remote_views.h"
#include "face/face.h"
#include "face/forward.h"
#include "face/lanes.h"
#include "script/host.h"

namespace orrery::cosmos {

class Entra;  // auth/entra.h

struct ServiceOptions {
  Consistency consistency = Consistency::session;
  QueryRules query_rules = QueryRules::service;
  // Their databases are shown as FACE:NAME, so no own one may be named like that.
  std::vector<std::string> other_faces = {};
  bool in_development = false;             // tokens of the emulator's kind are taken
  std::shared_ptr<Entra> entra = nullptr;  // who may sign in by a token; null: nobody
};

struct HandlerContext {
  static std::unique_ptr<cluster::RemoteViews> remote_views_of(face::Forwarder* forwarder) {
    if (forwarder == nullptr || forwarder->calls() == nullptr) return nullptr;
    return std::make_unique<cluster::RemoteViews>(*forwarder->calls(), forwarder->placement());
  }
  HandlerContext(const face::Context& lent, const ServiceOptions& options_in)
      : engine(lent.engine),
        scripts(lent.scripts),
        account(lent.account),
        lanes(lent.lanes),
        clock(lent.clock),
        forwarder(lent.forwarder),
        remote_views(remote_views_of(lent.forwarder)),
        continuations(account.secret()),
        tokens(account.secret()),
        options(options_in),
        query_helpers(lent.query_helpers) {}

  cluster::Engine& engine;
  script::Host& scripts;
  account::Account& account;
  face::Lanes& lanes;
  const Clock& clock;
  face::Forwarder* const forwarder;  // null in a server alone
  // For queries over partitions of several nodes; null in a server alone.
  const std::unique_ptr<cluster::RemoteViews> remote_views;
  const Continuations continuations;
  const ResourceTokens tokens;
  const ServiceOptions options;
  // Where direct mode listens; 0: it is off. Set before the first call.
  uint16_t direct_port = 0;
  query::Helpers* const query_helpers;
};

}  // namespace orrery::cosmos
