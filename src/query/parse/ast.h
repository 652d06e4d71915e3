// The syntax tree of a query. The parser makes it, the printer prints it, and the binder, the
// planner and the rewriters of plans for clients read, copy and change it.
//
// An Expr is one plain struct for all kinds; a comment at each kind says which members it uses.
// Children are owned, in the order of the text. Copying is by clone(). Trees that the parser made
// are at most kMaxTreeHeight high, so recursion over them is safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/parse/token.h"
#include "value/json.h"

namespace orrery::query {

struct Expr;
struct Query;
using ExprPtr = std::unique_ptr<Expr>;

enum class ExprKind : uint8_t {
  literal,      // type, and boolean, number or text; never an array or object
  parameter,    // text: its name, with the @
  identifier,   // text
  member,       // children: base. text: the property's name. bracketed: written as ["name"]
  index,        // children: base, subscript (any expression but a string literal)
  unary,        // op. children: operand
  binary,       // op. children: left, right
  logical,      // op: and_ or or_. children: two or more operands; a OR b OR c is one node
  conditional,  // children: condition, then, otherwise
  in,           // negated. children: the value, then the one or more of the list
  between,      // negated. children: value, low, high
  like,         // negated. children: value, pattern, and the escape character if there is one
  call,         // text: the function's name as written (not case-sensitive). children: arguments
  udf_call,     // text: the name without "udf." (case-sensitive). children: arguments
  array,        // children: elements
  object,       // names[i]: children[i]
  subquery,     // subquery, query
  placeholder,  // text, printed as it is: for what is left for a client to fill in
};

enum class Operator : uint8_t {
  none,
  // Unary.
  plus,
  minus,
  bit_not,
  not_,
  // Binary.
  coalesce,
  concat,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  shift_left,
  shift_right,
  shift_right_zero,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  // Logical.
  and_,
  or_,
};

// What becomes of a subquery's rows.
enum class SubqueryKind : uint8_t { scalar, exists, array, all, first, last };

struct Expr {
  ExprKind kind = ExprKind::literal;
  value::Type type = value::Type::undefined;
  Operator op = Operator::none;
  SubqueryKind subquery = SubqueryKind::scalar;
  bool boolean = false;
  bool negated = false;
  bool bracketed = false;
  Span span;
  double number = 0;
  std::string text;
  std::vector<ExprPtr> children;
  std::vector<std::string> names;
  std::unique_ptr<Query> query;

  Expr();
  Expr(ExprKind kind, Span span);
  Expr(Expr&&) noexcept;
  Expr& operator=(Expr&&) noexcept;
  ~Expr();

  ExprPtr clone() const;
};

struct SelectItem {
  ExprPtr expr;
  std::string alias;  // empty: none was given
};

struct Select {
  enum class Kind : uint8_t { star, value, list };
  Kind kind = Kind::star;
  bool distinct = false;
  ExprPtr top;                    // null, a number literal or a parameter
  std::vector<SelectItem> items;  // star: none; value: one
  Span star;                      // where the * stands
};

// What FROM or JOIN names. `collection` is a path (identifier, member, index by number), a function
// call with or without a path behind it, or a scalar subquery.
struct Source {
  ExprPtr collection;
  std::string alias;      // empty: none was given
  bool iterates = false;  // alias IN collection: once per element
  Span span;
};

enum class Direction : uint8_t { unsaid, ascending, descending };

struct OrderItem {
  ExprPtr expr;
  Direction direction = Direction::unsaid;  // unsaid sorts as ascending
};

struct Query {
  Select select;
  std::optional<Source> from;
  std::vector<Source> joins;
  ExprPtr where;
  std::vector<ExprPtr> group_by;
  std::vector<OrderItem> order_by;
  bool order_by_rank = false;  // ORDER BY RANK: every item is a call
  ExprPtr offset;              // offset and limit: both null, or each a number or a parameter
  ExprPtr limit;
  Span span;

  Query clone() const;
};

// Whether two trees have the same meaning, whatever their positions, the spelling .a or ["a"], the
// case of function names, and whether ASC is written.
bool same(const Expr& a, const Expr& b);
bool same(const Query& a, const Query& b);

// Makers, for rewriting. Their spans are empty.
ExprPtr make_null();
ExprPtr make_boolean(bool boolean);
ExprPtr make_number(double number);
ExprPtr make_string(std::string text);
ExprPtr make_identifier(std::string name);
ExprPtr make_member(ExprPtr base, std::string name);
ExprPtr make_unary(Operator op, ExprPtr operand);
ExprPtr make_binary(Operator op, ExprPtr left, ExprPtr right);
// With a single operand, returns it.
ExprPtr make_logical(Operator op, std::vector<ExprPtr> operands);
ExprPtr make_call(std::string name, std::vector<ExprPtr> arguments);
ExprPtr make_array(std::vector<ExprPtr> elements);
ExprPtr make_object(std::vector<std::pair<std::string, ExprPtr>> members);
ExprPtr make_placeholder(std::string text);

// Calls visit(ExprPtr&) for each top-level expression of a clause, in the order of the text. It
// does not descend into them, nor into subqueries. With a const Query the visitor gets const
// ExprPtr&.
template <class AnyQuery, class Visit>
void each_expression(AnyQuery& query, Visit&& visit) {
  const auto one = [&visit](auto& expr) {
    if (expr) visit(expr);
  };
  one(query.select.top);
  for (auto& item : query.select.items) one(item.expr);
  if (query.from) one(query.from->collection);
  for (auto& join : query.joins) one(join.collection);
  one(query.where);
  for (auto& expr : query.group_by) one(expr);
  for (auto& item : query.order_by) one(item.expr);
  one(query.offset);
  one(query.limit);
}

}  // namespace orrery::query
