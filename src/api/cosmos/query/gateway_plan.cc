// Making the plan: see gateway_plan.h.
//
// TOP and OFFSET LIMIT stay in the query of a partition where its first rows include all that can
// be among the first rows of the whole. Where rows must be merged first (aggregates, GROUP BY,
// DISTINCT) they do not, so the clauses are removed from it.
#include "api/cosmos/query/gateway_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/cosmos/query/gateway_plan_parts.h"
#include "query/parse/printer.h"

namespace orrery::cosmos {

namespace {

using query::Aggregate;
using query::Expr;
using query::ExprKind;
using query::ExprPtr;
using query::Layout;
using query::make_identifier;
using query::make_number;
using query::Operator;
using query::OrderItem;
using query::Parameters;
using query::Query;
using query::Select;
using query::SelectItem;

using gateway::Counts;

// {"item": expr}
ExprPtr item_of(ExprPtr expr) {
  std::vector<std::pair<std::string, ExprPtr>> members;
  members.emplace_back("item", std::move(expr));
  return make_object(std::move(members));
}

ExprPtr items_of(const std::vector<const Expr*>& exprs) {
  std::vector<ExprPtr> elements;
  elements.reserve(exprs.size());
  for (const Expr* expr : exprs) elements.push_back(item_of(expr->clone()));
  return make_array(std::move(elements));
}

ExprPtr call_on(std::string name, const Expr& argument) {
  std::vector<ExprPtr> arguments;
  arguments.push_back(argument.clone());
  return make_call(std::move(name), std::move(arguments));
}

// What a partition gives for an aggregate, so that the parts can be put together.
ExprPtr partial_result(const Expr& call, Aggregate aggregate) {
  std::vector<std::pair<std::string, ExprPtr>> members;
  const Expr& argument = *call.children[0];
  if (aggregate == Aggregate::average) {
    members.emplace_back("sum", call_on("SUM", argument));
    members.emplace_back("count", call_on("COUNT", argument));
    return item_of(make_object(std::move(members)));
  }
  if (aggregate != Aggregate::min && aggregate != Aggregate::max) return item_of(call.clone());
  members.emplace_back(aggregate == Aggregate::min ? "min" : "max", call.clone());
  members.emplace_back("count", call_on("COUNT", argument));
  std::vector<std::pair<std::string, ExprPtr>> whole;
  whole.emplace_back("item", call.clone());
  whole.emplace_back("item2", make_object(std::move(members)));
  return make_object(std::move(whole));
}

void remove_counts(Query& query) {
  query.select.top.reset();
  query.offset.reset();
  query.limit.reset();
}

SelectItem as(ExprPtr expr, std::string alias) {
  return {.expr = std::move(expr), .alias = std::move(alias)};
}

// Aggregates and GROUP BY.
void plan_groups(const Query& query, QueryInfo& info) {
  Query rewritten = query.clone();
  remove_counts(rewritten);
  rewritten.select.distinct = false;
  rewritten.select.items.clear();
  std::vector<const Expr*> keys;
  for (const auto& expr : query.group_by) {
    keys.push_back(expr.get());
    info.group_by_expressions.push_back(to_text(*expr));
  }

  ExprPtr payload;
  if (query.select.kind == Select::Kind::value) {
    const Expr& expr = *query.select.items[0].expr;
    if (const auto aggregate = aggregate_of(expr)) {
      info.aggregates.push_back(*aggregate);
      std::vector<ExprPtr> elements;
      elements.push_back(partial_result(expr, *aggregate));
      payload = make_array(std::move(elements));
    } else {
      payload = expr.clone();
    }
  } else {
    info.group_by_aliases = gateway::names_of(query.select);
    std::vector<std::pair<std::string, ExprPtr>> members;
    for (size_t i = 0; i < query.select.items.size(); ++i) {
      const Expr& expr = *query.select.items[i].expr;
      const std::string& name = info.group_by_aliases[i];
      const auto aggregate = aggregate_of(expr);
      info.group_by_aggregates.emplace_back(name, aggregate);
      members.emplace_back(name, aggregate ? partial_result(expr, *aggregate) : expr.clone());
    }
    payload = make_object(std::move(members));
  }

  if (!keys.empty()) {
    rewritten.select.kind = Select::Kind::list;
    rewritten.select.items.push_back(as(items_of(keys), "groupByItems"));
    rewritten.select.items.push_back(as(std::move(payload), "payload"));
  } else if (query.select.kind == Select::Kind::value) {
    rewritten.select.items.push_back(as(std::move(payload), ""));
  } else {
    rewritten.select.items.push_back(as(std::move(payload), "payload"));
  }
  info.rewritten_query = to_text(rewritten, Layout::clauses);
}

// Whether rows that show the same come one after the other.
bool sorts_by_what_it_shows(const Query& query) {
  std::vector<const Expr*> shown;
  for (const auto& item : query.select.items) {
    const auto is_it = [&item](const Expr* expr) { return same(*expr, *item.expr); };
    if (!std::ranges::any_of(shown, is_it)) shown.push_back(item.expr.get());
    if (query.order_by.size() < shown.size()) return false;
  }
  if (shown.empty()) return false;
  return std::ranges::all_of(shown, [&](const Expr* expr) {
    const auto end = query.order_by.begin() + static_cast<std::ptrdiff_t>(shown.size());
    return std::any_of(query.order_by.begin(), end,
                       [expr](const OrderItem& item) { return same(*item.expr, *expr); });
  });
}

void keep_first(Query& query, const Counts& counts) {
  if (!counts.offset) return;
  query.offset = make_number(0);
  query.limit = make_number(static_cast<double>(*counts.offset + *counts.limit));
}

void plan_order(const Query& query, const Counts& counts, const PlanContext& context,
                QueryInfo& info) {
  Query rewritten = query.clone();
  rewritten.select.distinct = false;
  if (query.select.distinct) {
    remove_counts(rewritten);
  } else {
    keep_first(rewritten, counts);
  }
  std::vector<const Expr*> keys;
  for (const OrderItem& item : query.order_by) {
    keys.push_back(item.expr.get());
    info.order_by.push_back(gateway::order_of(*item.expr, item.direction, context));
    info.order_by_expressions.push_back(to_text(*item.expr));
    if (is_vector_distance(*item.expr)) info.has_non_streaming_order_by = true;
  }
  rewritten.select.kind = Select::Kind::list;
  rewritten.select.items.clear();
  rewritten.select.items.push_back(as(make_member(make_identifier(root_alias(query)), "_rid"), ""));
  rewritten.select.items.push_back(as(items_of(keys), "orderByItems"));
  rewritten.select.items.push_back(as(gateway::payload_of(query), "payload"));

  rewritten.where = gateway::with_filter(std::move(rewritten.where));
  if (query.select.kind == Select::Kind::value) {
    // A row that shows nothing is none, but this one would still have its _rid.
    std::vector<ExprPtr> operands;
    operands.push_back(std::move(rewritten.where));
    operands.push_back(call_on("IS_DEFINED", *query.select.items[0].expr));
    rewritten.where = make_logical(Operator::and_, std::move(operands));
  }
  info.rewritten_query = to_text(rewritten, Layout::clauses);
}

// SELECT COUNT(1) FROM (SELECT DISTINCT …): the inner query, or null.
const Query* counted_distinct(const Query& query) {
  if (!query.from || query.from->iterates || !query.joins.empty() || query.where ||
      !query.group_by.empty() || !query.order_by.empty() || query.select.items.size() != 1) {
    return nullptr;
  }
  const Expr& source = *query.from->collection;
  const Expr& shown = *query.select.items[0].expr;
  if (source.kind != ExprKind::subquery || aggregate_of(shown) != Aggregate::count) return nullptr;
  const Expr& counted = *shown.children[0];
  const bool counts_rows =
      (counted.kind == ExprKind::literal && counted.type != value::Type::undefined) ||
      (counted.kind == ExprKind::identifier && counted.text == query.from->alias);
  const Query& inner = *source.query;
  const bool is_plain = inner.select.distinct && !inner.select.top && !inner.offset &&
                        inner.order_by.empty() && inner.group_by.empty() &&
                        !has_aggregate(inner.select) && inner.from &&
                        inner.from->collection->kind != ExprKind::subquery;
  return counts_rows && is_plain ? &inner : nullptr;
}

DistinctType distinct_of(const Query& query) {
  if (!query.select.distinct) return DistinctType::none;
  return sorts_by_what_it_shows(query) ? DistinctType::ordered : DistinctType::unordered;
}

// Rows as they come from the partitions, one after the other.
void plan_rows(const Query& query, const Counts& counts, GatewayPlan& plan) {
  QueryInfo& info = plan.info;
  // One partition counts its rows itself.
  const bool asks_one =
      plan.ranges.empty() || (plan.ranges.size() == 1 && plan.ranges[0].is_point());
  if (asks_one) {
    info.offset.reset();
    info.limit.reset();
    if (!query.from) info.top.reset();
  } else if (query.offset) {
    Query rewritten = query.clone();
    keep_first(rewritten, counts);
    info.rewritten_query = to_text(rewritten, Layout::clauses);
  }
}

// Of a query that is no hybrid search; after the plan's ranges.
void plan_info(const Query& query, const Counts& counts, const PlanContext& context,
               GatewayPlan& plan) {
  QueryInfo& info = plan.info;
  info.has_select_value = query.select.kind == Select::Kind::value;
  info.top = counts.top;
  info.offset = counts.offset;
  info.limit = counts.limit;
  if (const Query* inner = counted_distinct(query)) {
    info.distinct = DistinctType::unordered;
    info.distinct_count_alias =
        info.has_select_value ? "" : gateway::names_of(query.select).front();
    info.rewritten_query = to_text(*inner, Layout::clauses);
    return;
  }
  info.distinct = distinct_of(query);
  if (!query.group_by.empty() || has_aggregate(query.select)) return plan_groups(query, info);
  if (!query.order_by.empty()) return plan_order(query, counts, context, info);
  if (!query.select.distinct) return plan_rows(query, counts, plan);
  if (!query.select.top && !query.offset) return;
  Query rewritten = query.clone();
  remove_counts(rewritten);
  info.rewritten_query = to_text(rewritten, Layout::clauses);
}

}  // namespace

Result<GatewayPlan> make_gateway_plan(const Query& query, const PlanContext& context,
                                      const Parameters& parameters) {
  if (Status status = gateway::check(query); !status) return pass(status.error());
  const auto counts = gateway::read_counts(query, parameters);
  if (!counts) return pass(counts.error());
  if (counts->top && counts->limit) {
    // Clients would take TOP first and skip afterwards; it says no more than a smaller LIMIT does.
    Query without_top = query.clone();
    without_top.select.top.reset();
    without_top.limit = make_number(static_cast<double>(std::min(*counts->top, *counts->limit)));
    return make_gateway_plan(without_top, context, parameters);
  }

  GatewayPlan plan;
  plan.ranges =
      query::in_effective_keys(touched_ranges(query, context.key, parameters), context.key);
  if (query.order_by_rank) {
    auto hybrid = gateway::make_hybrid(query, *counts, context, parameters);
    if (!hybrid) return pass(hybrid.error());
    plan.hybrid = std::move(*hybrid);
    return plan;
  }

  plan_info(query, *counts, context, plan);
  return plan;
}

bool can_concatenate(const Query& query) {
  if (!query.from) return false;
  const Expr& source = *query.from->collection;
  const bool source_can = source.kind != ExprKind::subquery || can_concatenate(*source.query);
  return source_can && !query.select.top && !query.offset && !query.select.distinct &&
         query.order_by.empty() && query.group_by.empty() && !has_aggregate(query.select);
}

}  // namespace orrery::cosmos
