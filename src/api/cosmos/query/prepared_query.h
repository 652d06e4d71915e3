// Prepares the text of a query for running over a container: parses it, checks it by the service's
// rules, and binds it. For requests and for scripts alike.
//
// Threading: one thread at a time. It may hold a script worker: it lives for one page.
#pragma once

#include <memory>
#include <string_view>

#include "api/cosmos/query/container_functions.h"
#include "api/cosmos/query/container_settings.h"
#include "api/cosmos/query/query_request.h"
#include "api/cosmos/query/service_rules.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "cluster/routing.h"
#include "query/bind/bind.h"
#include "query/evaluate/evaluate.h"
#include "query/run/page.h"
#include "script/host.h"

namespace orrery::cosmos {

class PreparedQuery {
 public:
  // All of these outlive it.
  PreparedQuery(script::Host& host, const catalog::Catalog& catalog,
                const cluster::Routing& routing);

  // Parses and checks. Code::invalid with the service's words where its rules refuse it.
  Status parse(std::string_view body, QueryRules rules);
  // Binds the query. Constants are folded within the time of the limits. After parse().
  Status bind(const query::PageLimits& limits);

  const QueryRequest& request() const { return request_; }
  const query::BoundQuery& bound() const { return *bound_; }
  query::Context& context() { return context_; }
  // Whether it calls user-defined functions, which run in another process.
  bool uses_scripts() const { return functions_.is_used(); }

 private:
  const cluster::Routing& routing_;
  ContainerFunctions functions_;
  QueryRequest request_;
  const ContainerSettings* settings_ = nullptr;  // the routing's
  query::Context context_;
  std::shared_ptr<const query::BoundQuery> bound_;
};

}  // namespace orrery::cosmos
