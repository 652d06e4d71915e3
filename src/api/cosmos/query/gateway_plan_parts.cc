// See gateway_plan_parts.h.
#include "api/cosmos/query/gateway_plan_parts.h"

#include <algorithm>
#include <utility>

namespace orrery::cosmos::gateway {

using query::Direction;
using query::Expr;
using query::ExprKind;
using query::ExprPtr;
using query::make_identifier;
using query::make_placeholder;
using query::Operator;
using query::Query;
using query::Select;
using query::SelectItem;

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

}  // namespace orrery::cosmos::gateway
