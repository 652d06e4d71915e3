// Queries over the entities of a table: GET t()?$filter=…
#pragma once

#include "api/table/handler_context.h"

namespace orrery::table {

// Where a page begins: the placement key of the first entity that it can have. Nothing when the
// parameters are wrong, or nothing can match.
std::optional<std::string> place_of_page(const QueryParameters& parameters, const KeyRange& granted,
                                         const value::KeyDefinition& key);

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
