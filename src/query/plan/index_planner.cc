// See index_planner.h and index_plan.h.
#include "query/plan/index_planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "query/evaluate/evaluate.h"

namespace orrery::query {
namespace {

using value::Type;
using value::Value;

// Steps for making a range of terms and sorting it in among the others.
constexpr uint64_t kStepsOfTerm = 64;

bool is_order(Binary operation) {
  return operation == Binary::less || operation == Binary::less_or_equal ||
         operation == Binary::greater || operation == Binary::greater_or_equal;
}

bool is_comparison(Binary operation) {
  return is_order(operation) || operation == Binary::equal || operation == Binary::not_equal;
}

Binary opposite(Binary operation) {
  switch (operation) {
    case Binary::equal:
      return Binary::not_equal;
    case Binary::not_equal:
      return Binary::equal;
    case Binary::less:
      return Binary::greater_or_equal;
    case Binary::less_or_equal:
      return Binary::greater;
    case Binary::greater:
      return Binary::less_or_equal;
    default:
      return Binary::less;
  }
}

// a < b as b > a.
Binary mirrored(Binary operation) {
  switch (operation) {
    case Binary::less:
      return Binary::greater;
    case Binary::less_or_equal:
      return Binary::greater_or_equal;
    case Binary::greater:
      return Binary::less;
    case Binary::greater_or_equal:
      return Binary::less_or_equal;
    default:
      return operation;
  }
}

TermRanges compared(const PathTerms& terms, Binary operation, const Value& constant, bool wanted) {
  // Comparing with NaN is false for every number, and so is the opposite comparison.
  if (is_order(operation) && constant.is_number() && std::isnan(constant.number())) {
    return wanted ? TermRanges{} : terms.of_type(Type::number);
  }
  TermRanges found = terms.compared(wanted ? operation : opposite(operation), constant);
  // A comparison with a NaN that an item holds is false as well.
  if (wanted || !is_order(operation) || !constant.is_number()) return found;
  TermRanges nan = terms.not_a_number();
  return nan.ranges.empty() ? found : union_of({std::move(found), std::move(nan)});
}

// A row variable, or a path that starts at one.
bool is_path(const BoundExpr& expr) {
  if (expr.kind == BoundKind::slot) return true;
  if (expr.kind == BoundKind::index && !expr.children[1].is_constant()) return false;
  return (expr.kind == BoundKind::member || expr.kind == BoundKind::index) &&
         is_path(expr.children[0]);
}

// Visits the paths in an expression. False when a visit returns false, and when the expression
// depends on more than the values at its paths.
template <class Visit>
bool each_path(const BoundExpr& expr, const Visit& visit) {
  if (is_path(expr)) return visit(expr);
  switch (expr.kind) {
    case BoundKind::call:
      if (expr.function->depends == Depends::row) return false;
      break;
    case BoundKind::user_call:
    case BoundKind::subquery:
    case BoundKind::aggregate:
    case BoundKind::group_key:
      return false;
    default:
      break;
  }
  return std::ranges::all_of(expr.children,
                             [&](const BoundExpr& child) { return each_path(child, visit); });
}

}  // namespace

std::optional<Value> IndexPlanner::constant_of(const BoundExpr& expr) {
  if (expr.is_constant()) return expr.constant;
  if (!each_path(expr, [](const BoundExpr&) { return false; })) return std::nullopt;
  Frame frame(0, context_);
  return evaluate(expr, frame).to_owned();
}

std::optional<PathRef> IndexPlanner::path_of(const BoundExpr& expr) const {
  switch (expr.kind) {
    case BoundKind::slot:
      return expr.index < slots_.size() ? slots_[expr.index] : std::nullopt;
    case BoundKind::member: {
      auto ref = path_of(expr.children[0]);
      if (!ref) return std::nullopt;
      ref->path.steps.push_back({.name = expr.name, .array = false});
      ref->is_defined = false;
      return ref;
    }
    case BoundKind::index: {
      const BoundExpr& subscript = expr.children[1];
      auto ref = path_of(expr.children[0]);
      if (!ref || !subscript.is_constant()) return std::nullopt;
      if (subscript.constant.is_string()) {
        ref->path.steps.push_back({.name = std::string(subscript.constant.text()), .array = false});
      } else {
        ref->path.steps.push_back({.name = "", .array = true});
        ref->variable = IndexNode::kAny;
        ref->is_exact = false;
      }
      ref->is_defined = false;
      return ref;
    }
    default:
      return std::nullopt;
  }
}

std::optional<PathRef> IndexPlanner::indexed_path(const BoundExpr& expr) {
  auto ref = path_of(expr);
  return ref && has_entries(*ref) ? ref : std::nullopt;
}

bool IndexPlanner::has_entries(const PathRef& ref) {
  if (policy_.covers(ref.path)) return true;
  const bool is_new =
      !ref.path.steps.empty() && missing_terms_.insert(value::term_path(ref.path)).second;
  if (is_new) missing_.push_back(ref.path);
  return false;
}

IndexNode IndexPlanner::lacking(const PathRef& ref) const {
  if (ref.is_defined) return nothing();
  if (ref.variable != IndexNode::kOnly || !policy_.has_shapes()) return everything(false);
  IndexNode node;
  node.kind = IndexNode::Kind::lacking;
  node.is_exact = true;
  node.path = ref.path;
  return node;
}

std::optional<Value> IndexPlanner::fixed_value(const BoundExpr& filter, const value::Path& path) {
  if (filter.kind == BoundKind::logical && filter.binary == Binary::logical_and) {
    for (const BoundExpr& part : filter.children) {
      if (auto value = fixed_value(part, path)) return value;
    }
    return std::nullopt;
  }
  if (filter.kind != BoundKind::binary || filter.binary != Binary::equal) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const auto ref = path_of(filter.children[side]);
    if (!ref || ref->variable != IndexNode::kOnly || ref->path != path) continue;
    auto value = constant_of(filter.children[1 - side]);
    if (!value || value->is_undefined() || value->is_array() || value->is_object()) continue;
    std::string term;
    value::append_term_value(term, *value, policy_.definition().order);
    if (value::is_cut_term_value(term)) continue;
    if (value->is_number() && std::isnan(value->number())) continue;
    return value;
  }
  return std::nullopt;
}

std::optional<IndexOrder> IndexPlanner::by_composite(const BoundQuery& query,
                                                     const IndexOrder& order,
                                                     const value::CompositeIndex& composite) {
  if (composite.parts.size() < order.keys.size()) return std::nullopt;
  const size_t before = composite.parts.size() - order.keys.size();
  IndexOrder served = order;
  served.composite = composite;
  served.is_backwards = composite.parts[before].descending != order.keys[0].descending;
  for (size_t i = 0; i < order.keys.size(); ++i) {
    const value::CompositeIndex::Part& part = composite.parts[before + i];
    const bool is_backwards = part.descending != order.keys[i].descending;
    if (part.path != order.keys[i].path || is_backwards != served.is_backwards) {
      return std::nullopt;
    }
  }
  for (const value::CompositeIndex::Part& part : composite.parts) {
    auto value = query.where ? fixed_value(*query.where, part.path) : std::nullopt;
    if (!value) break;
    served.fixed.push_back(std::move(*value));
  }
  return served.fixed.size() >= before ? std::optional(std::move(served)) : std::nullopt;
}

std::optional<IndexOrder> IndexPlanner::order_of(const BoundQuery& query) {
  if (query.order_by.empty() || query.grouped()) return std::nullopt;
  if (query.value_order != policy_.definition().order) return std::nullopt;
  IndexOrder order;
  for (const BoundOrder& one : query.order_by) {
    auto ref = path_of(one.expr);
    if (!ref || ref->variable != IndexNode::kOnly) return std::nullopt;
    order.keys.push_back({.path = std::move(ref->path), .descending = one.descending});
  }
  // The more parts of a composite index are fixed, the fewer entries are scanned.
  std::optional<IndexOrder> best;
  for (const value::CompositeIndex& composite : policy_.definition().composites) {
    auto served = by_composite(query, order, composite);
    if (served && (!best || served->fixed.size() > best->fixed.size())) best = std::move(served);
  }
  if (best) return best;
  const bool is_single = order.keys.size() == 1 && policy_.has_shapes();
  if (!is_single || !indexed_path(query.order_by.front().expr)) return std::nullopt;
  return order;
}

std::optional<IndexOnly> IndexPlanner::only_of(const BoundQuery& query, const IndexNode& filter) {
  const bool is_of_items =
      query.sources.size() == 1 && query.sources[0].kind == BoundSource::Kind::document;
  // DISTINCT with a limit can stop early, which an index-only scan cannot.
  const bool sees_all = query.grouped() || (query.distinct && !query.most() && !query.offset);
  if (!is_of_items || !sees_all || !query.order_by.empty() || query.select == Select::Kind::star) {
    return std::nullopt;
  }
  IndexOnly only{.path = {}, .has_shapes = policy_.has_shapes()};
  const auto take = [&](const BoundExpr& part) {
    const auto ref = path_of(part);
    if (!ref || ref->variable != IndexNode::kOnly || !has_entries(*ref)) return false;
    if (only.path && *only.path != ref->path) return false;
    only.path = ref->path;
    return true;
  };
  // The results of a group depend on its keys and aggregates alone.
  if (!query.grouped()) {
    for (const auto& [name, expr] : query.items) {
      if (!each_path(expr, take)) return std::nullopt;
    }
  }
  for (const BoundExpr& expr : query.group_by) {
    if (!each_path(expr, take)) return std::nullopt;
  }
  bool is_extremes = query.group_by.empty() && !query.distinct;
  for (const BoundAggregate& one : query.aggregates) {
    const bool is_extreme = one.aggregate == Aggregate::min || one.aggregate == Aggregate::max;
    is_extremes = is_extremes && is_extreme && path_of(one.argument);
    // Lists are in the order in which items come.
    const bool is_list =
        one.aggregate == Aggregate::make_list || one.aggregate == Aggregate::make_set;
    if (is_list) return std::nullopt;
    // COUNT(c): an item is always there.
    if (one.aggregate == Aggregate::count && one.argument.kind == BoundKind::slot) continue;
    if (!each_path(one.argument, take)) return std::nullopt;
  }
  if (query.where) {
    const std::optional<value::Path> of_rows = only.path;
    // Entries of array elements or of cells do not hold the value at the path itself.
    const bool is_of_parts =
        filter.kind == IndexNode::Kind::ranges && filter.variable != IndexNode::kOnly;
    only.filter_is_exact = !each_path(*query.where, take) || is_of_parts;
    if (only.filter_is_exact) only.path = of_rows;
    if (only.filter_is_exact && !filter.is_exact) return std::nullopt;
  }
  // With a test or a filter on another path, the first entry may be that of an item which does not
  // pass.
  only.is_extremes =
      is_extremes && only.path && !only.filter_is_exact &&
      (!query.where || (filter.is_exact && !filter.test && filter.kind == IndexNode::Kind::ranges));
  return only;
}

IndexNode IndexPlanner::plan(const BoundExpr& expr, bool wanted) {
  // Once the budget is used up the plan does not matter: the query ends before it reads anything.
  if (context_.budget.spend(kStepsOfTerm)) return everything(false);
  switch (expr.kind) {
    case BoundKind::constant:
      return expr.constant.is_bool() && expr.constant.boolean() == wanted ? everything(true)
                                                                          : nothing();
    case BoundKind::slot:
    case BoundKind::member:
    case BoundKind::index:
      if (const auto ref = indexed_path(expr)) {
        const PathTerms terms = terms_of(ref->path);
        return in_ranges(*ref, terms.compared(Binary::equal, Value::make_bool(wanted)));
      }
      return everything(false);
    case BoundKind::unary:
      if (expr.unary == Unary::logical_not) return plan(expr.children[0], !wanted);
      return nothing();  // a number is neither true nor false
    case BoundKind::binary:
      return is_comparison(expr.binary) ? plan_comparison(expr, wanted) : plan_test(expr, wanted);
    case BoundKind::logical:
      return plan_logical(expr, wanted);
    case BoundKind::in:
      return plan_in(expr, wanted != expr.negated);
    case BoundKind::between:
      return plan_between(expr, wanted != expr.negated);
    case BoundKind::like:
      return plan_like(expr, wanted);
    case BoundKind::call:
      return plan_call(expr, wanted);
    case BoundKind::subquery:
      if (expr.subquery_kind == SubqueryKind::exists && wanted) return plan_exists(*expr.query);
      return everything(false);
    default:
      return plan_test(expr, wanted);
  }
}

IndexNode IndexPlanner::plan_logical(const BoundExpr& expr, bool wanted) {
  std::vector<IndexNode> parts;
  parts.reserve(expr.children.size());
  for (const BoundExpr& child : expr.children) parts.push_back(plan(child, wanted));
  // Not (a and b) is: not a, or not b.
  const bool is_and = expr.binary == Binary::logical_and;
  return is_and == wanted ? all_of(std::move(parts)) : any_of(std::move(parts));
}

IndexNode IndexPlanner::plan_comparison(const BoundExpr& expr, bool wanted) {
  for (const size_t side : {0, 1}) {
    const auto constant = constant_of(expr.children[1 - side]);
    if (!constant) continue;
    const Binary operation = side == 0 ? expr.binary : mirrored(expr.binary);
    const BoundExpr& compared_to = expr.children[side];
    if (compared_to.kind == BoundKind::call && compared_to.function->name == "ST_DISTANCE") {
      const Binary asked = wanted ? operation : opposite(operation);
      const bool is_near = asked == Binary::less || asked == Binary::less_or_equal;
      if (!is_near || !constant->is_number()) break;
      return plan_spatial(compared_to, constant->number());
    }
    const auto ref = indexed_path(compared_to);
    if (!ref) continue;
    return in_ranges(*ref, compared(terms_of(ref->path), operation, *constant, wanted));
  }
  return plan_test(expr, wanted);
}

IndexNode IndexPlanner::plan_in(const BoundExpr& expr, bool wanted) {
  const auto ref = indexed_path(expr.children[0]);
  if (!ref) return plan_test(expr, wanted != expr.negated);
  const PathTerms terms = terms_of(ref->path);
  std::vector<TermRanges> points;
  points.reserve(expr.children.size() - 1);
  for (size_t i = 1; i < expr.children.size(); ++i) {
    const auto constant = constant_of(expr.children[i]);
    if (!constant) return everything(false);
    points.push_back(terms.compared(Binary::equal, *constant));
    if (context_.budget.spend(kStepsOfTerm)) return everything(false);
  }
  TermRanges found = union_of(std::move(points));
  return in_ranges(*ref, wanted ? std::move(found) : without(terms.all(), found));
}

IndexNode IndexPlanner::plan_between(const BoundExpr& expr, bool wanted) {
  const auto ref = indexed_path(expr.children[0]);
  const auto low = constant_of(expr.children[1]);
  const auto high = constant_of(expr.children[2]);
  if (!ref || !low || !high) return plan_test(expr, wanted != expr.negated);
  const PathTerms terms = terms_of(ref->path);
  const TermRanges from = compared(terms, Binary::greater_or_equal, *low, wanted);
  const TermRanges to = compared(terms, Binary::less_or_equal, *high, wanted);
  return in_ranges(*ref, wanted ? both(from, to) : union_of({from, to}));
}

IndexNode IndexPlanner::plan_like(const BoundExpr& expr, bool wanted) {
  const auto ref = indexed_path(expr.children[0]);
  if (!ref || !expr.like) return plan_test(expr, wanted);
  const PathTerms terms = terms_of(ref->path);
  const LikePattern& like = *expr.like;
  const TermRanges strings = terms.of_type(Type::string);
  const bool matching = wanted != expr.negated;
  if (like.is_exact() || like.is_prefix_only()) {
    TermRanges found = like.is_exact()
                           ? terms.compared(Binary::equal, Value::make_string(like.prefix()))
                           : terms.starting_with(like.prefix());
    return in_ranges(*ref, matching ? std::move(found) : without(strings, found));
  }
  return plan_test(expr, wanted, matching ? terms.starting_with(like.prefix()) : strings);
}

IndexNode IndexPlanner::plan_test(const BoundExpr& expr, bool wanted,
                                  const std::optional<TermRanges>& ranges) {
  std::optional<PathRef> only;
  size_t seen = 0;
  const bool computable = each_path(expr, [&](const BoundExpr& part) {
    auto ref = path_of(part);
    if (!ref) return false;
    const bool same = !only || (only->variable == ref->variable && only->path == ref->path);
    only = std::move(ref);
    // Two elements of one array have the same path, and not the same value.
    return same && (++seen == 1 || only->variable != IndexNode::kAny);
  });
  if (!computable) return everything(false);
  if (!only) {
    Frame frame(0, context_);
    const Value result = evaluate(expr, frame);
    return result.is_bool() && result.boolean() == wanted ? everything(true) : nothing();
  }
  if (!has_entries(*only)) return everything(false);

  // The value takes the place of its path.
  const auto substitute = [](const auto& self, const BoundExpr& from) -> BoundExpr {
    BoundExpr made;
    if (is_path(from)) {
      made.kind = BoundKind::slot;
      return made;
    }
    made = from;
    for (BoundExpr& child : made.children) child = self(self, child);
    return made;
  };
  auto test = std::make_shared<TermTest>();
  test->expr = substitute(substitute, expr);
  test->wanted = wanted;
  Frame frame(1, context_);
  const Value of_undefined = evaluate(test->expr, frame);

  IndexNode found = in_ranges(*only, ranges ? *ranges : terms_of(only->path).all());
  found.test = std::move(test);
  found.is_exact = only->is_exact;
  if (!of_undefined.is_bool() || of_undefined.boolean() != wanted) return found;
  std::vector<IndexNode> either_way;
  either_way.push_back(std::move(found));
  either_way.push_back(lacking(*only));
  return any_of(std::move(either_way));
}

}  // namespace orrery::query
