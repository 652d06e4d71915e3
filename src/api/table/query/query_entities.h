// Queries over the entities of a table: GET t()?$filter=…
#pragma once

#include "api/table/handler_context.h"

namespace orrery::table {

void handle_query(const HandlerContext& context, CallPtr call);

// The answer to a query that stands alone in a batch, by the batch's grant. Blocks.
struct QueryAnswer {
  std::string headers;  // complete lines
  std::string body;
  Metadata level = Metadata::minimal;
};
TableResult<QueryAnswer> answer_query(const HandlerContext& context, Call& call,
                                      const Address& address, const QueryParameters& parameters,
                                      std::string_view accept);
// The same of one entity by its keys.
TableResult<QueryAnswer> answer_point(const HandlerContext& context, Call& call,
                                      const Address& address, const QueryParameters& parameters,
                                      std::string_view accept);

}  // namespace orrery::table
