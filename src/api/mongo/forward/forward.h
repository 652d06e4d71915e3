// Sending commands to the node that has what they concern, whole. See face/forward.h for the rules.
//
// A read is repeated when its answer was lost, but for getMore, whose cursor has moved. A write is
// asked for again at the node that it was sent to; when that is gone, one that its client may retry
// (a txnNumber) is run again at the next owner, where its note tells whether it was done.
//
// Threading: any thread; nothing but create_at_owner() blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "api/mongo/call.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/forward/hop.h"
#include "api/mongo/handler_context.h"
#include "face/forward.h"
#include "net/http.h"

namespace orrery::mongo {

// Makes a client's call one of a node among others. Nothing in a server alone.
void begin_hop(const HandlerContext& context, Call& call);

// Runs a call that was checked: at the node that has what it concerns, or by `run_here`.
using RunHere = std::function<void(CallPtr, const Command&)>;
void run_call(const HandlerContext& context, CallPtr call, const Command& command,
              const RunHere& run_here);

// A command that another node sent, with the connection that it came on there. Null: it cannot be
// decoded, and was answered.
struct Arrived {
  Message message;
  std::shared_ptr<ReplySink> sink;
  Connection* connection = nullptr;  // belongs to the sink
  std::unique_ptr<Hop> hop = nullptr;
};
std::optional<Arrived> take_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                                      net::Responder responder);

// Closes a cursor of this user's that is at another node, without waiting. False: none is known.
bool kill_far_cursor(const HandlerContext& context, const Call& call, int64_t id);

// Has the catalog's owner make a collection, if there is none, and waits until this node knows it.
// Blocks.
Status create_at_owner(const HandlerContext& context, std::string_view database,
                       std::string_view name);

}  // namespace orrery::mongo
