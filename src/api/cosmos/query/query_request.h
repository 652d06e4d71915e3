// The query of a request, as clients send it, and what its run begins with. Pure but for the clock
// and the seed that prepare() takes, and for the queries that each thread remembers: clients send
// the same few texts, with other parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/bind/bind.h"
#include "query/functions/context.h"
#include "query/parse/ast.h"
#include "value/value.h"

namespace orrery::cosmos {

// Where an ORDER BY is to start, told by its values: what .NET clients send when they go on from a
// token of their own.
struct ResumeFilter {
  std::vector<value::Value> values;  // of the ORDER BY expressions, undefined ones included
  bool exclude = false;              // whether rows with these values are left out
};

struct QueryRequest {
  std::string text;
  std::shared_ptr<const query::Query> parsed;
  query::Parameters parameters;
  std::optional<ResumeFilter> resume;
  std::shared_ptr<const Error> refused;  // by the service (service_rules.h); null: it is not
  uint64_t hash = 0;                     // of all of the above

  // Of what a continuation is bound to. That of an ORDER BY is a place in an order, which is the
  // same whatever the filter: clients go on with a narrower one.
  uint64_t identity() const;
};

// `body` is {"query":…,"parameters":[…],"resumeFilter":{…}}, or the bare text of a query.
Result<QueryRequest> parse_query_request(std::string_view body);

// The time of a query and the seed of its random numbers.
void prepare(query::Context& context);

}  // namespace orrery::cosmos
