// The clauses of a query, and how the parser reads tokens and reports errors.
#include "query/parse/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "query/parse/parser_state.h"

namespace orrery::query {

std::expected<Query, SyntaxError> parse_query(std::string_view text) {
  return Parser(text).whole_query();
}

std::expected<ExprPtr, SyntaxError> parse_expression(std::string_view text) {
  return Parser(text).whole_expression();
}

std::expected<Query, SyntaxError> Parser::whole_query() {
  Query out;
  int height = 0;
  if (query(out, height) && !at(TokenKind::end)) fail_here("the end of the query");
  if (error_) return std::unexpected(std::move(*error_));
  return out;
}

std::expected<ExprPtr, SyntaxError> Parser::whole_expression() {
  Tree tree = expression();
  if (tree && !at(TokenKind::end)) fail_here("the end of the expression");
  if (error_) return std::unexpected(std::move(*error_));
  return std::move(tree.expr);
}

const Token& Parser::peek(size_t ahead) const {
  return tokens_.list[std::min(next_ + ahead, tokens_.list.size() - 1)];
}

bool Parser::at_name(size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::word && !is_reserved(token.keyword);
}

const Token& Parser::take() {
  const Token& token = peek();
  if (next_ + 1 < tokens_.list.size()) ++next_;
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

bool Parser::accept(Keyword keyword) {
  if (!at(keyword)) return false;
  take();
  return true;
}

bool Parser::expect(TokenKind kind, std::string_view expected) {
  return accept(kind) || fail_here(expected);
}

bool Parser::expect(Keyword keyword, std::string_view expected) {
  return accept(keyword) || fail_here(expected);
}

// From `start` to the end of the token taken last.
Span Parser::since(const Span& start) const {
  Span out = start;
  out.end = next_ > 0 ? std::max(start.end, tokens_.list[next_ - 1].span.end) : start.end;
  return out;
}

bool Parser::fail(QueryFault fault, const Span& span, std::string message) {
  if (!error_) error_ = syntax_error(fault, span, std::move(message));
  return false;
}

bool Parser::fail_here(std::string_view expected) {
  const Token& token = peek();
  if (token.kind == TokenKind::invalid) {
    if (!error_) error_ = tokens_.error;
    return false;
  }
  const std::string near =
      token.kind == TokenKind::end ? "the end of the query" : fmt::format("'{}'", token.raw);
  return fail(QueryFault::syntax, token.span,
              fmt::format("Syntax error, incorrect syntax near {}. Expected {} at line {}, column "
                          "{}.",
                          near, expected, token.span.line, token.span.column));
}

bool Parser::too_deep(const Span& span) {
  return fail(QueryFault::too_complex, span,
              fmt::format("The query nests too deeply at line {}, column {}: at most {} levels of "
                          "text and {} of operators.",
                          span.line, span.column, kMaxNesting, kMaxTreeHeight));
}

// SELECT … [FROM … {JOIN …}] [WHERE …] [GROUP BY …] [ORDER BY …] [OFFSET … LIMIT …]
bool Parser::query(Query& out, int& height) {
  const Span start = peek().span;
  if (!select(out.select, height)) return false;
  if (accept(Keyword::from)) {
    out.from.emplace();
    if (!source(*out.from, height)) return false;
    while (at(Keyword::join)) {
      const Span join = take().span;
      if (out.joins.size() == kMaxJoins) {
        return fail(QueryFault::too_complex, join,
                    fmt::format("The query has more than {} JOINs.", kMaxJoins));
      }
      if (!source(out.joins.emplace_back(), height)) return false;
    }
  }
  if (accept(Keyword::where) && !clause_expression(out.where, height)) return false;
  if (accept(Keyword::group)) {
    if (!expect(Keyword::by, "BY")) return false;
    do {
      if (out.group_by.size() == kMaxGroupBy) {
        return fail(QueryFault::too_complex, peek().span,
                    fmt::format("GROUP BY has more than {} expressions.", kMaxGroupBy));
      }
      if (!clause_expression(out.group_by.emplace_back(), height)) return false;
    } while (accept(TokenKind::comma));
  }
  if (accept(Keyword::order) && !order_by(out, height)) return false;
  if (accept(Keyword::offset)) {
    if (!count(out.offset, "OFFSET") || !expect(Keyword::limit, "LIMIT") ||
        !count(out.limit, "LIMIT")) {
      return false;
    }
  }
  out.span = since(start);
  return true;
}

// SELECT [DISTINCT] [TOP n] (* | VALUE item | item {, item})
bool Parser::select(Select& out, int& height) {
  if (!expect(Keyword::select, "SELECT")) return false;
  out.distinct = accept(Keyword::distinct);
  if (accept(Keyword::top) && !count(out.top, "TOP")) return false;
  if (at(TokenKind::star)) {
    out.kind = Select::Kind::star;
    out.star = take().span;
    return true;
  }
  if (accept(Keyword::value)) {
    out.kind = Select::Kind::value;
    return select_item(out.items.emplace_back(), height);
  }
  out.kind = Select::Kind::list;
  do {
    if (!select_item(out.items.emplace_back(), height)) return false;
  } while (accept(TokenKind::comma));
  return true;
}

// expression [[AS] alias]
bool Parser::select_item(SelectItem& out, int& height) {
  if (!clause_expression(out.expr, height)) return false;
  if (!accept(Keyword::as) && !at_bare_alias()) return true;
  return name(out.alias, "an alias");
}

// (collection [[AS] alias]) | (alias IN collection)
bool Parser::source(Source& out, int& height) {
  const Span start = peek().span;
  if (at_name() && at(Keyword::in, 1)) {
    out.alias = take().raw;
    out.iterates = true;
    take();
    if (!collection(out, height)) return false;
  } else {
    if (!collection(out, height)) return false;
    if ((accept(Keyword::as) || at_bare_alias()) && !name(out.alias, "an alias")) return false;
  }
  out.span = since(start);
  return true;
}

// name {.name | ["name"] | [number]} | function(…) and the same steps | (query)
bool Parser::collection(Source& out, int& height) {
  constexpr std::string_view kExpected = "a source: a name, a path or a subquery";
  const Span start = peek().span;
  if (!(at(TokenKind::left_paren) && at(Keyword::select, 1)) && !at_name()) {
    return fail_here(kExpected);
  }
  const bool is_subquery = at(TokenKind::left_paren);
  Tree tree = is_subquery ? primary() : postfix(primary());
  if (!tree) return false;
  const Expr* step = tree.expr.get();
  while (step->kind == ExprKind::member || step->kind == ExprKind::index) {
    if (step->kind == ExprKind::index && (step->children[1]->kind != ExprKind::literal ||
                                          step->children[1]->type != value::Type::number)) {
      const Span& span = step->children[1]->span;
      return fail(
          QueryFault::syntax, span,
          fmt::format("Syntax error, a path in FROM or JOIN takes only a string or a number "
                      "in brackets, at line {}, column {}.",
                      span.line, span.column));
    }
    step = step->children[0].get();
  }
  if (!is_subquery && step->kind != ExprKind::identifier && step->kind != ExprKind::call &&
      step->kind != ExprKind::udf_call) {
    return fail(QueryFault::syntax, start,
                fmt::format("Syntax error, incorrect source. Expected {} at line {}, column {}.",
                            kExpected, start.line, start.column));
  }
  height = std::max(height, tree.height);
  out.collection = std::move(tree.expr);
  return true;
}

// ORDER BY [RANK] expression [ASC | DESC] {, …}
bool Parser::order_by(Query& out, int& height) {
  if (!expect(Keyword::by, "BY")) return false;
  // A property or source may be called rank: the clause has a function's name behind it.
  if (at(Keyword::rank) && at(TokenKind::word, 1)) {
    out.order_by_rank = !at(Keyword::asc, 1) && !at(Keyword::desc, 1) && !at(Keyword::offset, 1);
    if (out.order_by_rank) take();
  }
  do {
    if (out.order_by.size() == kMaxOrderBy) {
      return fail(QueryFault::too_complex, peek().span,
                  fmt::format("ORDER BY has more than {} expressions.", kMaxOrderBy));
    }
    OrderItem& item = out.order_by.emplace_back();
    const Span start = peek().span;
    if (!clause_expression(item.expr, height)) return false;
    if (out.order_by_rank && item.expr->kind != ExprKind::call &&
        item.expr->kind != ExprKind::udf_call) {
      return fail(QueryFault::syntax, since(start),
                  fmt::format("Syntax error, ORDER BY RANK takes scoring functions. Expected a "
                              "function call at line {}, column {}.",
                              start.line, start.column));
    }
    if (accept(Keyword::asc)) {
      item.direction = Direction::ascending;
    } else if (accept(Keyword::desc)) {
      item.direction = Direction::descending;
    }
  } while (accept(TokenKind::comma));
  return true;
}

// number | @parameter
bool Parser::count(ExprPtr& out, std::string_view clause) {
  if (!at(TokenKind::number) && !at(TokenKind::parameter)) {
    return fail_here(fmt::format("a number or a parameter after {}", clause));
  }
  const Token& token = take();
  if (token.kind == TokenKind::parameter) {
    out = std::make_unique<Expr>(ExprKind::parameter, token.span);
    out->text = token.raw;
    return true;
  }
  out = std::make_unique<Expr>(ExprKind::literal, token.span);
  out->type = value::Type::number;
  out->number = number_value(token.raw);
  if (out->number > std::numeric_limits<uint32_t>::max() ||
      out->number != std::floor(out->number)) {
    return fail(
        QueryFault::count_not_integer, token.span,
        fmt::format("The count value provided for a {} clause must be an integer.", clause));
  }
  return true;
}

bool Parser::clause_expression(ExprPtr& out, int& height) {
  Tree tree = expression();
  height = std::max(height, tree.height);
  out = std::move(tree.expr);
  return out != nullptr;
}

bool Parser::name(std::string& out, std::string_view expected) {
  if (at_name()) {
    out = take().raw;
    return true;
  }
  if (at(TokenKind::word)) {
    return fail_here(fmt::format("{}; {} is a reserved word", expected, peek().raw));
  }
  return fail_here(expected);
}

// A word that can only be an alias without AS: not one that may open the next clause.
bool Parser::at_bare_alias() const {
  switch (peek().keyword) {
    case Keyword::none:
    case Keyword::all:
    case Keyword::first:
    case Keyword::last:
      return at(TokenKind::word);
    default:
      return false;
  }
}

}  // namespace orrery::query
