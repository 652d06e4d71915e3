// See gateway_plan_parts.h.
#include "query/gateway_plan_parts.h"

#include <algorithm>
#include <utility>

namespace orrery::query::gateway {

bool is_call(const Expr& expr, std::string_view upper_name) {
  return expr.kind == ExprKind::call &&
         std::ranges::equal(expr.text, upper_name, [](char a, char b) {
           return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
         });
}

std::optional<Aggregate> aggregate_of(const Expr& expr) {
  if (expr.kind != ExprKind::call) return std::nullopt;
  return find_aggregate(expr.text);
}

bool has_aggregate(const Expr& expr) {
  return aggregate_of(expr).has_value() ||
         std::ranges::any_of(expr.children,
                             [](const ExprPtr& child) { return has_aggregate(*child); });
}

bool has_aggregate(const Select& select) {
  return std::ranges::any_of(select.items,
                             [](const SelectItem& item) { return has_aggregate(*item.expr); });
}

bool is_path(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::identifier:
      return true;
    case ExprKind::member:
    case ExprKind::index:
      return is_path(*expr.children[0]);
    default:
      return false;
  }
}

std::string root_alias(const Query& query) {
  if (!query.from) return "root";
  if (!query.from->alias.empty()) return query.from->alias;
  const Expr& last = *query.from->collection;
  const bool names_itself = last.kind == ExprKind::identifier || last.kind == ExprKind::member;
  return names_itself ? last.text : "root";
}

std::vector<std::string> names_of(const Select& select) {
  std::vector<std::string> names;
  size_t unnamed = 0;
  for (const SelectItem& item : select.items) {
    const Expr& expr = *item.expr;
    if (!item.alias.empty()) {
      names.push_back(item.alias);
    } else if (expr.kind == ExprKind::identifier || expr.kind == ExprKind::member) {
      names.push_back(expr.text);
    } else {
      names.push_back("$" + std::to_string(++unnamed));
    }
  }
  return names;
}

ExprPtr payload_of(const Query& query) {
  switch (query.select.kind) {
    case Select::Kind::star:
      return make_identifier(root_alias(query));
    case Select::Kind::value:
      return query.select.items[0].expr->clone();
    case Select::Kind::list:
      break;
  }
  std::vector<std::string> names = names_of(query.select);
  std::vector<std::pair<std::string, ExprPtr>> members;
  for (size_t i = 0; i < names.size(); ++i) {
    members.emplace_back(std::move(names[i]), query.select.items[i].expr->clone());
  }
  return make_object(std::move(members));
}

ExprPtr with_filter(ExprPtr where) {
  std::vector<ExprPtr> operands;
  if (where) operands.push_back(std::move(where));
  operands.push_back(make_placeholder(std::string(kFilter)));
  return make_logical(Operator::and_, std::move(operands));
}

SortOrder order_of(const Expr& expr, Direction direction, const PlanContext& context) {
  if (direction == Direction::descending) return SortOrder::descending;
  if (direction == Direction::ascending || !is_vector_distance(expr)) return SortOrder::ascending;
  return nearest_is_largest(expr, context.vectors) ? SortOrder::descending : SortOrder::ascending;
}

}  // namespace orrery::query::gateway
