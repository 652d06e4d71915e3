// What a command concerns, and so which node is to run it: the catalog, if it changes or tells
// something of that; one partition; a cursor, which is where it was opened; or several partitions
// or none, when the node that was asked runs it and reads and writes what lies elsewhere
// (documents/document_view.h, face/items_anywhere.h).
//
// A command with a mistake in it concerns nothing: the node that was asked says what is wrong.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "api/mongo/call.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/handler_context.h"

namespace orrery::mongo {

struct Concern {
  bool catalog = false;
  std::shared_ptr<const cluster::Slot> slot = nullptr;  // null: not one partition
  int64_t cursor = 0;                                   // 0: none
  bool changes = false;  // it is a read by its name, and ends with writes
};

Concern concern_of(const HandlerContext& context, const Call& call, const Command& command);

}  // namespace orrery::mongo
