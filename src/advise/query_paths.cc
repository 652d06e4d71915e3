// See query_paths.h.
#include "advise/query_paths.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "query/parse/ast_forms.h"
#include "query/parse/printer.h"

namespace orrery::advise {
namespace {

using query::Expr;
using query::ExprKind;
using query::Operator;

// The property that the expression names, if it is one of the item's: c.a.b, c["a"].
std::optional<value::Path> property_path(const Expr& expr, std::string_view root) {
  value::Path path;
  const Expr* at = &expr;
  while (at->kind == ExprKind::member) {
    path.steps.push_back({.name = at->text});
    at = at->children.front().get();
  }
  if (at->kind != ExprKind::identifier || at->text != root || path.steps.empty()) {
    return std::nullopt;
  }
  std::ranges::reverse(path.steps);
  return path;
}

bool is_value(const Expr& expr) {
  return expr.kind == ExprKind::literal || expr.kind == ExprKind::parameter ||
         (expr.kind == ExprKind::unary && is_value(*expr.children.front()));
}

bool is_range(Operator op) {
  return op == Operator::less || op == Operator::less_equal || op == Operator::greater ||
         op == Operator::greater_equal;
}

void add_range(std::vector<QueryPaths::Use>& uses, value::Path path, const Expr* bound) {
  const auto same = std::ranges::find(uses, path, &QueryPaths::Use::path);
  if (same != uses.end()) {
    same->operands.push_back(bound);
  } else {
    uses.push_back({std::move(path), {bound}});
  }
}

void collect(const Expr& expr, std::string_view root, QueryPaths& out) {
  if (expr.kind == ExprKind::logical && expr.op == Operator::and_) {
    for (const auto& operand : expr.children) collect(*operand, root, out);
    return;
  }
  if (expr.kind == ExprKind::binary && (expr.op == Operator::equal || is_range(expr.op))) {
    for (size_t side = 0; side < 2; ++side) {
      auto path = property_path(*expr.children[side], root);
      const Expr* other = expr.children[1 - side].get();
      if (!path || !is_value(*other)) continue;
      if (expr.op == Operator::equal) {
        out.equal.push_back({std::move(*path), {other}});
      } else {
        add_range(out.range, std::move(*path), other);
      }
      return;
    }
    return;
  }
  if (expr.negated) return;
  if (expr.kind == ExprKind::between) {
    auto path = property_path(*expr.children[0], root);
    if (!path || !is_value(*expr.children[1]) || !is_value(*expr.children[2])) return;
    out.range.push_back({std::move(*path), {expr.children[1].get(), expr.children[2].get()}});
  } else if (expr.kind == ExprKind::in) {
    auto path = property_path(*expr.children[0], root);
    if (!path) return;
    QueryPaths::Use use{std::move(*path), {}};
    for (size_t i = 1; i < expr.children.size(); ++i) {
      if (!is_value(*expr.children[i])) return;
      use.operands.push_back(expr.children[i].get());
    }
    out.in.push_back(std::move(use));
  }
}

class LiteralRemover {
 public:
  void visit(query::ExprPtr& expr) {
    if (expr->kind == ExprKind::literal) {
      auto parameter = std::make_unique<Expr>(ExprKind::parameter, expr->span);
      parameter->text = "@" + std::to_string(++count_);
      expr = std::move(parameter);
      return;
    }
    if (expr->kind == ExprKind::parameter) expr->text = "@" + std::to_string(++count_);
    for (auto& child : expr->children) visit(child);
    if (expr->query) visit(*expr->query);
  }
  void visit(query::Query& query) {
    each_expression(query, [this](query::ExprPtr& expr) { visit(expr); });
  }

 private:
  int count_ = 0;
};

}  // namespace

QueryPaths paths_of(const query::Query& query) {
  QueryPaths out;
  if (query.where) collect(*query.where, root_alias(query), out);
  return out;
}

std::string without_literals(const query::Query& query) {
  query::Query copy = query.clone();
  LiteralRemover().visit(copy);
  return to_text(copy);
}

}  // namespace orrery::advise
