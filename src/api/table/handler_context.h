// What the handlers of this face share. There is one, in Service, and it outlives every call.
//
// A handler is a function of this and of one call, for one resource. It runs on an event-loop
// thread, and answers at once or hands the call over to the engine or to a thread that may block.
//
// Threading: immutable; what it refers to may be used by any thread.
#pragma once

#include <memory>

#include "account/account.h"
#include "api/table/accounts.h"
#include "api/table/call.h"
#include "api/table/entities/entity_write.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "face/face.h"
#include "face/lanes.h"

namespace orrery::table {

// What new tables are like: docs/decisions/0028-two-flavours-of-tables.md.
enum class Flavour : uint8_t {
  storage,  // entities in the order of their keys; over budget is 503 ServerBusy
  cosmos,   // placed by the hash of PartitionKey; over budget is 429
};

struct ServiceOptions {
  bool in_development = false;
  Flavour flavour = Flavour::storage;
};

struct HandlerContext {
  HandlerContext(const face::Context& lent, const ServiceOptions& options_in)
      : engine(lent.engine),
        lanes(lent.lanes),
        clock(lent.clock),
        forwarder(lent.forwarder),
        options(options_in),
        accounts(lent.account, lent.engine, options_in.in_development),
        timestamps(std::make_shared<const Timestamps>(lent.clock)) {}

  cluster::Engine& engine;
  face::Lanes& lanes;
  const Clock& clock;
  face::Forwarder* const forwarder;  // null in a server alone
  const ServiceOptions options;
  const AccountBook accounts;
  const std::shared_ptr<const Timestamps> timestamps;
};

using Handler = void (*)(const HandlerContext& context, CallPtr call);
using CallJob = face::WaitingCall<Call>::Job;

// On a thread that may block. `share`: the container's number, or 0.
inline void later(const HandlerContext& context, CallPtr call, face::Lane lane, uint64_t share,
                  CallJob job) {
  context.lanes.submit(lane, share,
                       std::make_unique<face::WaitingCall<Call>>(std::move(call), std::move(job)));
}
inline void later(const HandlerContext& context, CallPtr call, face::Lane lane, Handler handler) {
  later(context, std::move(call), lane, 0,
        [&context, handler](CallPtr running) { handler(context, std::move(running)); });
}

}  // namespace orrery::table
