// Copying, comparing and making trees.
#include "query/parse/ast.h"

#include <algorithm>
#include <cmath>

namespace orrery::query {
namespace {

ExprPtr make(ExprKind kind) {
  return std::make_unique<Expr>(kind, Span{});
}

ExprPtr make_literal(value::Type type) {
  ExprPtr out = make(ExprKind::literal);
  out->type = type;
  return out;
}

ExprPtr clone(const ExprPtr& expr) {
  return expr ? expr->clone() : nullptr;
}

Source clone(const Source& source) {
  return {.collection = clone(source.collection),
          .alias = source.alias,
          .iterates = source.iterates,
          .span = source.span};
}

bool same(const ExprPtr& a, const ExprPtr& b) {
  return a && b ? query::same(*a, *b) : !a && !b;
}

bool same(const Source& a, const Source& b) {
  return a.alias == b.alias && a.iterates == b.iterates && same(a.collection, b.collection);
}

bool same(const SelectItem& a, const SelectItem& b) {
  return a.alias == b.alias && same(a.expr, b.expr);
}

bool same(const OrderItem& a, const OrderItem& b) {
  return (a.direction == Direction::descending) == (b.direction == Direction::descending) &&
         same(a.expr, b.expr);
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool same_literal(const Expr& a, const Expr& b) {
  if (a.type != b.type) return false;
  switch (a.type) {
    case value::Type::boolean:
      return a.boolean == b.boolean;
    case value::Type::number:
      return a.number == b.number || (std::isnan(a.number) && std::isnan(b.number));
    case value::Type::string:
      return a.text == b.text;
    default:
      return true;
  }
}

}  // namespace

// Here because Query is incomplete where Expr is declared.
Expr::Expr() = default;
Expr::Expr(ExprKind expr_kind, Span expr_span) : kind(expr_kind), span(expr_span) {}
Expr::Expr(Expr&&) noexcept = default;
Expr& Expr::operator=(Expr&&) noexcept = default;
Expr::~Expr() = default;

ExprPtr Expr::clone() const {
  auto out = std::make_unique<Expr>(kind, span);
  out->type = type;
  out->op = op;
  out->subquery = subquery;
  out->boolean = boolean;
  out->negated = negated;
  out->bracketed = bracketed;
  out->number = number;
  out->text = text;
  out->children.reserve(children.size());
  for (const auto& child : children) out->children.push_back(child->clone());
  out->names = names;
  if (query) out->query = std::make_unique<Query>(query->clone());
  return out;
}

Query Query::clone() const {
  Query out;
  out.select.kind = select.kind;
  out.select.distinct = select.distinct;
  out.select.top = query::clone(select.top);
  out.select.star = select.star;
  for (const auto& item : select.items) {
    out.select.items.push_back({.expr = query::clone(item.expr), .alias = item.alias});
  }
  if (from) out.from = query::clone(*from);
  for (const auto& join : joins) out.joins.push_back(query::clone(join));
  out.where = query::clone(where);
  for (const auto& expr : group_by) out.group_by.push_back(query::clone(expr));
  for (const auto& item : order_by) {
    out.order_by.push_back({.expr = query::clone(item.expr), .direction = item.direction});
  }
  out.order_by_rank = order_by_rank;
  out.offset = query::clone(offset);
  out.limit = query::clone(limit);
  out.span = span;
  return out;
}

bool same(const Expr& a, const Expr& b) {
  if (a.kind != b.kind || a.op != b.op || a.negated != b.negated) return false;
  switch (a.kind) {
    case ExprKind::literal:
      return same_literal(a, b);
    case ExprKind::call:
      if (!same_ignoring_case(a.text, b.text)) return false;
      break;
    case ExprKind::subquery:
      return a.subquery == b.subquery && same(*a.query, *b.query);
    default:
      if (a.text != b.text || a.names != b.names) return false;
  }
  return same(a.children, b.children);
}

bool same(const Query& a, const Query& b) {
  return a.select.kind == b.select.kind && a.select.distinct == b.select.distinct &&
         same(a.select.top, b.select.top) && same(a.select.items, b.select.items) &&
         a.from.has_value() == b.from.has_value() && (!a.from || same(*a.from, *b.from)) &&
         same(a.joins, b.joins) && same(a.where, b.where) && same(a.group_by, b.group_by) &&
         a.order_by_rank == b.order_by_rank && same(a.order_by, b.order_by) &&
         same(a.offset, b.offset) && same(a.limit, b.limit);
}

ExprPtr make_null() {
  return make_literal(value::Type::null);
}

ExprPtr make_boolean(bool boolean) {
  ExprPtr out = make_literal(value::Type::boolean);
  out->boolean = boolean;
  return out;
}

ExprPtr make_number(double number) {
  ExprPtr out = make_literal(value::Type::number);
  out->number = number;
  return out;
}

ExprPtr make_string(std::string text) {
  ExprPtr out = make_literal(value::Type::string);
  out->text = std::move(text);
  return out;
}

ExprPtr make_identifier(std::string name) {
  ExprPtr out = make(ExprKind::identifier);
  out->text = std::move(name);
  return out;
}

ExprPtr make_member(ExprPtr base, std::string name) {
  ExprPtr out = make(ExprKind::member);
  out->bracketed = !is_plain_name(name);
  out->text = std::move(name);
  out->children.push_back(std::move(base));
  return out;
}

ExprPtr make_unary(Operator op, ExprPtr operand) {
  ExprPtr out = make(ExprKind::unary);
  out->op = op;
  out->children.push_back(std::move(operand));
  return out;
}

ExprPtr make_binary(Operator op, ExprPtr left, ExprPtr right) {
  ExprPtr out = make(ExprKind::binary);
  out->op = op;
  out->children.push_back(std::move(left));
  out->children.push_back(std::move(right));
  return out;
}

ExprPtr make_logical(Operator op, std::vector<ExprPtr> operands) {
  if (operands.size() == 1) return std::move(operands.front());
  ExprPtr out = make(ExprKind::logical);
  out->op = op;
  out->children = std::move(operands);
  return out;
}

ExprPtr make_call(std::string name, std::vector<ExprPtr> arguments) {
  ExprPtr out = make(ExprKind::call);
  out->text = std::move(name);
  out->children = std::move(arguments);
  return out;
}

ExprPtr make_array(std::vector<ExprPtr> elements) {
  ExprPtr out = make(ExprKind::array);
  out->children = std::move(elements);
  return out;
}

ExprPtr make_object(std::vector<std::pair<std::string, ExprPtr>> members) {
  ExprPtr out = make(ExprKind::object);
  for (auto& [name, expr] : members) {
    out->names.push_back(std::move(name));
    out->children.push_back(std::move(expr));
  }
  return out;
}

ExprPtr make_placeholder(std::string text) {
  ExprPtr out = make(ExprKind::placeholder);
  out->text = std::move(text);
  return out;
}

}  // namespace orrery::query
