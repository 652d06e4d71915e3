// What a request concerns, and so which node is to run it: the catalog, if it changes something
// there; one partition; or neither, when any node can answer it by its own copy of the catalog, or
// when it is about several partitions and is divided where it is run.
//
// A request with a mistake in it concerns nothing: the handler that runs it here says what is
// wrong.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <memory>

#include "api/cosmos/call.h"
#include "api/cosmos/handler_context.h"

namespace orrery::cosmos {

struct Concern {
  bool catalog = false;
  std::shared_ptr<const cluster::Slot> slot = nullptr;  // null: not one partition
};

Concern concern_of(const HandlerContext& context, const Call& call);

}  // namespace orrery::cosmos
