// Expressions: precedence climbing over the table in parser.h.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "query/parse/parser_state.h"

namespace orrery::query {
namespace {

// Levels of precedence, loosest first.
enum Precedence : int {
  kNoOperator = 0,
  kCoalesce,
  kOr,
  kAnd,
  kPredicate,
  kConcat,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
};

struct Infix {
  Operator op = Operator::none;
  int precedence = kNoOperator;
};

Infix infix_of(const Token& token) {
  switch (token.keyword) {
    case Keyword::or_:
      return {Operator::or_, kOr};
    case Keyword::and_:
      return {Operator::and_, kAnd};
    case Keyword::not_:
    case Keyword::in:
    case Keyword::between:
    case Keyword::like:
      return {Operator::none, kPredicate};
    default:
      break;
  }
  switch (token.kind) {
    case TokenKind::question_question:
      return {Operator::coalesce, kCoalesce};
    case TokenKind::pipe_pipe:
      return {Operator::concat, kConcat};
    case TokenKind::pipe:
      return {Operator::bit_or, kBitOr};
    case TokenKind::caret:
      return {Operator::bit_xor, kBitXor};
    case TokenKind::ampersand:
      return {Operator::bit_and, kBitAnd};
    case TokenKind::equal:
      return {Operator::equal, kEquality};
    case TokenKind::not_equal:
      return {Operator::not_equal, kEquality};
    case TokenKind::less:
      return {Operator::less, kRelation};
    case TokenKind::less_equal:
      return {Operator::less_equal, kRelation};
    case TokenKind::greater:
      return {Operator::greater, kRelation};
    case TokenKind::greater_equal:
      return {Operator::greater_equal, kRelation};
    case TokenKind::shift_left:
      return {Operator::shift_left, kShift};
    case TokenKind::shift_right:
      return {Operator::shift_right, kShift};
    case TokenKind::shift_right_zero:
      return {Operator::shift_right_zero, kShift};
    case TokenKind::plus:
      return {Operator::add, kSum};
    case TokenKind::minus:
      return {Operator::subtract, kSum};
    case TokenKind::star:
      return {Operator::multiply, kProduct};
    case TokenKind::slash:
      return {Operator::divide, kProduct};
    case TokenKind::percent:
      return {Operator::modulo, kProduct};
    default:
      return {};
  }
}

Operator prefix_of(const Token& token) {
  if (token.keyword == Keyword::not_) return Operator::not_;
  switch (token.kind) {
    case TokenKind::plus:
      return Operator::plus;
    case TokenKind::minus:
      return Operator::minus;
    case TokenKind::tilde:
      return Operator::bit_not;
    default:
      return Operator::none;
  }
}

bool is_string(const Expr& expr) {
  return expr.kind == ExprKind::literal && expr.type == value::Type::string;
}

}  // namespace

Tree Parser::finish(ExprPtr expr, int height) {
  if (height > kMaxTreeHeight) {
    too_deep(expr->span);
    return {};
  }
  return {.expr = std::move(expr), .height = height};
}

Tree Parser::node(ExprKind kind, const Span& start, std::vector<Tree> children) {
  auto expr = std::make_unique<Expr>(kind, since(start));
  int height = 0;
  for (Tree& child : children) {
    height = std::max(height, child.height);
    expr->children.push_back(std::move(child.expr));
  }
  return finish(std::move(expr), height + 1);
}

namespace {

std::vector<Tree> trees(Tree a, Tree b = {}, Tree c = {}) {
  std::vector<Tree> out;
  out.push_back(std::move(a));
  if (b) out.push_back(std::move(b));
  if (c) out.push_back(std::move(c));
  return out;
}

}  // namespace

// operators [? expression : expression]
Tree Parser::expression() {
  const Level level(*this);
  const Span start = peek().span;
  if (level_ > kMaxNesting) {
    too_deep(start);
    return {};
  }
  Tree condition = operators(kCoalesce);
  if (!condition || !accept(TokenKind::question)) return condition;
  Tree then = expression();
  if (!then || !expect(TokenKind::colon, "':' and the value for when the condition is not true")) {
    return {};
  }
  Tree otherwise = expression();
  if (!otherwise) return {};
  return node(ExprKind::conditional, start,
              trees(std::move(condition), std::move(then), std::move(otherwise)));
}

// unary {operator unary}, for the operators that bind at least as tightly as `loosest`
Tree Parser::operators(int loosest) {
  const Span start = peek().span;
  Tree left = unary();
  int tightest = std::numeric_limits<int>::max();
  while (left) {
    const Infix infix = infix_of(peek());
    if (infix.precedence < loosest || infix.precedence == kNoOperator ||
        infix.precedence > tightest) {
      break;
    }
    if (infix.precedence == kPredicate) {
      left = predicate(std::move(left));
      tightest = kAnd;
      continue;
    }
    take();
    Tree right = operators(infix.precedence + 1);
    if (!right) return {};
    const bool is_logical = infix.precedence == kOr || infix.precedence == kAnd;
    if (is_logical && left.expr->kind == ExprKind::logical && left.expr->op == infix.op) {
      left.height = std::max(left.height, right.height + 1);
      left.expr->children.push_back(std::move(right.expr));
      left.expr->span = since(start);
      left = finish(std::move(left.expr), left.height);
    } else {
      left = node(is_logical ? ExprKind::logical : ExprKind::binary, start,
                  trees(std::move(left), std::move(right)));
      if (left) left.expr->op = infix.op;
    }
    tightest = std::min(tightest, infix.precedence);
  }
  return left;
}

// left [NOT] (IN … | BETWEEN … | LIKE …)
Tree Parser::predicate(Tree left) {
  const bool negated = accept(Keyword::not_);
  if (accept(Keyword::in)) return in_list(std::move(left), negated);
  if (accept(Keyword::between)) return between(std::move(left), negated);
  if (accept(Keyword::like)) return like(std::move(left), negated);
  fail_here("IN, BETWEEN or LIKE");
  return {};
}

// IN (expression {, expression})
Tree Parser::in_list(Tree left, bool negated) {
  if (!expect(TokenKind::left_paren, "'(' and the list of IN")) return {};
  const Span start = left.expr->span;
  auto expr = std::make_unique<Expr>(ExprKind::in, start);
  expr->negated = negated;
  int height = left.height;
  expr->children.push_back(std::move(left.expr));
  do {
    if (expr->children.size() > kMaxInItems) {
      fail(QueryFault::too_complex, peek().span,
           fmt::format("The list of an IN has more than {} values.", kMaxInItems));
      return {};
    }
    if (!clause_expression(expr->children.emplace_back(), height)) return {};
  } while (accept(TokenKind::comma));
  if (!expect(TokenKind::right_paren, "',' or ')'")) return {};
  expr->span = since(start);
  return finish(std::move(expr), height + 1);
}

// BETWEEN operators AND operators
Tree Parser::between(Tree left, bool negated) {
  const Span start = left.expr->span;
  Tree low = operators(kConcat);
  if (!low || !expect(Keyword::and_, "AND and the upper end of BETWEEN")) return {};
  Tree high = operators(kConcat);
  if (!high) return {};
  Tree out =
      node(ExprKind::between, start, trees(std::move(left), std::move(low), std::move(high)));
  if (out) out.expr->negated = negated;
  return out;
}

// LIKE operators [ESCAPE string]
Tree Parser::like(Tree left, bool negated) {
  const Span start = left.expr->span;
  Tree pattern = operators(kConcat);
  if (!pattern) return {};
  Tree escape;
  if (accept(Keyword::escape)) {
    if (!at(TokenKind::string) && !at(TokenKind::parameter)) {
      fail_here("the escape character, in quotes");
      return {};
    }
    escape = primary();
    if (!escape) return {};
  }
  Tree out =
      node(ExprKind::like, start, trees(std::move(left), std::move(pattern), std::move(escape)));
  if (out) out.expr->negated = negated;
  return out;
}

// {+ | - | ~ | NOT} primary. A sign that touches a number is part of it.
Tree Parser::unary() {
  const size_t first = next_;
  while (prefix_of(peek()) != Operator::none) take();
  size_t last = next_;
  Tree out;
  if (last > first) {
    const Token& sign = tokens_.list[last - 1];
    const bool is_sign = sign.kind == TokenKind::plus || sign.kind == TokenKind::minus;
    if (is_sign && sign.span.end == peek().span.start &&
        (at(TokenKind::number) || peek().raw == "Infinity" || peek().raw == "NaN")) {
      out = postfix(signed_number(sign));
      --last;
    }
  }
  if (!out && !error_) out = postfix(primary());
  while (out && last > first) {
    const Token& sign = tokens_.list[--last];
    out = node(ExprKind::unary, sign.span, trees(std::move(out)));
    if (out) out.expr->op = prefix_of(sign);
  }
  return out;
}

Tree Parser::signed_number(const Token& sign) {
  Tree out = primary();
  if (!out) return {};
  out.expr->span = since(sign.span);
  if (sign.kind == TokenKind::minus) out.expr->number = -out.expr->number;
  return out;
}

// base {.name | [expression]}
Tree Parser::postfix(Tree base) {
  while (base) {
    const Span start = base.expr->span;
    if (accept(TokenKind::dot)) {
      std::string member;
      if (!at_name() && at(TokenKind::word)) {
        fail_here(
            fmt::format("a property's name; {0} is a reserved word, write [\"{0}\"]", peek().raw));
        return {};
      }
      if (!name(member, "a property's name")) return {};
      base = node(ExprKind::member, start, trees(std::move(base)));
      if (base) base.expr->text = std::move(member);
    } else if (accept(TokenKind::left_bracket)) {
      Tree subscript = expression();
      if (!subscript || !expect(TokenKind::right_bracket, "']'")) return {};
      if (is_string(*subscript.expr)) {
        std::string member = std::move(subscript.expr->text);
        base = node(ExprKind::member, start, trees(std::move(base)));
        if (!base) return {};
        base.expr->text = std::move(member);
        base.expr->bracketed = true;
      } else {
        base = node(ExprKind::index, start, trees(std::move(base), std::move(subscript)));
      }
    } else {
      break;
    }
  }
  return base;
}

Tree Parser::primary() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::number: {
      Tree out = literal(value::Type::number);
      out.expr->number = number_value(token.raw);
      return out;
    }
    case TokenKind::string: {
      Tree out = literal(value::Type::string);
      out.expr->text = string_value(token.raw);
      return out;
    }
    case TokenKind::parameter: {
      take();
      Tree out = node(ExprKind::parameter, token.span, {});
      out.expr->text = token.raw;
      return out;
    }
    case TokenKind::left_paren:
      return parenthesised();
    case TokenKind::left_bracket:
      return array();
    case TokenKind::left_brace:
      return object();
    case TokenKind::word:
      return word();
    default:
      fail_here("an expression");
      return {};
  }
}

// Takes one token as a literal; the caller puts its value in.
Tree Parser::literal(value::Type type) {
  const Span span = take().span;
  Tree out = node(ExprKind::literal, span, {});
  out.expr->type = type;
  return out;
}

// (expression) | (query)
Tree Parser::parenthesised() {
  const Span start = peek().span;
  if (at(Keyword::select, 1)) return subquery(SubqueryKind::scalar, start);
  take();
  Tree out = expression();
  if (!out || !expect(TokenKind::right_paren, "')'")) return {};
  return out;
}

// A constant, a name, a call, or one of the words that take a subquery.
Tree Parser::word() {
  const Token& token = peek();
  const bool opens_query = at(TokenKind::left_paren, 1) && at(Keyword::select, 2);
  const auto subquery_of = [&](SubqueryKind kind) {
    take();
    return subquery(kind, token.span);
  };
  switch (token.keyword) {
    case Keyword::null:
      return literal(value::Type::null);
    case Keyword::undefined:
      return literal(value::Type::undefined);
    case Keyword::true_:
    case Keyword::false_: {
      Tree out = literal(value::Type::boolean);
      out.expr->boolean = token.keyword == Keyword::true_;
      return out;
    }
    case Keyword::exists:
      if (at(TokenKind::left_paren, 1)) return subquery_of(SubqueryKind::exists);
      break;
    case Keyword::array:
      if (at(TokenKind::left_paren, 1)) return subquery_of(SubqueryKind::array);
      break;
    case Keyword::all:
      if (opens_query) return subquery_of(SubqueryKind::all);
      break;
    case Keyword::first:
      if (opens_query) return subquery_of(SubqueryKind::first);
      break;
    case Keyword::last:
      if (opens_query) return subquery_of(SubqueryKind::last);
      break;
    case Keyword::udf:
      if (at(TokenKind::dot, 1) && at_name(2) && at(TokenKind::left_paren, 3)) {
        take();
        take();
        return call(ExprKind::udf_call);
      }
      break;
    default:
      break;
  }
  if (!at_name()) {
    fail_here("an expression");
    return {};
  }
  if (at(TokenKind::left_paren, 1)) return call(ExprKind::call);
  if (token.raw == "NaN" || token.raw == "Infinity") {
    Tree out = literal(value::Type::number);
    out.expr->number = token.raw == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                                          : std::numeric_limits<double>::infinity();
    return out;
  }
  take();
  Tree out = node(ExprKind::identifier, token.span, {});
  out.expr->text = token.raw;
  return out;
}

// name(…), with "udf." taken already
Tree Parser::call(ExprKind kind) {
  const size_t first = kind == ExprKind::udf_call ? next_ - 2 : next_;
  const Span start = tokens_.list[first].span;
  const Token& function = take();
  take();
  auto expr = std::make_unique<Expr>(kind, start);
  expr->text = function.raw;
  int height = 0;
  if (!list(expr->children, height, TokenKind::right_paren, "',' or ')'")) return {};
  expr->span = since(start);
  return finish(std::move(expr), height + 1);
}

// (query), of the word at `start`
Tree Parser::subquery(SubqueryKind kind, const Span& start) {
  const Level level(*this);
  if (level_ > kMaxNesting) {
    too_deep(start);
    return {};
  }
  if (!expect(TokenKind::left_paren, "'('")) return {};
  auto expr = std::make_unique<Expr>(ExprKind::subquery, start);
  expr->subquery = kind;
  expr->query = std::make_unique<Query>();
  int height = 0;
  if (!query(*expr->query, height) || !expect(TokenKind::right_paren, "')'")) return {};
  expr->span = since(start);
  return finish(std::move(expr), height + 2);
}

// [expression {, expression}]
Tree Parser::array() {
  const Span start = take().span;
  auto expr = std::make_unique<Expr>(ExprKind::array, start);
  int height = 0;
  if (!list(expr->children, height, TokenKind::right_bracket, "',' or ']'")) return {};
  expr->span = since(start);
  return finish(std::move(expr), height + 1);
}

// {name: expression {, name: expression}}, the names bare or quoted
Tree Parser::object() {
  const Span start = take().span;
  auto expr = std::make_unique<Expr>(ExprKind::object, start);
  int height = 0;
  if (!accept(TokenKind::right_brace)) {
    do {
      if (at(TokenKind::string)) {
        expr->names.push_back(string_value(take().raw));
      } else if (at(TokenKind::word)) {
        expr->names.emplace_back(take().raw);
      } else {
        fail_here("a property's name");
        return {};
      }
      if (!expect(TokenKind::colon, "':'") ||
          !clause_expression(expr->children.emplace_back(), height)) {
        return {};
      }
    } while (accept(TokenKind::comma));
    if (!expect(TokenKind::right_brace, "',' or '}'")) return {};
  }
  expr->span = since(start);
  return finish(std::move(expr), height + 1);
}

// [expression {, expression}] close
bool Parser::list(std::vector<ExprPtr>& out, int& height, TokenKind close,
                  std::string_view expected) {
  if (accept(close)) return true;
  do {
    if (!clause_expression(out.emplace_back(), height)) return false;
  } while (accept(TokenKind::comma));
  return expect(close, expected);
}

}  // namespace orrery::query
