// See prepared_query.h.
#include "api/cosmos/query/prepared_query.h"

#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/wire/query_error.h"

namespace orrery::cosmos {

PreparedQuery::PreparedQuery(script::Host& host, const catalog::Catalog& catalog,
                             const cluster::Routing& routing)
    : routing_(routing),
      functions_(host, catalog, is_own(*routing.database) ? routing.container->number : 0) {}

Status PreparedQuery::parse(std::string_view body, QueryRules rules) {
  auto request = parse_query_request(body);
  if (!request) return pass(request.error());
  request_ = std::move(*request);
  auto settings = settings_of(routing_);
  if (!settings) return pass(settings.error());
  settings_ = *settings;
  if (rules != QueryRules::service) return {};
  if (request_.refused) return pass(*request_.refused);
  if (!is_own(*routing_.database)) return {};  // its index is not used
  return check_order_is_indexed(*request_.parsed, routing_.schema->index, settings_->computed);
}

Status PreparedQuery::bind(const query::PageLimits& limits) {
  prepare(context_);
  context_.functions = &functions_;
  context_.budget.start(
      {.stop = limits.stop, .free_steps = limits.free_steps, .bytes = query::kEvaluationBytesMax});
  auto bound = query::bind_query(*request_.parsed, request_.parameters, settings_->computed,
                                 &functions_, settings_->vectors, &context_);
  if (!bound) return pass(query_error(bound.error()));
  bound_ = std::move(*bound);
  return {};
}

}  // namespace orrery::cosmos
