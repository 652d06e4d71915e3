// A query made ready to run: names resolved to slots, functions to code, parameters to values,
// aggregates and group keys to their places. Made by the binder (bind.h), run by evaluate.h and
// execute.h. Immutable once made; may be run by several threads, each with its own Frame.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/functions/aggregate.h"
#include "query/functions/like.h"
#include "query/functions/operators.h"
#include "query/functions/registry.h"
#include "query/parse/ast.h"
#include "value/value.h"

namespace orrery::query {

struct BoundQuery;

enum class BoundKind : uint8_t {
  constant,     // constant
  slot,         // index: which row variable
  member,       // children: base. name
  index,        // children: base, subscript
  unary,        // unary. children: operand
  binary,       // binary: any but logical_and and logical_or. children: left, right
  logical,      // binary: logical_and or logical_or. children: two or more; a OR b OR c is one node
  conditional,  // children: condition, then, otherwise
  in,           // negated, members. children: value, list…
  between,      // negated. children: value, low, high
  like,         // negated. children: value, pattern, escape?; pattern is compiled when constant
  call,         // function. children: arguments
  user_call,    // index: which user-defined function. children: arguments
  array,        // children
  object,       // names, children
  subquery,     // subquery_kind, query
  aggregate,    // index: which aggregate of the query
  group_key,    // index: which GROUP BY expression of the query
};

struct BoundExpr {
  BoundKind kind = BoundKind::constant;
  bool negated = false;
  Binary binary = Binary::add;
  Unary unary = Unary::plus;
  SubqueryKind subquery_kind = SubqueryKind::scalar;
  uint32_t index = 0;
  value::Value constant;
  std::string name;
  std::vector<std::string> names;
  const Function* function = nullptr;
  std::optional<LikePattern> like;
  // IN: the constants of its list, sorted. The other values of the list are in `children` alone.
  std::vector<value::Value> members;
  std::vector<BoundExpr> children;
  std::shared_ptr<const BoundQuery> query;

  bool is_constant() const { return kind == BoundKind::constant; }
};

struct BoundSource {
  enum class Kind : uint8_t {
    document,  // the item at hand: its slot is filled by whoever reads items
    value,     // the collection's value, unless undefined
    elements,  // each element of the collection
    rows,      // each row of a subquery
  };
  Kind kind = Kind::document;
  bool of_elements = false;   // rows: each element of each row
  bool of_container = false;  // rows: the subquery is the one that reads the container
  uint32_t slot = 0;
  BoundExpr collection;
};

struct BoundAggregate {
  Aggregate aggregate = Aggregate::count;
  BoundExpr argument;
};

struct BoundOrder {
  BoundExpr expr;
  bool descending = false;
};

// ORDER BY RANK (rank_clause.h).
struct BoundScore {
  // VectorDistance(…), or _FullTextScore(path, terms, …) whose last three arguments, the
  // statistics, are put in when the query runs.
  BoundExpr expr;
  bool is_text = false;
  double weight = 1;
};

struct BoundRank {
  std::vector<BoundScore> scores;
  std::shared_ptr<const BoundQuery> statistics;  // null: no score needs them
};

struct BoundQuery {
  std::vector<BoundSource> sources;
  std::optional<BoundExpr> where;
  std::vector<BoundExpr> group_by;
  std::vector<BoundAggregate> aggregates;
  std::vector<BoundOrder> order_by;
  value::ValueOrder value_order = value::ValueOrder::json;  // in which ORDER BY sorts
  std::optional<BoundRank> rank;                            // in the place of order_by
  Select::Kind select = Select::Kind::star;
  bool distinct = false;
  std::vector<std::pair<std::string, BoundExpr>> items;  // name, expression; one for VALUE
  uint32_t star_slot = 0;
  std::optional<uint64_t> top;
  std::optional<uint64_t> offset;
  std::optional<uint64_t> limit;
  uint32_t slots = 0;  // of the whole query, subqueries included
  std::optional<uint32_t>
      document_slot;  // where the item at hand goes; unset: no container is read

  // The most results that TOP and LIMIT allow.
  std::optional<uint64_t> most() const {
    if (top && limit) return std::min(*top, *limit);
    return top ? top : limit;
  }
  bool grouped() const { return !group_by.empty() || !aggregates.empty(); }
  // Whether rows can be returned as they are read, before all of them are known.
  bool streams() const {
    return !grouped() && order_by.empty() && !rank && !distinct &&
           (!derived() || derived()->passes());
  }
  // The subquery in FROM that reads the container; null: this query reads it itself.
  const BoundQuery* derived() const {
    const bool has = !sources.empty() && sources[0].of_container;
    return has ? sources[0].collection.query.get() : nullptr;
  }
  // SELECT * without JOIN: whether each item that passes the filter is returned unchanged.
  bool shows_items() const {
    return select == Select::Kind::star && sources.size() == 1 &&
           sources[0].kind == BoundSource::Kind::document && document_slot == star_slot;
  }
  // Whether the query can be run on each item by itself, and the results concatenated.
  bool passes() const { return streams() && !top && !offset && !limit; }
};

}  // namespace orrery::query
