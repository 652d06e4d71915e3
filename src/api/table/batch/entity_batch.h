// Entity group transactions: POST $batch. Up to 100 changes of entities of one PartitionKey, all or
// nothing; or one query that stands alone. multipart.h has the form of the body.
#pragma once

#include "api/table/handler_context.h"

namespace orrery::table {

void handle_batch(const HandlerContext& context, CallPtr call);

}  // namespace orrery::table
