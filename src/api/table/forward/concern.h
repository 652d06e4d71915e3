// What a request concerns, and so which node is to run it: the catalog, if it changes something
// there; one partition, for a page of a query the one where it begins; or neither, when any node
// can answer it.
//
// A request with a mistake in it concerns nothing: the handler that runs it here says what is
// wrong.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <memory>

#include "api/table/handler_context.h"

namespace orrery::table {

struct Concern {
  bool catalog = false;
  std::shared_ptr<const cluster::Slot> slot = nullptr;  // null: not one partition
};

Concern concern_of(const HandlerContext& context, const Call& call);

}  // namespace orrery::table
