// The parser's internals, shared by its two halves: parser.cc has the clauses, parser_expression.cc
// the expressions.
//
// A parsing function that fails stores the error in error_ (the first one stays) and returns false,
// or a Tree without an expression. The comment at each function is the grammar rule that it parses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "query/parse/parser.h"

namespace orrery::query {

// An expression and how high it is.
struct Tree {
  ExprPtr expr;
  int height = 0;

  explicit operator bool() const { return expr != nullptr; }
};

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokenize(text)) {}

  std::expected<Query, SyntaxError> whole_query();
  std::expected<ExprPtr, SyntaxError> whole_expression();

 private:
  // Counts how deep the parser is in its own recursion.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { ++parser_.level_; }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  // Tokens.
  const Token& peek(size_t ahead = 0) const;
  bool at(TokenKind kind, size_t ahead = 0) const { return peek(ahead).kind == kind; }
  bool at(Keyword keyword, size_t ahead = 0) const { return peek(ahead).keyword == keyword; }
  bool at_name(size_t ahead = 0) const;
  const Token& take();
  bool accept(TokenKind kind);
  bool accept(Keyword keyword);
  bool expect(TokenKind kind, std::string_view expected);
  bool expect(Keyword keyword, std::string_view expected);
  Span since(const Span& start) const;

  // Errors. All answer false or an empty Tree.
  bool fail_here(std::string_view expected);
  bool fail(QueryFault fault, const Span& span, std::string message);
  bool too_deep(const Span& span);

  // Clauses. Heights go up to the enclosing expression through `height`.
  bool query(Query& out, int& height);
  bool select(Select& out, int& height);
  bool select_item(SelectItem& out, int& height);
  bool source(Source& out, int& height);
  bool collection(Source& out, int& height);
  bool order_by(Query& out, int& height);
  bool count(ExprPtr& out, std::string_view clause);
  bool clause_expression(ExprPtr& out, int& height);
  bool name(std::string& out, std::string_view expected);
  bool at_bare_alias() const;

  // Expressions.
  Tree expression();
  Tree operators(int loosest);
  Tree predicate(Tree left);
  Tree in_list(Tree left, bool negated);
  Tree between(Tree left, bool negated);
  Tree like(Tree left, bool negated);
  Tree unary();
  Tree postfix(Tree base);
  Tree primary();
  Tree parenthesised();
  Tree word();
  Tree call(ExprKind kind);
  Tree subquery(SubqueryKind kind, const Span& start);
  Tree array();
  Tree object();
  Tree literal(value::Type type);
  Tree signed_number(const Token& sign);
  bool list(std::vector<ExprPtr>& out, int& height, TokenKind close, std::string_view expected);
  Tree node(ExprKind kind, const Span& start, std::vector<Tree> children);
  Tree finish(ExprPtr expr, int height);

  const Tokens tokens_;
  size_t next_ = 0;
  int level_ = 0;
  std::optional<SyntaxError> error_;
};

}  // namespace orrery::query
