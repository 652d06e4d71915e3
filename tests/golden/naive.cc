// See naive.h.
#include "naive.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace orrery::query {
namespace {

using value::Type;
using value::Value;

// The names in scope, the innermost last.
using Names = std::vector<std::pair<std::string, Value>>;
// All rows of a group; one row where there are no groups.
using Group = std::vector<Names>;

Value evaluate(const Expr& expr, const Group& group);
std::vector<Value> run(const Query& query, std::vector<Names> rows);
std::vector<Names> rows_of(const Query& query, const Names& outer);

Value truth(bool is_true) {
  return Value::make_bool(is_true);
}

bool is_aggregate(const Expr& expr) {
  static constexpr std::string_view kNames[] = {"COUNT", "SUM", "AVG", "MIN", "MAX"};
  return expr.kind == ExprKind::call && std::ranges::find(kNames, expr.text) != std::end(kNames);
}

bool has_aggregate(const Expr& expr) {
  return is_aggregate(expr) || std::ranges::any_of(expr.children, [](const ExprPtr& child) {
           return has_aggregate(*child);
         });
}

Value compute(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return Value::make_number(a + b);
    case Operator::subtract:
      return Value::make_number(a - b);
    case Operator::multiply:
      return Value::make_number(a * b);
    case Operator::divide:
      return Value::make_number(a / b);
    case Operator::modulo:
      return Value::make_number(std::fmod(a, b));
    default:
      std::abort();
  }
}

Value compare(Operator op, const Value& a, const Value& b) {
  if (a.is_undefined() || b.is_undefined()) return {};
  if (op == Operator::equal) return truth(a == b);
  if (op == Operator::not_equal) return truth(!(a == b));
  if (a.type() != b.type() || a.is_array() || a.is_object()) return {};
  switch (op) {
    case Operator::less:
      return truth(a < b);
    case Operator::less_equal:
      return truth(a <= b);
    case Operator::greater:
      return truth(a > b);
    case Operator::greater_equal:
      return truth(a >= b);
    default:
      std::abort();
  }
}

Value binary(Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::coalesce:
      return a.is_undefined() ? b : a;
    case Operator::concat:
      if (!a.is_string() || !b.is_string()) return {};
      return Value::make_string(std::string(a.text()) + std::string(b.text()));
    case Operator::add:
    case Operator::subtract:
    case Operator::multiply:
    case Operator::divide:
    case Operator::modulo:
      return a.is_number() && b.is_number() ? compute(op, a.number(), b.number()) : Value();
    default:
      return compare(op, a, b);
  }
}

Value negation(const Value& value) {
  return value.is_bool() ? truth(!value.boolean()) : Value();
}

// One `decisive` decides; otherwise all have to be booleans.
Value logical(const Expr& expr, const Group& group) {
  const bool decisive = expr.op == Operator::or_;
  bool all_known = true;
  for (const ExprPtr& child : expr.children) {
    const Value value = evaluate(*child, group);
    if (value.is_bool() && value.boolean() == decisive) return truth(decisive);
    if (!value.is_bool()) all_known = false;
  }
  return all_known ? truth(!decisive) : Value();
}

Value aggregate(const Expr& expr, const Group& group) {
  std::vector<Value> values;
  for (const Names& row : group) {
    Value value = evaluate(*expr.children[0], {row});
    if (!value.is_undefined()) values.push_back(std::move(value));
  }
  const auto count = static_cast<double>(values.size());
  if (expr.text == "COUNT") return Value::make_number(count);
  if (expr.text == "SUM" || expr.text == "AVG") {
    if (!std::ranges::all_of(values, &Value::is_number)) return {};
    double sum = 0;
    for (const Value& value : values) sum += value.number();
    if (expr.text == "SUM") return Value::make_number(sum);
    return values.empty() ? Value() : Value::make_number(sum / count);
  }
  const auto is_complex = [](const Value& value) { return value.is_array() || value.is_object(); };
  if (values.empty() || std::ranges::any_of(values, is_complex)) return {};
  return expr.text == "MIN" ? *std::ranges::min_element(values) : *std::ranges::max_element(values);
}

Value call(const Expr& expr, const Group& group) {
  if (is_aggregate(expr)) return aggregate(expr, group);
  const Value argument = evaluate(*expr.children[0], group);
  if (expr.text == "IS_DEFINED") return truth(!argument.is_undefined());
  if (expr.text == "IS_NUMBER") return truth(argument.is_number());
  if (expr.text == "ABS") {
    return argument.is_number() ? Value::make_number(std::abs(argument.number())) : Value();
  }
  if (expr.text == "LENGTH") {  // of ASCII
    if (!argument.is_string()) return {};
    return Value::make_number(static_cast<double>(argument.text().size()));
  }
  if (expr.text == "ARRAY_LENGTH") {
    if (!argument.is_array()) return {};
    return Value::make_number(static_cast<double>(argument.size()));
  }
  if (expr.text == "ARRAY_CONTAINS") {
    const Value wanted = evaluate(*expr.children[1], group);
    if (!argument.is_array() || wanted.is_undefined()) return {};
    bool is_there = false;
    for (const Value element : argument.elements()) is_there = is_there || element == wanted;
    return truth(is_there);
  }
  std::abort();
}

Value subquery(const Expr& expr, const Group& group) {
  std::vector<Value> rows = run(*expr.query, rows_of(*expr.query, group.at(0)));
  if (expr.subquery == SubqueryKind::exists) return truth(!rows.empty());
  if (expr.subquery == SubqueryKind::array) return Value::make_array(std::move(rows));
  return rows.size() == 1 ? rows[0] : Value();
}

Value literal(const Expr& expr) {
  switch (expr.type) {
    case Type::null:
      return Value::make_null();
    case Type::boolean:
      return truth(expr.boolean);
    case Type::number:
      return Value::make_number(expr.number);
    case Type::string:
      return Value::make_string(expr.text);
    default:
      return {};
  }
}

Value name(const Expr& expr, const Group& group) {
  const Names& names = group.at(0);
  for (const auto& [known, value] : std::views::reverse(names)) {
    if (known == expr.text) return value;
  }
  std::abort();
}

Value evaluate(const Expr& expr, const Group& group) {
  const auto child = [&](size_t i) { return evaluate(*expr.children[i], group); };
  switch (expr.kind) {
    case ExprKind::literal:
      return literal(expr);
    case ExprKind::identifier:
      return name(expr, group);
    case ExprKind::member:
      return child(0).find(expr.text);
    case ExprKind::index: {
      const Value at = child(1);
      if (!at.is_number() || at.number() < 0 || at.number() != std::floor(at.number())) return {};
      return child(0).at(static_cast<size_t>(at.number()));
    }
    case ExprKind::unary: {
      const Value operand = child(0);
      if (expr.op == Operator::not_) return negation(operand);
      if (expr.op != Operator::minus) std::abort();
      return operand.is_number() ? Value::make_number(-operand.number()) : Value();
    }
    case ExprKind::binary:
      return binary(expr.op, child(0), child(1));
    case ExprKind::logical:
      return logical(expr, group);
    case ExprKind::conditional:
      return child(0).is_true() ? child(1) : child(2);
    case ExprKind::in: {
      const Value needle = child(0);
      if (needle.is_undefined()) return {};
      bool found = false;
      for (size_t i = 1; i < expr.children.size(); ++i) found = found || child(i) == needle;
      return truth(found != expr.negated);
    }
    case ExprKind::between: {
      const Value low = compare(Operator::greater_equal, child(0), child(1));
      const Value high = compare(Operator::less_equal, child(0), child(2));
      Value both;
      if (low.is_false() || high.is_false()) both = truth(false);
      if (low.is_true() && high.is_true()) both = truth(true);
      return expr.negated ? negation(both) : both;
    }
    case ExprKind::call:
      return call(expr, group);
    case ExprKind::array: {
      std::vector<Value> elements;
      for (size_t i = 0; i < expr.children.size(); ++i) elements.push_back(child(i));
      return Value::make_array(std::move(elements));
    }
    case ExprKind::object: {
      std::vector<Value::Field> fields;
      for (size_t i = 0; i < expr.children.size(); ++i) {
        fields.push_back({Value::make_string(expr.names[i]), child(i)});
      }
      return Value::make_object(std::move(fields));
    }
    case ExprKind::subquery:
      return subquery(expr, group);
    default:
      std::abort();
  }
}

// What a source gives to one row: the values of its alias.
std::vector<Value> values_of(const Source& source, const std::vector<Value>& collections) {
  std::vector<Value> values;
  for (const Value& collection : collections) {
    if (source.iterates) {
      for (Value element : collection.elements()) values.push_back(element);
    } else if (!collection.is_undefined()) {
      values.push_back(collection);
    }
  }
  return values;
}

// Every row times every value of the source.
std::vector<Names> joined(const std::vector<Names>& rows, const Source& source) {
  std::vector<Names> more;
  for (const Names& row : rows) {
    const Query* inner = source.collection->query.get();
    const std::vector<Value> collections =
        inner != nullptr ? run(*inner, rows_of(*inner, row))
                         : std::vector<Value>{evaluate(*source.collection, {row})};
    for (const Value& value : values_of(source, collections)) {
      more.push_back(row);
      more.back().emplace_back(source.alias, value);
    }
  }
  return more;
}

std::vector<Names> rows_of(const Query& query, const Names& outer) {
  std::vector<Names> rows = {outer};
  if (query.from) rows = joined(rows, *query.from);
  return rows;
}

Value projection(const Query& query, const Group& group) {
  if (query.select.kind == Select::Kind::star) return group.at(0).back().second;
  if (query.select.kind == Select::Kind::value) return evaluate(*query.select.items[0].expr, group);
  std::vector<Value::Field> fields;
  for (const SelectItem& item : query.select.items) {
    const std::string& shown = item.alias.empty() ? item.expr->text : item.alias;
    fields.push_back({Value::make_string(shown), evaluate(*item.expr, group)});
  }
  return Value::make_object(std::move(fields));
}

std::vector<Group> groups_of(const Query& query, const std::vector<Names>& rows) {
  const bool aggregates = std::ranges::any_of(
      query.select.items, [](const SelectItem& item) { return has_aggregate(*item.expr); });
  std::vector<Group> groups;
  if (query.group_by.empty()) {
    if (aggregates) return {rows};
    for (const Names& row : rows) groups.push_back({row});
    return groups;
  }
  std::vector<std::vector<Value>> keys;
  for (const Names& row : rows) {
    std::vector<Value> key;
    for (const ExprPtr& expr : query.group_by) key.push_back(evaluate(*expr, {row}));
    const auto at = static_cast<size_t>(std::ranges::find(keys, key) - keys.begin());
    if (at == keys.size()) {
      keys.push_back(std::move(key));
      groups.emplace_back();
    }
    groups[at].push_back(row);
  }
  return groups;
}

std::vector<Value> run(const Query& query, std::vector<Names> rows) {
  for (const Source& join : query.joins) rows = joined(rows, join);
  if (query.where) {
    std::erase_if(rows, [&](const Names& row) { return !evaluate(*query.where, {row}).is_true(); });
  }
  using Sorted = std::pair<std::vector<Value>, Value>;  // sort keys, row
  const auto before = [&](const Sorted& a, const Sorted& b) {
    for (size_t i = 0; i < query.order_by.size(); ++i) {
      if (a.first[i] == b.first[i]) continue;
      const bool downwards = query.order_by[i].direction == Direction::descending;
      return downwards ? b.first[i] < a.first[i] : a.first[i] < b.first[i];
    }
    return false;
  };
  std::vector<Sorted> results;
  for (const Group& group : groups_of(query, rows)) {
    Sorted one;
    one.second = projection(query, group);
    if (one.second.is_undefined()) continue;
    for (const OrderItem& item : query.order_by) {
      one.first.push_back(evaluate(*item.expr, group));
    }
    const auto at = std::ranges::upper_bound(results, one, before);
    results.insert(at, std::move(one));
  }
  std::vector<Value> shown;
  for (auto& [keys, row] : results) {
    const bool is_new = std::ranges::find(shown, row) == shown.end();
    if (is_new || !query.select.distinct) shown.push_back(std::move(row));
  }
  if (query.offset) {
    const size_t skip = std::min(shown.size(), static_cast<size_t>(query.offset->number));
    shown.erase(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(skip));
    shown.resize(std::min(shown.size(), static_cast<size_t>(query.limit->number)));
  }
  if (query.select.top) {
    shown.resize(std::min(shown.size(), static_cast<size_t>(query.select.top->number)));
  }
  return shown;
}

}  // namespace

std::vector<Value> run_naively(const Query& query, std::vector<Value> items) {
  // Items with equal order values come in the direction of the first one.
  if (!query.order_by.empty() && query.order_by[0].direction == Direction::descending) {
    std::ranges::reverse(items);
  }
  const Source& from = *query.from;
  std::vector<Value> values;
  if (from.collection->query) {
    values = values_of(from, run_naively(*from.collection->query, std::move(items)));
  } else {
    const Expr* root = from.collection.get();
    while (!root->children.empty()) root = root->children[0].get();
    for (Value& item : items) {
      const Names container = {{root->text, std::move(item)}};
      const auto of_item = values_of(from, {evaluate(*from.collection, {container})});
      values.insert(values.end(), of_item.begin(), of_item.end());
    }
  }
  std::vector<Names> rows;
  const std::string& alias = from.alias.empty() ? from.collection->text : from.alias;
  for (Value& value : values) rows.push_back({{alias, std::move(value)}});
  return run(query, std::move(rows));
}

}  // namespace orrery::query
