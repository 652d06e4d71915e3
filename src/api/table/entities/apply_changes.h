// Applies changes to entities of one partition of a table: one by itself, or several as one
// transaction, all or nothing.
//
// Runs on an event-loop thread as long as what has to be read before is in memory, and on a thread
// of the reads otherwise. `answer` is called once, on any thread.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "api/table/entities/entity_write.h"
#include "api/table/handler_context.h"
#include "cluster/replies.h"

namespace orrery::table {

struct Applied {
  std::vector<EntityChange> changes;  // as they were given; their entities may be gone
  std::optional<TableError> error;
  std::optional<size_t> failed;  // the change that it is about
  std::vector<partition::Written> written;
  cluster::Receipt receipt;
};
using AppliedAnswer = std::move_only_function<void(CallPtr, Applied)>;

// At least one change; all have the same PartitionKey.
void apply_changes(const HandlerContext& context, CallPtr call, cluster::RoutingPtr routing,
                   std::vector<EntityChange> changes, AppliedAnswer answer);

}  // namespace orrery::table
