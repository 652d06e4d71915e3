// See ast_forms.h.
#include "query/parse/ast_forms.h"

#include <algorithm>

namespace orrery::query {

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

}  // namespace orrery::query
