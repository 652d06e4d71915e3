// Expressions: see binder.h.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "query/bind/binder.h"
#include "query/evaluate/evaluate.h"
#include "query/parse/literal.h"
#include "query/parse/parser.h"

namespace orrery::query {
namespace {

using value::Value;

constexpr uint64_t kStepsOfExpression = 16;

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

// The number of the GROUP BY expression that this one is.
std::optional<uint32_t> group_key(const Expr& expr, const Query& query) {
  for (size_t i = 0; i < query.group_by.size(); ++i) {
    if (same(expr, *query.group_by[i])) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

// IN: its constants are searched by halves.
void find_members(BoundExpr& in) {
  for (size_t i = 1; i < in.children.size(); ++i) {
    if (in.children[i].is_constant()) in.members.push_back(in.children[i].constant);
  }
  std::ranges::sort(in.members);
}

// LIKE: a constant pattern is compiled once.
void compile_pattern(BoundExpr& like) {
  const BoundExpr& pattern = like.children[1];
  const bool escape_known = like.children.size() < 3 || like.children[2].is_constant();
  if (!pattern.is_constant() || !pattern.constant.is_string() || !escape_known) return;
  const Value escape =
      like.children.size() < 3 ? Value::make_string("") : like.children[2].constant;
  if (escape.is_string()) {
    like.like = LikePattern::compile(pattern.constant.text(), escape.text());
  }
}

}  // namespace

// An expression all of whose parts are constant is computed once, here.
BoundExpr Binder::folded(BoundExpr bound) {
  switch (bound.kind) {
    case BoundKind::unary:
    case BoundKind::binary:
    case BoundKind::logical:
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
  Frame frame(0, context_);
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
      return refuse(QueryFault::syntax, expr.span,
                    fmt::format("Aggregate function '{}' is not allowed here: aggregates stand in "
                                "SELECT or ORDER BY, and not inside one another.",
                                expr.text));
    }
    if (expr.children.size() != 1) {
      return refuse(QueryFault::argument_count, expr.span,
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
  if (!function) return refuse(function.error().fault, expr.span, function.error().message);
  auto arguments = children(expr, place);
  if (!arguments) return std::unexpected(arguments.error());
  bound.kind = BoundKind::call;
  bound.function = *function;
  bound.children = std::move(*arguments);
  if (is_vector_distance(expr)) say_metric(expr, vectors_, bound.children);
  return folded(std::move(bound));
}

Bound<BoundExpr> Binder::user_call(const Expr& expr, const Place& place) {
  if (++user_calls_ > kMaxUdfCalls) {
    return refuse(
        QueryFault::too_complex, expr.span,
        fmt::format("The query calls more than {} user-defined functions.", kMaxUdfCalls));
  }
  const auto number = functions_ == nullptr ? std::nullopt : functions_->find(expr.text);
  if (!number) {
    return refuse(QueryFault::unknown_function, expr.span,
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

Bound<BoundExpr> Binder::computed_value(const Query& property) {
  const Source& from = *property.from;
  const Scope item{
      nullptr,
      {{from.alias.empty() ? name_of_path(*from.collection) : from.alias, *document_slot_}}};
  in_computed_ = true;
  auto bound = expr(*property.select.items[0].expr, {&item, nullptr, nullptr});
  in_computed_ = false;
  return bound;
}

Bound<BoundExpr> Binder::parameter(const Expr& expr) const {
  auto found = parameters_.find(expr.text);
  if (found == parameters_.end()) {
    return refuse(QueryFault::unknown_name, expr.span,
                  fmt::format("The parameter '{}' is used in the query and is not among the "
                              "parameters sent with it.",
                              expr.text));
  }
  BoundExpr bound;
  bound.constant = found->second;
  return bound;
}

Bound<BoundExpr> Binder::identifier(const Expr& expr, const Place& place) const {
  auto slot = place.scope->find(expr.text);
  if (!slot) {
    return refuse(QueryFault::unknown_name, expr.span,
                  fmt::format("Identifier '{}' could not be resolved.", expr.text));
  }
  if (place.query != nullptr && place.aggregates != nullptr && !place.query->group_by.empty()) {
    return refuse(QueryFault::not_grouped, expr.span,
                  fmt::format("Property reference '{}' is invalid in the select list because it "
                              "is not contained in either an aggregate function or the GROUP BY "
                              "clause.",
                              expr.text));
  }
  BoundExpr bound;
  bound.kind = BoundKind::slot;
  bound.index = *slot;
  return bound;
}

Bound<BoundExpr> Binder::subquery(const Expr& expr, const Place& place) {
  auto inner = query(*expr.query, place.scope);
  if (!inner) return std::unexpected(inner.error());
  BoundExpr bound;
  bound.kind = BoundKind::subquery;
  bound.subquery_kind = expr.subquery;
  bound.query = std::move(*inner);
  return bound;
}

Bound<BoundExpr> Binder::compound(const Expr& expr, const Place& place) {
  auto parts = children(expr, place);
  if (!parts) return std::unexpected(parts.error());
  BoundExpr bound;
  bound.children = std::move(*parts);
  bound.negated = expr.negated;
  switch (expr.kind) {
    case ExprKind::member:
      bound.kind = BoundKind::member;
      bound.name = expr.text;
      break;
    case ExprKind::index:
      bound.kind = BoundKind::index;
      break;
    case ExprKind::unary:
      bound.kind = BoundKind::unary;
      bound.unary = unary_of(expr.op);
      break;
    case ExprKind::binary:
      bound.kind = BoundKind::binary;
      bound.binary = binary_of(expr.op);
      break;
    case ExprKind::logical:
      bound.kind = BoundKind::logical;
      bound.binary = binary_of(expr.op);
      break;
    case ExprKind::conditional:
      bound.kind = BoundKind::conditional;
      break;
    case ExprKind::in:
      bound.kind = BoundKind::in;
      find_members(bound);
      break;
    case ExprKind::between:
      bound.kind = BoundKind::between;
      break;
    case ExprKind::like:
      bound.kind = BoundKind::like;
      compile_pattern(bound);
      break;
    case ExprKind::array:
      bound.kind = BoundKind::array;
      break;
    case ExprKind::object:
      bound.kind = BoundKind::object;
      bound.names = expr.names;
      break;
    default:
      return refuse(QueryFault::syntax, expr.span, "This expression cannot be evaluated.");
  }
  return folded(std::move(bound));
}

Bound<BoundExpr> Binder::expr(const Expr& expr, const Place& place) {
  if (context_.budget.spend(kStepsOfExpression)) {
    return refuse(QueryFault::too_complex, expr.span,
                  context_.failed ? context_.failed->message : std::string(kConstantsTooLarge));
  }
  BoundExpr bound;
  if (const auto key = place.query == nullptr ? std::nullopt : group_key(expr, *place.query)) {
    bound.kind = BoundKind::group_key;
    bound.index = *key;
    return bound;
  }
  if (const Query* property = computed(expr, place)) return computed_value(*property);
  switch (expr.kind) {
    case ExprKind::literal:
      bound.constant = literal_value(expr).to_owned();  // outlives the tree
      return bound;
    case ExprKind::parameter:
      return parameter(expr);
    case ExprKind::identifier:
      return identifier(expr, place);
    case ExprKind::call:
      return call(expr, place);
    case ExprKind::udf_call:
      return user_call(expr, place);
    case ExprKind::subquery:
      return subquery(expr, place);
    case ExprKind::placeholder:
      return refuse(QueryFault::syntax, expr.span,
                    fmt::format("'{}' is to be replaced by the client.", expr.text));
    default:
      return compound(expr, place);
  }
}

}  // namespace orrery::query
