// See index_plan.h.
#include "query/plan/index_plan.h"

#include "query/plan/index_planner.h"

namespace orrery::query {

IndexPlan plan_index_use(const BoundQuery& query, const value::IndexPolicy& policy,
                         Context& context) {
  const BoundQuery* reader = &query;
  while (const BoundQuery* derived = reader->derived()) reader = derived;
  IndexPlan plan;
  plan.value_order = policy.definition().order;
  if (!reader->document_slot) {
    plan.filter = everything(false);
    return plan;
  }
  IndexPlanner planner(policy, context);
  plan.filter = planner.rows_of(*reader);
  plan.order = planner.order_of(*reader);
  if (reader == &query) plan.only = planner.only_of(query, plan.filter);
  plan.missing = planner.missing();
  // With JOIN an item has several rows, or none: that the item passes does not tell which rows do.
  if (reader->sources.size() != 1 || reader->sources[0].kind != BoundSource::Kind::document) {
    plan.filter.is_exact = false;
  }
  return plan;
}

}  // namespace orrery::query
