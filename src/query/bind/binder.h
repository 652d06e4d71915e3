// The binder's internals: see bind.h. Expressions are bound in bind_expression.cc, queries and
// their clauses in bind.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/bind/bind.h"

namespace orrery::query {

template <class T>
using Bound = std::expected<T, SyntaxError>;

inline std::unexpected<SyntaxError> refuse(QueryFault fault, const Span& span,
                                           std::string message) {
  return std::unexpected(syntax_error(fault, span, std::move(message)));
}

inline constexpr std::string_view kConstantsTooLarge =
    "Computing the constants of the query takes more time or memory than a page of it may.";

// What a source or a selected expression is called when no alias is given.
inline std::string name_of_path(const Expr& expr) {
  if (expr.kind == ExprKind::identifier || expr.kind == ExprKind::member) return expr.text;
  return "";
}

// One query's names; those of the outer queries are behind `outer`.
struct Scope {
  const Scope* outer = nullptr;
  std::vector<std::pair<std::string, uint32_t>> aliases;

  std::optional<uint32_t> find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      for (const auto& [alias, slot] : scope->aliases | std::views::reverse) {
        if (alias == name) return slot;
      }
    }
    return std::nullopt;
  }
};

class Binder {
 public:
  Binder(const Parameters& parameters, const ComputedProperties& computed, UserFunctions* functions,
         const VectorPaths& vectors, Context& context, value::ValueOrder order)
      : parameters_(parameters),
        computed_(computed),
        functions_(functions),
        vectors_(vectors),
        context_(context),
        order_(order) {}

  Bound<std::shared_ptr<const BoundQuery>> query(const Query& query, const Scope* outer);

 private:
  // Where an expression stands decides what it may contain.
  struct Place {
    const Scope* scope;
    const Query* query;      // whose GROUP BY expressions are keys here; null inside aggregates
    BoundQuery* aggregates;  // where aggregates are collected; null: they are not allowed
  };

  Bound<BoundExpr> expr(const Expr& expr, const Place& place);
  // The query of the computed property that the expression names; null: it names none.
  const Query* computed(const Expr& expr, const Place& place) const;
  Bound<BoundExpr> computed_value(const Query& property);
  Bound<BoundExpr> identifier(const Expr& expr, const Place& place) const;
  Bound<BoundExpr> call(const Expr& expr, const Place& place);
  Bound<BoundExpr> user_call(const Expr& expr, const Place& place);
  Bound<std::vector<BoundExpr>> children(const Expr& expr, const Place& place);
  Bound<BoundExpr> parameter(const Expr& expr) const;
  Bound<BoundExpr> subquery(const Expr& expr, const Place& place);
  // An expression over others.
  Bound<BoundExpr> compound(const Expr& expr, const Place& place);

  // The steps of query(). FROM, JOIN, WHERE and GROUP BY:
  Bound<void> rows_clauses(const Query& query, Scope& scope, BoundQuery& bound);
  Bound<void> select_clause(const Query& query, const Scope& scope, BoundQuery& bound);
  Bound<void> order_clause(const Query& query, const Scope& scope, BoundQuery& bound);
  Bound<void> limit_clauses(const Query& query, BoundQuery& bound);
  Bound<BoundSource> source(const Source& source, Scope& scope);
  Bound<BoundRank> rank(const Query& query, const Scope& scope, const BoundQuery& bound);
  Bound<uint64_t> count(const Expr& expr, std::string_view what);
  BoundExpr folded(BoundExpr bound);

  const Parameters& parameters_;
  const ComputedProperties& computed_;
  UserFunctions* const functions_;
  const VectorPaths& vectors_;
  Context& context_;  // for constants
  const value::ValueOrder order_;
  size_t user_calls_ = 0;
  bool in_computed_ = false;  // where names are those of the item alone
  uint32_t slots_ = 0;
  std::optional<uint32_t> document_slot_;
};

}  // namespace orrery::query
