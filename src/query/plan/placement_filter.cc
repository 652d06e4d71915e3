// See placement_filter.h.
//
// `wanted` is passed down through NOT: the result is what must hold for an expression to be true,
// or to be false. Undefined is neither, as in the language.
#include "query/plan/placement_filter.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "query/functions/like.h"
#include "query/parse/literal.h"
#include "query/plan/placement_boxes.h"
#include "value/ordered.h"

namespace orrery::query {

namespace {

using keys::anything;
using keys::both_of;
using keys::Box;
using keys::Condition;
using keys::either_of;
using keys::encode;
using keys::End;
using keys::nothing;
using keys::PathSet;
using value::KeyDefinition;
using value::KeyPart;
using value::Placement;
using value::Value;

bool is_named(const Expr& call, std::string_view upper) {
  return std::ranges::equal(call.text, upper, [](char a, char b) {
    return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
  });
}

// -0 is 0: they are equal in the language.
KeyPart part_of(const Value& value) {
  KeyPart part;
  if (value.is_array() || value.is_object()) return part;  // no key is one: as if it were missing
  part.type = value.type();
  if (value.is_bool()) part.boolean = value.boolean();
  if (value.is_number()) part.number = value.number() == 0 ? 0 : value.number();
  if (value.is_string()) part.text = value.text();
  return part;
}

// The operator that holds where `op` does not, for values of one type.
Operator opposite(Operator op) {
  switch (op) {
    case Operator::equal:
      return Operator::not_equal;
    case Operator::not_equal:
      return Operator::equal;
    case Operator::less:
      return Operator::greater_equal;
    case Operator::less_equal:
      return Operator::greater;
    case Operator::greater:
      return Operator::less_equal;
    case Operator::greater_equal:
      return Operator::less;
    default:
      return Operator::none;
  }
}

// The operator that says the same with its sides exchanged.
Operator mirrored(Operator op) {
  switch (op) {
    case Operator::less:
      return Operator::greater;
    case Operator::less_equal:
      return Operator::greater_equal;
    case Operator::greater:
      return Operator::less;
    case Operator::greater_equal:
      return Operator::less_equal;
    default:
      return op;
  }
}

// The most pairs of boxes that AND intersects in one filter.
constexpr size_t kMaxPairs = 65'536;

class Filter {
 public:
  Filter(const KeyDefinition& definition, const Parameters& parameters)
      : definition_(definition), parameters_(parameters) {}

  // Adds an alias for the container or a part of it.
  void add_source(const Source& source) {
    std::vector<std::string> steps;
    const Expr* at = source.collection.get();
    while (at->kind == ExprKind::member) {
      steps.push_back(at->text);
      at = at->children[0].get();
    }
    if (at->kind != ExprKind::identifier || source.iterates) return;
    std::ranges::reverse(steps);
    const std::string& last = steps.empty() ? at->text : steps.back();
    sources_[source.alias.empty() ? last : source.alias] = std::move(steps);
  }

  Condition condition(const Expr& expr, bool wanted) const {
    switch (expr.kind) {
      case ExprKind::logical: {
        const bool all = (expr.op == Operator::and_) == wanted;
        Condition sum = all ? anything() : nothing();
        for (const auto& child : expr.children) {
          Condition one = condition(*child, wanted);
          sum = all ? both_of(std::move(sum), std::move(one), pairs_left_)
                    : either_of(std::move(sum), std::move(one));
        }
        return sum;
      }
      case ExprKind::unary:
        if (expr.op == Operator::not_) return condition(*expr.children[0], !wanted);
        break;
      case ExprKind::binary:
        return compare(wanted ? expr.op : opposite(expr.op), *expr.children[0], *expr.children[1]);
      case ExprKind::in: {
        if (expr.negated == wanted) return anything();
        Condition sum = nothing();
        for (size_t i = 1; i < expr.children.size(); ++i) {
          sum = either_of(std::move(sum),
                          compare(Operator::equal, *expr.children[0], *expr.children[i]));
        }
        return sum;
      }
      case ExprKind::between:
        if (expr.negated == wanted) return anything();
        return both_of(compare(Operator::greater_equal, *expr.children[0], *expr.children[1]),
                       compare(Operator::less_equal, *expr.children[0], *expr.children[2]),
                       pairs_left_);
      case ExprKind::like:
        return expr.negated == wanted ? anything() : like(expr);
      case ExprKind::call:
        return call(expr, wanted);
      default:
        break;
    }
    if (const auto path = key_path(expr)) return is(*path, Value::make_bool(wanted));
    if (const auto constant = constant_of(expr)) {
      return constant->is_bool() && constant->boolean() == wanted ? anything() : nothing();
    }
    return anything();
  }

 private:
  // The index of the key path that an expression is, if it is one.
  std::optional<size_t> key_path(const Expr& expr) const {
    std::vector<std::string_view> names;
    const Expr* at = &expr;
    while (at->kind == ExprKind::member) {
      names.push_back(at->text);
      at = at->children[0].get();
    }
    if (at->kind != ExprKind::identifier) return std::nullopt;
    const auto source = sources_.find(at->text);
    if (source == sources_.end()) return std::nullopt;
    names.insert(names.end(), source->second.rbegin(), source->second.rend());
    std::ranges::reverse(names);
    for (size_t i = 0; i < definition_.paths.size(); ++i) {
      if (std::ranges::equal(names, definition_.paths[i].steps,
                             [](std::string_view name, const value::Path::Step& step) {
                               return !step.array && step.name == name;
                             })) {
        return i;
      }
    }
    return std::nullopt;
  }

  std::optional<Value> constant_of(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::literal:
        return literal_value(expr);
      case ExprKind::parameter: {
        const auto found = parameters_.find(expr.text);
        if (found == parameters_.end()) return std::nullopt;
        return found->second;
      }
      case ExprKind::unary: {
        auto operand = constant_of(*expr.children[0]);
        if (!operand || !operand->is_number()) return std::nullopt;
        if (expr.op == Operator::plus) return operand;
        if (expr.op == Operator::minus) return Value::make_number(-operand->number());
        return std::nullopt;
      }
      case ExprKind::array:
      case ExprKind::object: {
        std::vector<Value> values;
        std::vector<Value::Field> fields;
        for (size_t i = 0; i < expr.children.size(); ++i) {
          auto value = constant_of(*expr.children[i]);
          if (!value) return std::nullopt;
          if (expr.kind == ExprKind::array) {
            values.push_back(std::move(*value));
          } else {
            fields.push_back({.name = Value::borrow_string(expr.names[i]), .value = *value});
          }
        }
        return expr.kind == ExprKind::array ? Value::make_array(std::move(values))
                                            : Value::make_object(std::move(fields));
      }
      default:
        return std::nullopt;
    }
  }

  Condition one_box(size_t path, PathSet set) const {
    Box box(definition_.paths.size());
    box[path] = std::move(set);
    return {.is_anything = false, .boxes = {std::move(box)}};
  }

  Condition is(size_t path, KeyPart part) const {
    PathSet set;
    set.kind = PathSet::Kind::value;
    set.part = std::move(part);
    return one_box(path, std::move(set));
  }
  Condition is(size_t path, const Value& value) const { return is(path, part_of(value)); }
  Condition is_missing(size_t path) const { return is(path, KeyPart()); }

  Condition compare(Operator op, const Expr& left, const Expr& right) const {
    if (mirrored(op) == op && op != Operator::equal && op != Operator::not_equal) return anything();
    const auto left_value = constant_of(left);
    const auto right_value = constant_of(right);
    if (left_value && right_value) return compare_constants(op, *left_value, *right_value);
    if (left_value) return compare_with(mirrored(op), right, *left_value);
    if (right_value) return compare_with(op, left, *right_value);
    return anything();
  }

  static Condition compare_constants(Operator op, const Value& left, const Value& right) {
    // Only what needs no rules of the type order.
    if (left.is_undefined() || right.is_undefined()) return nothing();
    if (op == Operator::equal) return left == right ? anything() : nothing();
    if (op == Operator::not_equal) return left == right ? nothing() : anything();
    return anything();
  }

  Condition compare_with(Operator op, const Expr& expr, const Value& value) const {
    if (value.is_undefined()) return nothing();
    if (const auto path = key_path(expr)) {
      if (op == Operator::equal) return is(*path, value);
      return op == Operator::not_equal ? anything() : stretch(*path, op, value);
    }
    if (op != Operator::equal) return anything();
    if (value.is_bool()) {
      const bool is_condition = expr.kind != ExprKind::member && expr.kind != ExprKind::identifier;
      return is_condition ? condition(expr, value.boolean()) : anything();
    }
    if (value.is_number() && expr.kind == ExprKind::call && is_named(expr, "ABS") &&
        expr.children.size() == 1) {
      const auto path = key_path(*expr.children[0]);
      if (!path) return anything();
      if (value.number() < 0) return nothing();
      return either_of(is(*path, value), is(*path, Value::make_number(-value.number())));
    }
    return anything();
  }

  // Comparisons hold between values of one type only.
  Condition stretch(size_t path, Operator op, const Value& value) const {
    if (definition_.placement != Placement::range) return anything();
    if (value.is_array() || value.is_object()) return nothing();
    const std::string bytes = encode(part_of(value));
    const std::string type = bytes.substr(0, 1);
    PathSet set{.kind = PathSet::Kind::stretch,
                .part = {},
                .low = {.bytes = type, .kind = End::Kind::type},
                .high = {.bytes = value::after_prefix(type), .kind = End::Kind::type}};
    switch (op) {
      case Operator::less:
        set.high = {.bytes = bytes, .kind = End::Kind::without};
        break;
      case Operator::less_equal:
        set.high = {.bytes = bytes, .kind = End::Kind::with};
        break;
      case Operator::greater:
        set.low = {.bytes = bytes, .kind = End::Kind::without};
        break;
      default:
        set.low = {.bytes = bytes, .kind = End::Kind::with};
    }
    return one_box(path, std::move(set));
  }

  Condition like(const Expr& expr) const {
    const auto path = key_path(*expr.children[0]);
    const auto pattern = constant_of(*expr.children[1]);
    const auto escape =
        expr.children.size() > 2 ? constant_of(*expr.children[2]) : Value::borrow_string("");
    if (!path || !pattern || !pattern->is_string() || !escape || !escape->is_string()) {
      return anything();
    }
    const auto compiled = LikePattern::compile(pattern->text(), escape->text());
    if (!compiled || !compiled->is_exact()) return anything();
    return is(*path, Value::make_string(compiled->prefix()));
  }

  Condition call(const Expr& expr, bool wanted) const {
    const auto& arguments = expr.children;
    if (arguments.size() == 1) {
      const auto path = key_path(*arguments[0]);
      if (!path) return anything();
      if (!wanted) return is_named(expr, "IS_DEFINED") ? is_missing(*path) : anything();
      if (is_named(expr, "IS_NULL")) return is(*path, Value::make_null());
      if (is_named(expr, "IS_BOOL") || is_named(expr, "IS_BOOLEAN")) {
        return either_of(is(*path, Value::make_bool(false)), is(*path, Value::make_bool(true)));
      }
      return anything();
    }
    const bool is_search =
        is_named(expr, "ARRAY_CONTAINS") || is_named(expr, "_TRY_ARRAY_CONTAINS");
    if (!is_search || !wanted || arguments.size() < 2) return anything();
    const auto list = constant_of(*arguments[0]);
    const auto path = key_path(*arguments[1]);
    if (!list || !path) return anything();
    Condition sum = nothing();
    for (const Value element : list->elements()) {
      sum = either_of(std::move(sum), is(*path, element));
    }
    return sum;
  }

  const KeyDefinition& definition_;
  const Parameters& parameters_;
  mutable size_t pairs_left_ = kMaxPairs;
  std::map<std::string, std::vector<std::string>, std::less<>> sources_;  // alias → names below
};

}  // namespace

bool PlacementRange::is_point() const {
  return max.size() == min.size() + 1 && max.back() == '\0' && max.starts_with(min);
}

bool PlacementRange::is_everything() const {
  return min == value::placement_min() && max == value::placement_max();
}

std::vector<PlacementRange> in_effective_keys(std::vector<PlacementRange> ranges,
                                              const KeyDefinition& definition) {
  for (PlacementRange& range : ranges) {
    if (!range.is_point()) continue;  // those have no keys in their ends
    range.min = value::effective_key(definition, range.min);
    range.max = range.min + '\0';
  }
  const auto repeated = std::ranges::unique(ranges);
  ranges.erase(repeated.begin(), repeated.end());
  return ranges;
}

std::vector<PlacementRange> touched_ranges(const Query& query, const KeyDefinition& definition,
                                           const Parameters& parameters) {
  if (!query.from) return {};
  Filter filter(definition, parameters);
  const Expr& collection = *query.from->collection;
  if (collection.kind == ExprKind::subquery) {
    // The subquery reads the container, and its rows are all that this query sees.
    return touched_ranges(*collection.query, definition, parameters);
  }
  filter.add_source(*query.from);
  const Condition condition = query.where ? filter.condition(*query.where, true) : anything();
  return keys::ranges_of(condition, definition);
}

}  // namespace orrery::query
