// See evaluate.h.
#include "query/evaluate/evaluate.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "query/evaluate/collector.h"

namespace orrery::query {
namespace {

using value::Value;

Value negate_if(bool negated, Value truth) {
  return negated ? apply(Unary::logical_not, truth) : std::move(truth);
}

// The lookup is linear, so the budget is charged by size.
Value evaluate_member(const Value& base, std::string_view name, Budget& budget) {
  budget.spend(1 + base.size() / 8);
  return base.find(name);
}

Value evaluate_index(const Value& base, const Value& subscript, Budget& budget) {
  if (subscript.is_string()) return evaluate_member(base, subscript.text(), budget);
  if (!subscript.is_number()) return {};
  budget.spend(1 + base.size() / 8);
  const double at = subscript.number();
  if (at < 0 || at != std::floor(at) || at >= static_cast<double>(base.size())) return {};
  return base.at(static_cast<size_t>(at));
}

// Charges a computed value by its size as JSON: it may share memory with others, and so be much
// larger there than in memory.
Value made(Value value, Context& context) {
  const size_t bytes = value.written_bytes();
  if (bytes > kValueBytesMax) context.budget.end(Budget::Ended::memory);
  if (context.budget.spend_bytes(bytes)) return {};
  return value;
}

Value evaluate_like(const BoundExpr& expr, Frame& frame) {
  Budget& budget = frame.context.budget;
  const Value subject = evaluate(expr.children[0], frame);
  if (!subject.is_string()) return {};
  if (expr.like) {
    return negate_if(expr.negated, Value::make_bool(expr.like->matches(subject.text(), budget)));
  }
  const Value pattern = evaluate(expr.children[1], frame);
  const Value escape =
      expr.children.size() > 2 ? evaluate(expr.children[2], frame) : Value::make_string("");
  if (!pattern.is_string() || !escape.is_string()) return {};
  if (budget.spend_bytes(pattern.text().size())) return {};
  auto compiled = LikePattern::compile(pattern.text(), escape.text());
  if (!compiled) return {};
  return negate_if(expr.negated, Value::make_bool(compiled->matches(subject.text(), budget)));
}

Value evaluate_binary(const BoundExpr& expr, Frame& frame) {
  Budget& budget = frame.context.budget;
  Value left = evaluate(expr.children[0], frame);
  if (expr.binary == Binary::coalesce && !left.is_undefined()) return left;
  const Value right = evaluate(expr.children[1], frame);
  if (left.is_number() || right.is_number()) {
    if (budget.spend(1)) return {};
    return apply(expr.binary, left, right);
  }
  const size_t bytes = left.written_bytes() + right.written_bytes();
  if (expr.binary == Binary::concat && !frame.context.may_make(bytes)) return {};
  if (budget.spend_bytes(bytes)) return {};
  return apply(expr.binary, left, right);
}

Value evaluate_call(const BoundExpr& expr, Frame& frame) {
  Context& context = frame.context;
  std::vector<Value> arguments;
  arguments.reserve(expr.children.size());
  size_t bytes = 0;
  for (const BoundExpr& child : expr.children) {
    arguments.push_back(evaluate(child, frame));
    bytes += arguments.back().written_bytes();
  }
  if (context.budget.spend_bytes(bytes)) return {};
  return made(expr.function->call(arguments, context), context);
}

// One false (of OR: one true) decides, then one undefined, then all agree.
Value evaluate_logical(const BoundExpr& expr, Frame& frame) {
  const bool deciding = expr.binary == Binary::logical_or;
  bool all_are_boolean = true;
  for (const BoundExpr& child : expr.children) {
    const Value truth = evaluate(child, frame);
    if (frame.context.budget.spend(1)) return {};
    if (!truth.is_bool()) {
      all_are_boolean = false;
    } else if (truth.boolean() == deciding) {
      return truth;
    }
  }
  return all_are_boolean ? Value::make_bool(!deciding) : Value();
}

// The constants of the list are found by binary search, the other values are computed one by one.
Value evaluate_in(const BoundExpr& expr, Frame& frame) {
  const Value needle = evaluate(expr.children[0], frame);
  if (needle.is_undefined()) return {};
  // A binary search makes few comparisons, each no longer than the needle.
  Budget& budget = frame.context.budget;
  if (budget.spend_bytes(needle.written_bytes())) return {};
  bool found = std::ranges::binary_search(expr.members, needle);
  if (expr.members.size() + 1 < expr.children.size()) {
    for (size_t i = 1; i < expr.children.size() && !found; ++i) {
      const BoundExpr& candidate = expr.children[i];
      found = !candidate.is_constant() && evaluate(candidate, frame) == needle;
      if (budget.spend_bytes(needle.written_bytes())) return {};
    }
  }
  return Value::make_bool(found != expr.negated);
}

// A function that fails ends the query: run_page tells why.
Value evaluate_user_call(const BoundExpr& expr, Frame& frame) {
  Context& context = frame.context;
  if (context.budget.is_over()) return {};
  std::vector<Value> arguments;
  arguments.reserve(expr.children.size());
  for (const BoundExpr& child : expr.children) arguments.push_back(evaluate(child, frame));
  if (context.budget.is_over()) return {};
  auto result = context.functions->call(expr.index, std::move(arguments));
  if (result) return std::move(*result);
  context.fail(std::move(result.error()));
  return {};
}

Value evaluate_subquery(const BoundExpr& expr, Frame& frame) {
  switch (expr.subquery_kind) {
    case SubqueryKind::exists: {
      bool any = false;
      if (expr.query->streams() && !expr.query->offset && !expr.query->limit && !expr.query->top) {
        each_row(*expr.query, frame, [&] {
          any = !project(*expr.query, frame).is_undefined();
          return !any;
        });
      } else {
        any = !run_subquery(*expr.query, frame).empty();
      }
      return Value::make_bool(any);
    }
    case SubqueryKind::array:
      return made(Value::make_array(run_subquery(*expr.query, frame)), frame.context);
    case SubqueryKind::all: {
      auto rows = run_subquery(*expr.query, frame);
      return Value::make_bool(std::ranges::all_of(rows, &Value::is_true));
    }
    case SubqueryKind::first: {
      auto rows = run_subquery(*expr.query, frame);
      return rows.empty() ? Value() : rows.front();
    }
    case SubqueryKind::last: {
      auto rows = run_subquery(*expr.query, frame);
      return rows.empty() ? Value() : rows.back();
    }
    case SubqueryKind::scalar: {
      auto rows = run_subquery(*expr.query, frame);
      return rows.size() == 1 ? rows.front() : Value();
    }
  }
  return {};
}

bool expand(const BoundQuery& query, size_t source, Frame& frame, const std::function<bool()>& row);

bool expand_rows(const BoundQuery& query, size_t source, std::vector<Value> rows, Frame& frame,
                 const std::function<bool()>& row) {
  const BoundSource& from = query.sources[source];
  Held held(frame.context.budget);
  held.add(rows.capacity() * sizeof(Value));
  for (Value& one : rows) {
    if (from.of_elements) {
      for (Value element : one.elements()) {
        frame.slots[from.slot] = std::move(element);
        if (!expand(query, source + 1, frame, row)) return false;
      }
      continue;
    }
    frame.slots[from.slot] = std::move(one);
    if (!expand(query, source + 1, frame, row)) return false;
  }
  return true;
}

bool expand(const BoundQuery& query, size_t source, Frame& frame,
            const std::function<bool()>& row) {
  if (frame.context.budget.spend(1)) return false;
  if (source == query.sources.size()) {
    if (query.where && !evaluate(*query.where, frame).is_true()) return true;
    return row();
  }
  const BoundSource& from = query.sources[source];
  switch (from.kind) {
    case BoundSource::Kind::document:
      return expand(query, source + 1, frame, row);
    case BoundSource::Kind::value: {
      Value one = evaluate(from.collection, frame);
      if (one.is_undefined()) return true;
      frame.slots[from.slot] = std::move(one);
      return expand(query, source + 1, frame, row);
    }
    case BoundSource::Kind::elements: {
      const Value all = evaluate(from.collection, frame);
      for (Value element : all.elements()) {
        frame.slots[from.slot] = std::move(element);
        if (!expand(query, source + 1, frame, row)) return false;
      }
      return true;
    }
    case BoundSource::Kind::rows:
      return expand_rows(query, source, run_subquery(*from.collection.query, frame), frame, row);
  }
  return true;
}

}  // namespace

Value evaluate(const BoundExpr& expr, Frame& frame) {
  Context& context = frame.context;
  switch (expr.kind) {
    case BoundKind::constant:
      return expr.constant;
    case BoundKind::slot:
      return frame.slots[expr.index];
    case BoundKind::member: {
      // Follows a path from a slot without copying the objects on the way.
      if (expr.children[0].kind == BoundKind::slot) {
        return evaluate_member(frame.slots[expr.children[0].index], expr.name, context.budget);
      }
      return evaluate_member(evaluate(expr.children[0], frame), expr.name, context.budget);
    }
    case BoundKind::index:
      return evaluate_index(evaluate(expr.children[0], frame), evaluate(expr.children[1], frame),
                            context.budget);
    case BoundKind::unary:
      return apply(expr.unary, evaluate(expr.children[0], frame));
    case BoundKind::binary:
      return evaluate_binary(expr, frame);
    case BoundKind::logical:
      return evaluate_logical(expr, frame);
    case BoundKind::conditional:
      return evaluate(expr.children[evaluate(expr.children[0], frame).is_true() ? 1 : 2], frame);
    case BoundKind::in:
      return evaluate_in(expr, frame);
    case BoundKind::between:
      return negate_if(expr.negated, is_between(evaluate(expr.children[0], frame),
                                                evaluate(expr.children[1], frame),
                                                evaluate(expr.children[2], frame)));
    case BoundKind::like:
      return evaluate_like(expr, frame);
    case BoundKind::call:
      return evaluate_call(expr, frame);
    case BoundKind::user_call:
      return evaluate_user_call(expr, frame);
    case BoundKind::array: {
      std::vector<Value> elements;
      elements.reserve(expr.children.size());
      for (const BoundExpr& child : expr.children) elements.push_back(evaluate(child, frame));
      return made(Value::make_array(std::move(elements)), context);
    }
    case BoundKind::object: {
      std::vector<Value::Field> fields;
      fields.reserve(expr.children.size());
      for (size_t i = 0; i < expr.children.size(); ++i) {
        fields.push_back({Value::make_string(expr.names[i]), evaluate(expr.children[i], frame)});
      }
      return made(Value::make_object(std::move(fields)), context);
    }
    case BoundKind::subquery:
      return evaluate_subquery(expr, frame);
    case BoundKind::aggregate:
      return frame.aggregates == nullptr ? Value() : (*frame.aggregates)[expr.index];
    case BoundKind::group_key:
      return frame.group_keys == nullptr ? Value() : (*frame.group_keys)[expr.index];
  }
  return {};
}

bool each_row(const BoundQuery& query, Frame& frame, const std::function<bool()>& row) {
  return expand(query, 0, frame, row);
}

bool each_row_of(const BoundQuery& query, std::vector<Value> first, Frame& frame,
                 const std::function<bool()>& row) {
  return expand_rows(query, 0, std::move(first), frame, row);
}

Value project(const BoundQuery& query, Frame& frame) {
  switch (query.select) {
    case Select::Kind::star:
      return frame.slots[query.star_slot];
    case Select::Kind::value:
      return evaluate(query.items[0].second, frame);
    case Select::Kind::list: {
      std::vector<Value::Field> fields;
      fields.reserve(query.items.size());
      for (const auto& [name, expr] : query.items) {
        fields.push_back({Value::borrow_string(name), evaluate(expr, frame)});
      }
      return made(Value::make_object(std::move(fields)), frame.context);
    }
  }
  return {};
}

std::vector<Value> run_subquery(const BoundQuery& query, Frame& frame) {
  // An inner query's own aggregates and keys are not those of the query around it.
  if (frame.context.budget.is_over()) return {};
  const auto* keys = std::exchange(frame.group_keys, nullptr);
  const auto* aggregates = std::exchange(frame.aggregates, nullptr);
  Collector collector(query, Collector::Lifetime::while_row_lives, frame.context.budget);
  each_row(query, frame, [&] { return collector.add(frame); });
  std::vector<Value> rows = Collector::values_of(collector.finish(frame));
  if (collector.over_limit()) frame.context.budget.end(Frame::Ended::memory);
  frame.group_keys = keys;
  frame.aggregates = aggregates;
  return rows;
}

}  // namespace orrery::query
