// The printer.
//
// a AND b AND c is one node and prints as ((a AND b) AND c). Printed like that
// a long list would nest deeper than the parser lets it, so where the whole would come near the
// limit lists print flat: (a AND b AND c).
#include "query/parse/printer.h"

#include <algorithm>
#include <cmath>

#include "query/parse/parser.h"

namespace orrery::query {
namespace {

// How deep the text nests at most when every AND and OR is parenthesised in pairs.
size_t nesting(const Expr& expr);

size_t nesting(const Query& query) {
  size_t deepest = 0;
  each_expression(query,
                  [&deepest](const ExprPtr& expr) { deepest = std::max(deepest, nesting(*expr)); });
  return deepest + 1;
}

size_t nesting(const Expr& expr) {
  size_t deepest = expr.query ? nesting(*expr.query) : 0;
  for (const auto& child : expr.children) deepest = std::max(deepest, nesting(*child));
  return deepest + (expr.kind == ExprKind::logical ? expr.children.size() : 1);
}

class Printer {
 public:
  Printer(Layout layout, bool is_flat) : layout_(layout), is_flat_(is_flat) {}

  std::string take() { return std::move(out_); }

  void print(const Query& query) {
    print(query.select);
    if (query.from) {
      clause("FROM ");
      print(*query.from);
    }
    for (const auto& join : query.joins) {
      clause("JOIN ");
      print(join);
    }
    if (query.where) {
      clause("WHERE ");
      print(*query.where);
    }
    if (!query.group_by.empty()) {
      clause("GROUP BY ");
      print_list(query.group_by);
    }
    if (!query.order_by.empty()) {
      clause(query.order_by_rank ? "ORDER BY RANK " : "ORDER BY ");
      for (const auto& item : query.order_by) {
        if (&item != &query.order_by.front()) out_ += ", ";
        print(*item.expr);
        print(item.direction, query.order_by_rank);
      }
    }
    if (query.offset) {
      clause("OFFSET ");
      print(*query.offset);
      out_ += " LIMIT ";
      print(*query.limit);
    }
  }

  void print(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::literal:
        return print_literal(expr);
      case ExprKind::parameter:
      case ExprKind::identifier:
      case ExprKind::placeholder:
        out_ += expr.text;
        return;
      case ExprKind::member:
        return print_member(expr);
      case ExprKind::index:
        print_base(*expr.children[0]);
        out_ += '[';
        print(*expr.children[1]);
        out_ += ']';
        return;
      case ExprKind::unary:
        out_ += '(';
        out_ += to_text(expr.op);
        out_ += ' ';
        print(*expr.children[0]);
        out_ += ')';
        return;
      case ExprKind::binary:
        out_ += '(';
        print(*expr.children[0]);
        print_operator(expr.op);
        print(*expr.children[1]);
        out_ += ')';
        return;
      case ExprKind::logical:
        return print_logical(expr);
      case ExprKind::conditional:
        out_ += '(';
        print(*expr.children[0]);
        out_ += " ? ";
        print(*expr.children[1]);
        out_ += " : ";
        print(*expr.children[2]);
        out_ += ')';
        return;
      case ExprKind::in:
      case ExprKind::between:
      case ExprKind::like:
        return print_predicate(expr);
      case ExprKind::udf_call:
        out_ += "udf.";
        [[fallthrough]];
      case ExprKind::call:
        out_ += expr.text;
        out_ += '(';
        print_list(expr.children);
        out_ += ')';
        return;
      case ExprKind::array:
        out_ += '[';
        print_list(expr.children);
        out_ += ']';
        return;
      case ExprKind::object:
        return print_object(expr);
      case ExprKind::subquery:
        return print_subquery(expr);
    }
  }

 private:
  void clause(std::string_view word) {
    out_ += layout_ == Layout::clauses && depth_ == 0 ? '\n' : ' ';
    out_ += word;
  }

  void print(const Select& select) {
    out_ += "SELECT ";
    if (select.distinct) out_ += "DISTINCT ";
    if (select.top) {
      out_ += "TOP ";
      print(*select.top);
      out_ += ' ';
    }
    if (select.kind == Select::Kind::star) out_ += '*';
    if (select.kind == Select::Kind::value) out_ += "VALUE ";
    for (const auto& item : select.items) {
      if (&item != &select.items.front()) out_ += ", ";
      print(*item.expr);
      if (!item.alias.empty()) out_ += " AS " + item.alias;
    }
  }

  void print(const Source& source) {
    if (source.iterates) out_ += source.alias + " IN ";
    print(*source.collection);
    if (!source.iterates && !source.alias.empty()) out_ += " AS " + source.alias;
  }

  void print(Direction direction, bool is_rank) {
    if (direction == Direction::descending) {
      out_ += " DESC";
    } else if (direction == Direction::ascending || (layout_ == Layout::line && !is_rank)) {
      out_ += " ASC";
    }
  }

  template <class List>
  void print_list(const List& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ", ";
      print(*list[i]);
    }
  }

  void print_operator(Operator op) {
    out_ += ' ';
    out_ += to_text(op);
    out_ += ' ';
  }

  void print_literal(const Expr& expr) {
    switch (expr.type) {
      case value::Type::null:
        out_ += "null";
        return;
      case value::Type::boolean:
        out_ += expr.boolean ? "true" : "false";
        return;
      case value::Type::number:
        if (std::isnan(expr.number)) {
          out_ += "NaN";
        } else if (std::isinf(expr.number)) {
          out_ += expr.number < 0 ? "-Infinity" : "Infinity";
        } else {
          value::append_json_number(out_, expr.number);
        }
        return;
      case value::Type::string:
        value::append_json_string(out_, expr.text);
        return;
      default:
        out_ += "undefined";
    }
  }

  // A number needs parentheses: 2.x would be read as a broken number.
  void print_base(const Expr& base) {
    const bool is_number = base.kind == ExprKind::literal && base.type == value::Type::number;
    if (is_number) out_ += '(';
    print(base);
    if (is_number) out_ += ')';
  }

  void print_member(const Expr& expr) {
    print_base(*expr.children[0]);
    if (!expr.bracketed && is_plain_name(expr.text)) {
      out_ += '.';
      out_ += expr.text;
      return;
    }
    out_ += '[';
    value::append_json_string(out_, expr.text);
    out_ += ']';
  }

  void print_logical(const Expr& expr) {
    out_.append(is_flat_ ? 1 : expr.children.size() - 1, '(');
    print(*expr.children[0]);
    for (size_t i = 1; i < expr.children.size(); ++i) {
      print_operator(expr.op);
      print(*expr.children[i]);
      if (!is_flat_) out_ += ')';
    }
    if (is_flat_) out_ += ')';
  }

  void print_predicate(const Expr& expr) {
    out_ += '(';
    print(*expr.children[0]);
    if (expr.negated) out_ += " NOT";
    if (expr.kind == ExprKind::in) {
      out_ += " IN (";
      for (size_t i = 1; i < expr.children.size(); ++i) {
        if (i > 1) out_ += ", ";
        print(*expr.children[i]);
      }
      out_ += ')';
    } else {
      out_ += expr.kind == ExprKind::between ? " BETWEEN " : " LIKE ";
      print(*expr.children[1]);
      if (expr.children.size() > 2) {
        out_ += expr.kind == ExprKind::between ? " AND " : " ESCAPE ";
        print(*expr.children[2]);
      }
    }
    out_ += ')';
  }

  void print_object(const Expr& expr) {
    out_ += '{';
    for (size_t i = 0; i < expr.children.size(); ++i) {
      if (i > 0) out_ += ", ";
      value::append_json_string(out_, expr.names[i]);
      out_ += ": ";
      print(*expr.children[i]);
    }
    out_ += '}';
  }

  void print_subquery(const Expr& expr) {
    switch (expr.subquery) {
      case SubqueryKind::scalar:
        break;
      case SubqueryKind::exists:
        out_ += "EXISTS";
        break;
      case SubqueryKind::array:
        out_ += "ARRAY";
        break;
      case SubqueryKind::all:
        out_ += "ALL";
        break;
      case SubqueryKind::first:
        out_ += "FIRST";
        break;
      case SubqueryKind::last:
        out_ += "LAST";
        break;
    }
    out_ += '(';
    ++depth_;
    print(*expr.query);
    --depth_;
    out_ += ')';
  }

  const Layout layout_;
  const bool is_flat_;
  int depth_ = 0;  // of subqueries; they stay on the line of their clause
  std::string out_;
};

// Half of what the parser lets through, so that what a rewriter puts around the text still fits.
constexpr size_t kMaxPairs = kMaxNesting / 2;

template <class Tree>
std::string text_of(const Tree& tree, Layout layout) {
  Printer printer(layout, nesting(tree) > kMaxPairs);
  printer.print(tree);
  return printer.take();
}

}  // namespace

std::string to_text(const Query& query, Layout layout) {
  return text_of(query, layout);
}

std::string to_text(const Expr& expr) {
  return text_of(expr, Layout::line);
}

std::string_view to_text(Operator op) {
  switch (op) {
    case Operator::none:
      return "";
    case Operator::plus:
    case Operator::add:
      return "+";
    case Operator::minus:
    case Operator::subtract:
      return "-";
    case Operator::bit_not:
      return "~";
    case Operator::not_:
      return "NOT";
    case Operator::coalesce:
      return "??";
    case Operator::concat:
      return "||";
    case Operator::bit_or:
      return "|";
    case Operator::bit_xor:
      return "^";
    case Operator::bit_and:
      return "&";
    case Operator::equal:
      return "=";
    case Operator::not_equal:
      return "!=";
    case Operator::less:
      return "<";
    case Operator::less_equal:
      return "<=";
    case Operator::greater:
      return ">";
    case Operator::greater_equal:
      return ">=";
    case Operator::shift_left:
      return "<<";
    case Operator::shift_right:
      return ">>";
    case Operator::shift_right_zero:
      return ">>>";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::modulo:
      return "%";
    case Operator::and_:
      return "AND";
    case Operator::or_:
      return "OR";
  }
  return "";
}

}  // namespace orrery::query
