// The query of a request as clients send it, and the clock and random seed that it runs with. Pure,
// except that prepare() reads the clock and a seed, and that each thread caches parsed queries:
// clients send the same few texts with different parameters.
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

// The order values at which an ORDER BY is to resume: .NET clients send them with a token of their
// own.
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

  // The hash that a continuation is bound to. For ORDER BY it leaves out the filter: the
  // continuation is a position in an order, which does not depend on the filter, and clients resume
  // with a narrower one.
  uint64_t identity() const;
};

// `body` is {"query":…,"parameters":[…],"resumeFilter":{…}}, or the bare text of a query.
Result<QueryRequest> parse_query_request(std::string_view body);

// The time of a query and the seed of its random numbers.
void prepare(query::Context& context);

}  // namespace orrery::cosmos
