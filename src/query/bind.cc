// See bind.h.
#include "query/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "query/evaluate.h"
#include "query/literal.h"
#include "query/parser.h"
#include "query/rank_clause.h"

namespace orrery::query {
namespace {

using value::Value;

template <class T>
using Bound = std::expected<T, SyntaxError>;

std::unexpected<SyntaxError> refuse(std::string_view code, const Span& span, std::string message) {
  return std::unexpected(syntax_error(code, span, std::move(message)));
}

Binary binary_of(Operator op) {
  static constexpr std::pair<Operator, Binary> kBinaries[] = {
      {Operator::coalesce, Binary::coalesce},
      {Operator::concat, Binary::concat},
      {Operator::bit_or, Binary::bit_or},
      {Operator::bit_xor, Binary::bit_xor},
      {Operator::bit_and, Binary::bit_and},
      {Operator::equal, Binary::equal},
      {Operator::not_equal, Binary::not_equal},
      {Operator::less, Binary::less},
      {Operator::less_equal, Binary::less_or_equal},
      {Operator::greater, Binary::greater},
      {Operator::greater_equal, Binary::greater_or_equal},
      {Operator::shift_left, Binary::shift_left},
      {Operator::shift_right, Binary::shift_right},
      {Operator::shift_right_zero, Binary::shift_right_unsigned},
      {Operator::add, Binary::add},
      {Operator::subtract, Binary::subtract},
      {Operator::multiply, Binary::multiply},
      {Operator::divide, Binary::divide},
      {Operator::modulo, Binary::modulo},
      {Operator::and_, Binary::logical_and},
      {Operator::or_, Binary::logical_or},
  };
  const auto* found = std::ranges::find(kBinaries, op, &std::pair<Operator, Binary>::first);
  assert(found != std::end(kBinaries));
  return found->second;
}

Unary unary_of(Operator op) {
  switch (op) {
    case Operator::minus:
      return Unary::minus;
    case Operator::bit_not:
      return Unary::bit_not;
    case Operator::not_:
      return Unary::logical_not;
    default:
      return Unary::plus;
  }
}

// One query's names; those of the outer queries are behind `outer`.
struct Scope {
  const Scope* outer = nullptr;
  std::vector<std::pair<std::string, uint32_t>> aliases;

  std::optional<uint32_t> find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      for (const auto& [alias, slot] : scope->aliases | std::views::reverse) {
        if (alias == name) return slot;
      }
    }
    return std::nullopt;
  }
};

class Binder {
 public:
  Binder(const Parameters& parameters, const ComputedProperties& computed, UserFunctions* functions,
         const VectorPaths& vectors)
      : parameters_(parameters), computed_(computed), functions_(functions), vectors_(vectors) {}

  Bound<std::shared_ptr<const BoundQuery>> query(const Query& query, const Scope* outer);

 private:
  // Where an expression stands decides what it may contain.
  struct Place {
    const Scope* scope;
    const Query* query;      // whose GROUP BY expressions are keys here; null inside aggregates
    BoundQuery* aggregates;  // where aggregates are collected; null: they are not allowed
  };

  Bound<BoundExpr> expr(const Expr& expr, const Place& place);
  // The query of the computed property that the expression names; null: it names none.
  const Query* computed(const Expr& expr, const Place& place) const;
  Bound<BoundExpr> call(const Expr& expr, const Place& place);
  void say_metric(const Expr& call, std::vector<BoundExpr>& arguments) const;
  Bound<BoundExpr> user_call(const Expr& expr, const Place& place);
  Bound<std::vector<BoundExpr>> children(const Expr& expr, const Place& place);
  Bound<BoundSource> source(const Source& source, Scope& scope);
  Bound<BoundRank> rank(const Query& query, const Scope& scope, const BoundQuery& bound);
  Bound<uint64_t> count(const Expr& expr, std::string_view what);
  static BoundExpr folded(BoundExpr bound);

  const Parameters& parameters_;
  const ComputedProperties& computed_;
  UserFunctions* const functions_;
  const VectorPaths& vectors_;
  size_t user_calls_ = 0;
  bool in_computed_ = false;  // where names are those of the item alone
  uint32_t slots_ = 0;
  std::optional<uint32_t> document_slot_;
};

// The identifier that a path starts with, or null.
const Expr* root_of(const Expr& expr) {
  const Expr* at = &expr;
  while (at->kind == ExprKind::member || at->kind == ExprKind::index) at = at->children[0].get();
  return at->kind == ExprKind::identifier ? at : nullptr;
}

// What a source or a selected expression is called when no alias is given.
std::string name_of_path(const Expr& expr) {
  if (expr.kind == ExprKind::identifier || expr.kind == ExprKind::member) return expr.text;
  return "";
}

// Whether an expression depends on a single row of a query with these sources, other than through
// that query's aggregates and keys.
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

// An expression all of whose parts are constant is computed once, here.
BoundExpr Binder::folded(BoundExpr bound) {
  switch (bound.kind) {
    case BoundKind::unary:
    case BoundKind::binary:
    case BoundKind::conditional:
    case BoundKind::in:
    case BoundKind::between:
    case BoundKind::array:
    case BoundKind::object:
      break;
    case BoundKind::call:
      if (bound.function->depends == Depends::arguments) break;
      return bound;
    default:
      return bound;
  }
  for (const BoundExpr& child : bound.children) {
    if (!child.is_constant()) return bound;
  }
  Context context;
  Frame frame(0, context);
  BoundExpr constant;
  constant.constant = evaluate(bound, frame).to_owned();
  return constant;
}

Bound<std::vector<BoundExpr>> Binder::children(const Expr& expr, const Place& place) {
  std::vector<BoundExpr> bound;
  bound.reserve(expr.children.size());
  for (const ExprPtr& child : expr.children) {
    auto one = this->expr(*child, place);
    if (!one) return std::unexpected(one.error());
    bound.push_back(std::move(*one));
  }
  return bound;
}

const Query* Binder::computed(const Expr& expr, const Place& place) const {
  if (in_computed_ || !document_slot_ || expr.kind != ExprKind::member) return nullptr;
  const Expr& owner = *expr.children[0];
  if (owner.kind != ExprKind::identifier || place.scope->find(owner.text) != document_slot_) {
    return nullptr;
  }
  auto found = computed_.find(expr.text);
  return found == computed_.end() ? nullptr : &found->second;
}

Bound<BoundExpr> Binder::call(const Expr& expr, const Place& place) {
  BoundExpr bound;
  if (auto aggregate = find_aggregate(expr.text)) {
    if (place.aggregates == nullptr) {
      return refuse(codes::kSyntax, expr.span,
                    fmt::format("Aggregate function '{}' is not allowed here: aggregates stand in "
                                "SELECT or ORDER BY, and not inside one another.",
                                expr.text));
    }
    if (expr.children.size() != 1) {
      return refuse(codes::kArgumentCount, expr.span,
                    fmt::format("The {} function requires 1 argument(s).", expr.text));
    }
    auto argument = this->expr(*expr.children[0], {place.scope, nullptr, nullptr});
    if (!argument) return argument;
    bound.kind = BoundKind::aggregate;
    bound.index = static_cast<uint32_t>(place.aggregates->aggregates.size());
    place.aggregates->aggregates.push_back({*aggregate, std::move(*argument)});
    return bound;
  }
  auto function = resolve_function(expr.text, expr.children.size());
  if (!function) return refuse(function.error().code, expr.span, function.error().message);
  auto arguments = children(expr, place);
  if (!arguments) return std::unexpected(arguments.error());
  bound.kind = BoundKind::call;
  bound.function = *function;
  bound.children = std::move(*arguments);
  if (is_vector_distance(expr)) say_metric(expr, bound.children);
  return folded(std::move(bound));
}

// Puts what the policy says where a query would say it, unless it does.
void Binder::say_metric(const Expr& call, std::vector<BoundExpr>& arguments) const {
  const auto metric = metric_by_policy(call, vectors_);
  if (!metric) return;
  const auto constant = [](Value value) {
    BoundExpr made;
    made.constant = std::move(value);
    return made;
  };
  if (arguments.size() < 3) arguments.push_back(constant(Value::make_bool(false)));
  if (arguments.size() < 4) arguments.push_back(constant(Value::make_object({})));
  const BoundExpr& options = arguments[3];
  const bool says = !options.is_constant() || !options.constant.is_object() ||
                    !options.constant.find("distanceFunction").is_undefined();
  if (says) return;
  arguments[3] = constant(
      Value::make_object({{.name = Value::make_string("distanceFunction"),
                           .value = Value::make_string(std::string(to_string(*metric)))}}));
}

Bound<BoundExpr> Binder::user_call(const Expr& expr, const Place& place) {
  if (++user_calls_ > kMaxUdfCalls) {
    return refuse(
        codes::kTooComplex, expr.span,
        fmt::format("The query calls more than {} user-defined functions.", kMaxUdfCalls));
  }
  const auto number = functions_ == nullptr ? std::nullopt : functions_->find(expr.text);
  if (!number) {
    return refuse(codes::kUnknownFunction, expr.span,
                  fmt::format("There is no user-defined function 'udf.{}' here.", expr.text));
  }
  auto arguments = children(expr, place);
  if (!arguments) return std::unexpected(arguments.error());
  BoundExpr bound;
  bound.kind = BoundKind::user_call;
  bound.index = *number;
  bound.children = std::move(*arguments);
  return bound;
}

Bound<BoundExpr> Binder::expr(const Expr& expr, const Place& place) {
  if (place.query != nullptr) {
    for (size_t i = 0; i < place.query->group_by.size(); ++i) {
      if (!same(expr, *place.query->group_by[i])) continue;
      BoundExpr key;
      key.kind = BoundKind::group_key;
      key.index = static_cast<uint32_t>(i);
      return key;
    }
  }
  if (const Query* property = computed(expr, place)) {
    const Source& from = *property->from;
    const Scope item{
        nullptr,
        {{from.alias.empty() ? name_of_path(*from.collection) : from.alias, *document_slot_}}};
    in_computed_ = true;
    auto worked_out = this->expr(*property->select.items[0].expr, {&item, nullptr, nullptr});
    in_computed_ = false;
    return worked_out;
  }
  BoundExpr bound;
  switch (expr.kind) {
    case ExprKind::literal:
      bound.constant = literal_value(expr).to_owned();  // outlives the tree
      return bound;
    case ExprKind::parameter: {
      auto found = parameters_.find(expr.text);
      if (found == parameters_.end()) {
        return refuse(codes::kUnknownIdentifier, expr.span,
                      fmt::format("The parameter '{}' is used in the query and is not among the "
                                  "parameters sent with it.",
                                  expr.text));
      }
      bound.constant = found->second;
      return bound;
    }
    case ExprKind::identifier: {
      auto slot = place.scope->find(expr.text);
      if (!slot) {
        return refuse(codes::kUnknownIdentifier, expr.span,
                      fmt::format("Identifier '{}' could not be resolved.", expr.text));
      }
      if (place.query != nullptr && place.aggregates != nullptr && !place.query->group_by.empty()) {
        return refuse(
            codes::kNotGrouped, expr.span,
            fmt::format("Property reference '{}' is invalid in the select list because it "
                        "is not contained in either an aggregate function or the GROUP BY "
                        "clause.",
                        expr.text));
      }
      bound.kind = BoundKind::slot;
      bound.index = *slot;
      return bound;
    }
    case ExprKind::call:
      return call(expr, place);
    case ExprKind::udf_call:
      return user_call(expr, place);
    case ExprKind::subquery: {
      auto inner = query(*expr.query, place.scope);
      if (!inner) return std::unexpected(inner.error());
      bound.kind = BoundKind::subquery;
      bound.subquery_kind = expr.subquery;
      bound.query = std::move(*inner);
      return bound;
    }
    case ExprKind::placeholder:
      return refuse(codes::kSyntax, expr.span,
                    fmt::format("'{}' is to be replaced by the client.", expr.text));
    default:
      break;
  }
  auto parts = children(expr, place);
  if (!parts) return std::unexpected(parts.error());
  bound.children = std::move(*parts);
  bound.negated = expr.negated;
  switch (expr.kind) {
    case ExprKind::member:
      bound.kind = BoundKind::member;
      bound.name = expr.text;
      return bound;
    case ExprKind::index:
      bound.kind = BoundKind::index;
      return bound;
    case ExprKind::unary:
      bound.kind = BoundKind::unary;
      bound.unary = unary_of(expr.op);
      return folded(std::move(bound));
    case ExprKind::binary:
      bound.kind = BoundKind::binary;
      bound.binary = binary_of(expr.op);
      return folded(std::move(bound));
    case ExprKind::logical: {
      // a AND b AND c as ((a AND b) AND c).
      BoundExpr left = std::move(bound.children[0]);
      for (size_t i = 1; i < bound.children.size(); ++i) {
        BoundExpr both;
        both.kind = BoundKind::binary;
        both.binary = binary_of(expr.op);
        both.children.push_back(std::move(left));
        both.children.push_back(std::move(bound.children[i]));
        left = folded(std::move(both));
      }
      return left;
    }
    case ExprKind::conditional:
      bound.kind = BoundKind::conditional;
      return folded(std::move(bound));
    case ExprKind::in:
      bound.kind = BoundKind::in;
      return folded(std::move(bound));
    case ExprKind::between:
      bound.kind = BoundKind::between;
      return folded(std::move(bound));
    case ExprKind::like: {
      bound.kind = BoundKind::like;
      const BoundExpr& pattern = bound.children[1];
      const bool escape_known = bound.children.size() < 3 || bound.children[2].is_constant();
      if (pattern.is_constant() && pattern.constant.is_string() && escape_known) {
        const Value escape =
            bound.children.size() < 3 ? Value::make_string("") : bound.children[2].constant;
        if (escape.is_string()) {
          bound.like = LikePattern::compile(pattern.constant.text(), escape.text());
        }
      }
      return bound;
    }
    case ExprKind::array:
      bound.kind = BoundKind::array;
      return folded(std::move(bound));
    case ExprKind::object:
      bound.kind = BoundKind::object;
      bound.names = expr.names;
      return folded(std::move(bound));
    default:
      return refuse(codes::kSyntax, expr.span, "This expression cannot be evaluated.");
  }
}

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
    return refuse(codes::kCountNotInteger, expr.span,
                  fmt::format("The {} count is not a whole number from 0 to 2147483647.", what));
  }
  return static_cast<uint64_t>(bound->constant.number());
}

Bound<BoundRank> Binder::rank(const Query& query, const Scope& scope, const BoundQuery& bound) {
  const Span& span = query.order_by[0].expr->span;
  const BoundQuery* derived = bound.derived();
  if (scope.outer != nullptr || !document_slot_ || (derived != nullptr && !derived->passes())) {
    return refuse(
        codes::kSyntax, span,
        "ORDER BY RANK sorts the rows of the container: it stands in the outermost query, "
        "over a FROM that does not group, sort or cut off.");
  }
  const auto clause = read_rank_clause(query, parameters_);
  if (!clause) return refuse(codes::kSyntax, clause.error().span, clause.error().message);
  BoundRank ranked;
  if (needs_statistics(*clause)) {
    auto statistics = bind_query(statistics_query(query, *clause), parameters_, computed_);
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

Bound<std::shared_ptr<const BoundQuery>> Binder::query(const Query& query, const Scope* outer) {
  auto bound = std::make_shared<BoundQuery>();
  Scope scope{outer, {}};
  if (query.from) {
    auto first = source(*query.from, scope);
    if (!first) return std::unexpected(first.error());
    bound->sources.push_back(std::move(*first));
  }
  for (const Source& join : query.joins) {
    auto next = source(join, scope);
    if (!next) return std::unexpected(next.error());
    bound->sources.push_back(std::move(*next));
  }
  if (query.where) {
    auto where = expr(*query.where, {&scope, nullptr, nullptr});
    if (!where) return std::unexpected(where.error());
    bound->where = std::move(*where);
  }
  for (const ExprPtr& key : query.group_by) {
    auto one = expr(*key, {&scope, nullptr, nullptr});
    if (!one) return std::unexpected(one.error());
    bound->group_by.push_back(std::move(*one));
  }
  const Place place{&scope, &query, bound.get()};
  bound->select = query.select.kind;
  bound->distinct = query.select.distinct;
  size_t unnamed = 0;
  for (const SelectItem& item : query.select.items) {
    auto one = expr(*item.expr, place);
    if (!one) return std::unexpected(one.error());
    std::string name = item.alias.empty() ? name_of_path(*item.expr) : item.alias;
    if (name.empty()) name = fmt::format("${}", ++unnamed);
    bound->items.emplace_back(std::move(name), std::move(*one));
  }
  if (query.order_by_rank) {
    auto ranked = rank(query, scope, *bound);
    if (!ranked) return std::unexpected(ranked.error());
    bound->rank = std::move(*ranked);
  }
  for (const OrderItem& item : query.order_by) {
    if (bound->rank) break;
    auto one = expr(*item.expr, place);
    if (!one) return std::unexpected(one.error());
    const bool descending = item.direction == Direction::unsaid && is_vector_distance(*item.expr)
                                ? nearest_is_largest(*item.expr, vectors_)
                                : item.direction == Direction::descending;
    bound->order_by.push_back({std::move(*one), descending});
  }
  if (query.select.kind == Select::Kind::star) {
    if (bound->sources.size() != 1) {
      return refuse(codes::kSyntax, query.select.star,
                    bound->sources.empty() ? "'SELECT *' is not valid if FROM clause is omitted."
                                           : "'SELECT *' is only valid with a single input set.");
    }
    if (bound->grouped()) {
      return refuse(codes::kStarWithGroupBy, query.select.star,
                    "'SELECT *' is not allowed with GROUP BY.");
    }
    bound->star_slot = bound->sources[0].slot;
  }
  if (query.select.top) {
    auto top = count(*query.select.top, "TOP");
    if (!top) return std::unexpected(top.error());
    bound->top = *top;
  }
  if (query.offset) {
    auto offset = count(*query.offset, "OFFSET");
    if (!offset) return std::unexpected(offset.error());
    bound->offset = *offset;
  }
  if (query.limit) {
    auto limit = count(*query.limit, "LIMIT");
    if (!limit) return std::unexpected(limit.error());
    bound->limit = *limit;
  }
  if (bound->grouped()) {
    for (const auto& [name, one] : bound->items) {
      if (!reads_row(one, bound->sources)) continue;
      return refuse(codes::kNotGrouped, query.span,
                    fmt::format("'{}' is invalid in the select list because it is not contained in "
                                "either an aggregate function or the GROUP BY clause.",
                                name));
    }
    for (size_t i = 0; i < bound->order_by.size(); ++i) {
      if (!reads_row(bound->order_by[i].expr, bound->sources)) continue;
      return refuse(codes::kNotGrouped, query.order_by[i].expr->span,
                    "Groups can be sorted by what is in the GROUP BY clause and by aggregates.");
    }
  }
  bound->slots = slots_;
  bound->document_slot = document_slot_;
  return bound;
}

}  // namespace

std::expected<std::shared_ptr<const BoundQuery>, SyntaxError> bind_query(
    const Query& query, const Parameters& parameters, const ComputedProperties& computed,
    UserFunctions* functions, const VectorPaths& vectors) {
  return Binder(parameters, computed, functions, vectors).query(query, nullptr);
}

}  // namespace orrery::query
