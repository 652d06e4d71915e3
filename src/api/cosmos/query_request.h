// The query of a request, as clients send it, and what its run begins with. Pure but for the clock
// and the seed that prepare() takes, and for the queries that each thread remembers: clients send
// the same few texts, with other parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/ast.h"
#include "query/bind.h"
#include "query/functions/context.h"

namespace orrery::cosmos {

struct QueryRequest {
  std::string text;
  std::shared_ptr<const query::Query> parsed;
  query::Parameters parameters;
  uint64_t hash = 0;  // of the text and the parameters
};

// `body` is {"query":…,"parameters":[…]}, or the bare text of a query.
Result<QueryRequest> parse_query_request(std::string_view body);

// The time of a query and the seed of its random numbers.
void prepare(query::Context& context);

}  // namespace orrery::cosmos
