// See bind.h. Here: queries and their clauses.
#include "query/bind/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "query/bind/binder.h"
#include "query/bind/rank_clause.h"
#include "query/evaluate/evaluate.h"

namespace orrery::query {
namespace {

// The identifier that a path starts with, or null.
const Expr* root_of(const Expr& expr) {
  const Expr* at = &expr;
  while (at->kind == ExprKind::member || at->kind == ExprKind::index) at = at->children[0].get();
  return at->kind == ExprKind::identifier ? at : nullptr;
}

// Whether an expression depends on a single row of a query with these sources. Aggregates and group
// keys of that query do not count.
bool reads_row(const BoundExpr& expr, const std::vector<BoundSource>& sources);

bool reads_row(const BoundQuery& inner, const std::vector<BoundSource>& sources) {
  const auto reads = [&](const BoundExpr& expr) { return reads_row(expr, sources); };
  return std::ranges::any_of(inner.sources, reads, &BoundSource::collection) ||
         (inner.where && reads(*inner.where)) || std::ranges::any_of(inner.group_by, reads) ||
         std::ranges::any_of(inner.aggregates, reads, &BoundAggregate::argument) ||
         std::ranges::any_of(inner.order_by, reads, &BoundOrder::expr) ||
         std::ranges::any_of(inner.items, [&](const auto& item) { return reads(item.second); });
}

bool reads_row(const BoundExpr& expr, const std::vector<BoundSource>& sources) {
  if (expr.kind == BoundKind::slot) {
    return std::ranges::find(sources, expr.index, &BoundSource::slot) != sources.end();
  }
  if (expr.query && reads_row(*expr.query, sources)) return true;
  return std::ranges::any_of(expr.children,
                             [&](const BoundExpr& child) { return reads_row(child, sources); });
}

// SELECT *: the source that it shows.
Bound<void> bind_star(const Query& query, BoundQuery& bound) {
  if (query.select.kind != Select::Kind::star) return {};
  if (bound.sources.size() != 1) {
    return refuse(QueryFault::syntax, query.select.star,
                  bound.sources.empty() ? "'SELECT *' is not valid if FROM clause is omitted."
                                        : "'SELECT *' is only valid with a single input set.");
  }
  if (bound.grouped()) {
    return refuse(QueryFault::star_with_group_by, query.select.star,
                  "'SELECT *' is not allowed with GROUP BY.");
  }
  bound.star_slot = bound.sources[0].slot;
  return {};
}

// A query with groups shows and sorts by nothing that its rows differ in.
Bound<void> check_grouped(const Query& query, const BoundQuery& bound) {
  if (!bound.grouped()) return {};
  for (const auto& [name, one] : bound.items) {
    if (!reads_row(one, bound.sources)) continue;
    return refuse(QueryFault::not_grouped, query.span,
                  fmt::format("'{}' is invalid in the select list because it is not contained in "
                              "either an aggregate function or the GROUP BY clause.",
                              name));
  }
  for (size_t i = 0; i < bound.order_by.size(); ++i) {
    if (!reads_row(bound.order_by[i].expr, bound.sources)) continue;
    return refuse(QueryFault::not_grouped, query.order_by[i].expr->span,
                  "Groups can be sorted by what is in the GROUP BY clause and by aggregates.");
  }
  return {};
}

}  // namespace

Bound<BoundSource> Binder::source(const Source& source, Scope& scope) {
  BoundSource bound;
  const Expr& collection = *source.collection;
  std::string alias = source.alias.empty() ? name_of_path(collection) : source.alias;
  const Expr* root = root_of(collection);
  if (!document_slot_ && root != nullptr && !scope.find(root->text)) {
    // The first source: its root is the container, by whatever name.
    const uint32_t document_slot = slots_++;
    document_slot_ = document_slot;
    if (root == &collection && !source.iterates) {
      bound.kind = BoundSource::Kind::document;
      bound.slot = document_slot;
      scope.aliases.emplace_back(std::move(alias), document_slot);
      return bound;
    }
    Scope with_container{&scope, {{root->text, document_slot}}};
    auto path = expr(collection, {&with_container, nullptr, nullptr});
    if (!path) return std::unexpected(path.error());
    bound.collection = std::move(*path);
  } else if (collection.kind == ExprKind::subquery) {
    const bool container_known = document_slot_.has_value();
    auto inner = query(*collection.query, &scope);
    if (!inner) return std::unexpected(inner.error());
    bound.kind = BoundSource::Kind::rows;
    bound.of_container = !container_known && document_slot_.has_value();
    bound.of_elements = source.iterates;
    bound.collection.kind = BoundKind::subquery;
    bound.collection.query = std::move(*inner);
    bound.slot = slots_++;
    scope.aliases.emplace_back(std::move(alias), bound.slot);
    return bound;
  } else {
    auto path = expr(collection, {&scope, nullptr, nullptr});
    if (!path) return std::unexpected(path.error());
    bound.collection = std::move(*path);
  }
  bound.kind = source.iterates ? BoundSource::Kind::elements : BoundSource::Kind::value;
  bound.slot = slots_++;
  scope.aliases.emplace_back(std::move(alias), bound.slot);
  return bound;
}

Bound<uint64_t> Binder::count(const Expr& expr, std::string_view what) {
  Scope none;
  auto bound = this->expr(expr, {&none, nullptr, nullptr});
  if (!bound) return std::unexpected(bound.error());
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  if (!bound->is_constant() || !bound->constant.is_number() || bound->constant.number() < 0 ||
      bound->constant.number() > kMost ||
      bound->constant.number() != std::floor(bound->constant.number())) {
    return refuse(QueryFault::count_not_integer, expr.span,
                  fmt::format("The {} count is not a whole number from 0 to 2147483647.", what));
  }
  return static_cast<uint64_t>(bound->constant.number());
}

Bound<BoundRank> Binder::rank(const Query& query, const Scope& scope, const BoundQuery& bound) {
  const Span& span = query.order_by[0].expr->span;
  const BoundQuery* derived = bound.derived();
  if (scope.outer != nullptr || !document_slot_ || (derived != nullptr && !derived->passes())) {
    return refuse(
        QueryFault::syntax, span,
        "ORDER BY RANK sorts the rows of the container: it stands in the outermost query, "
        "over a FROM that does not group, sort or cut off.");
  }
  const auto clause = read_rank_clause(query, parameters_);
  if (!clause) return refuse(QueryFault::syntax, clause.error().span, clause.error().message);
  BoundRank ranked;
  if (needs_statistics(*clause)) {
    auto statistics = bind_query(statistics_query(query, *clause), parameters_, computed_, nullptr,
                                 {}, &context_, order_);
    if (!statistics) return std::unexpected(statistics.error());
    ranked.statistics = std::move(*statistics);
  }
  for (size_t i = 0; i < clause->scores.size(); ++i) {
    const RankScore& score = clause->scores[i];
    const ExprPtr call = score.is_text()
                             ? text_score_call(score, make_null(), make_null(), make_null())
                             : score.distance->clone();
    auto one = expr(*call, {&scope, nullptr, nullptr});
    if (!one) return std::unexpected(one.error());
    ranked.scores.push_back({.expr = std::move(*one),
                             .is_text = score.is_text(),
                             .weight = clause->weights.empty() ? 1 : clause->weights[i]});
  }
  return ranked;
}

Bound<void> Binder::rows_clauses(const Query& query, Scope& scope, BoundQuery& bound) {
  if (query.from) {
    auto first = source(*query.from, scope);
    if (!first) return std::unexpected(first.error());
    bound.sources.push_back(std::move(*first));
  }
  for (const Source& join : query.joins) {
    auto next = source(join, scope);
    if (!next) return std::unexpected(next.error());
    bound.sources.push_back(std::move(*next));
  }
  if (query.where) {
    auto where = expr(*query.where, {&scope, nullptr, nullptr});
    if (!where) return std::unexpected(where.error());
    bound.where = std::move(*where);
  }
  for (const ExprPtr& key : query.group_by) {
    auto one = expr(*key, {&scope, nullptr, nullptr});
    if (!one) return std::unexpected(one.error());
    bound.group_by.push_back(std::move(*one));
  }
  return {};
}

Bound<void> Binder::select_clause(const Query& query, const Scope& scope, BoundQuery& bound) {
  bound.select = query.select.kind;
  bound.distinct = query.select.distinct;
  size_t unnamed = 0;
  for (const SelectItem& item : query.select.items) {
    auto one = expr(*item.expr, {&scope, &query, &bound});
    if (!one) return std::unexpected(one.error());
    std::string name = item.alias.empty() ? name_of_path(*item.expr) : item.alias;
    if (name.empty()) name = fmt::format("${}", ++unnamed);
    bound.items.emplace_back(std::move(name), std::move(*one));
  }
  return {};
}

Bound<void> Binder::order_clause(const Query& query, const Scope& scope, BoundQuery& bound) {
  if (query.order_by_rank) {
    auto ranked = rank(query, scope, bound);
    if (!ranked) return std::unexpected(ranked.error());
    bound.rank = std::move(*ranked);
    return {};
  }
  for (const OrderItem& item : query.order_by) {
    auto one = expr(*item.expr, {&scope, &query, &bound});
    if (!one) return std::unexpected(one.error());
    const bool descending = item.direction == Direction::unsaid && is_vector_distance(*item.expr)
                                ? nearest_is_largest(*item.expr, vectors_)
                                : item.direction == Direction::descending;
    bound.order_by.push_back({std::move(*one), descending});
  }
  return {};
}

Bound<void> Binder::limit_clauses(const Query& query, BoundQuery& bound) {
  const auto set = [this](const ExprPtr& expr, std::string_view what,
                          std::optional<uint64_t>& out) -> Bound<void> {
    if (!expr) return {};
    auto rows = count(*expr, what);
    if (!rows) return std::unexpected(rows.error());
    out = *rows;
    return {};
  };
  if (auto top = set(query.select.top, "TOP", bound.top); !top) return top;
  if (auto offset = set(query.offset, "OFFSET", bound.offset); !offset) return offset;
  return set(query.limit, "LIMIT", bound.limit);
}

Bound<std::shared_ptr<const BoundQuery>> Binder::query(const Query& query, const Scope* outer) {
  auto bound = std::make_shared<BoundQuery>();
  bound->value_order = order_;
  Scope scope{outer, {}};
  if (auto rows = rows_clauses(query, scope, *bound); !rows) return std::unexpected(rows.error());
  if (auto select = select_clause(query, scope, *bound); !select) {
    return std::unexpected(select.error());
  }
  if (auto order = order_clause(query, scope, *bound); !order) {
    return std::unexpected(order.error());
  }
  if (auto star = bind_star(query, *bound); !star) return std::unexpected(star.error());
  if (auto limits = limit_clauses(query, *bound); !limits) return std::unexpected(limits.error());
  // All rows are one group: there is nothing to sort.
  if (bound->grouped() && bound->group_by.empty()) bound->order_by.clear();
  if (auto grouped = check_grouped(query, *bound); !grouped) {
    return std::unexpected(grouped.error());
  }
  bound->slots = slots_;
  bound->document_slot = document_slot_;
  return bound;
}

std::expected<std::shared_ptr<const BoundQuery>, SyntaxError> bind_query(
    const Query& query, const Parameters& parameters, const ComputedProperties& computed,
    UserFunctions* functions, const VectorPaths& vectors, Context* context,
    value::ValueOrder order) {
  Context own;
  Context& folding = context != nullptr ? *context : own;
  auto bound =
      Binder(parameters, computed, functions, vectors, folding, order).query(query, nullptr);
  if (bound && folding.failed) {
    return refuse(QueryFault::too_complex, query.span, folding.failed->message);
  }
  if (bound && folding.budget.is_over()) {
    return refuse(QueryFault::too_complex, query.span, std::string(kConstantsTooLarge));
  }
  return bound;
}

}  // namespace orrery::query
