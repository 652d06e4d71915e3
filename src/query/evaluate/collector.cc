// See collector.h.
#include "query/evaluate/collector.h"

#include <algorithm>

#include "query/evaluate/sorted_order.h"

namespace orrery::query {
namespace {

using value::Value;

// Of a place in a table or a tree, besides what is in it.
constexpr size_t kPlaceBytes = 32;

}  // namespace

Collector::Collector(const BoundQuery& query, Lifetime lifetime, Budget& budget, Extent extent)
    : query_(query),
      lifetime_(lifetime),
      skip_(extent == Extent::cut ? query.offset.value_or(0) : 0),
      most_(extent == Extent::cut ? query.most() : std::nullopt),
      held_(budget) {}

size_t Collector::Sorted::memory() const {
  return sizeof(Sorted) + memory_of(row.order) + row.result.memory();
}

std::vector<Value> Collector::values_of(std::vector<Ranked> ranked) {
  std::vector<Value> values;
  values.reserve(ranked.size());
  for (Ranked& one : ranked) values.push_back(std::move(one.result));
  return values;
}

Value Collector::kept(const Value& value) const {
  return lifetime_ == Lifetime::copy ? value.to_owned() : value;
}

bool Collector::add(Frame& frame) {
  if (most_ == 0) return false;
  if (query_.grouped()) {
    add_to_group(frame);
    return !over_limit();
  }
  return emit(frame) && !over_limit();
}

void Collector::add_to_group(Frame& frame) {
  std::vector<Value> keys;
  keys.reserve(query_.group_by.size());
  for (const BoundExpr& expr : query_.group_by) keys.push_back(evaluate(expr, frame));
  // Undefined keys make a group of their own; an array would leave them out, so they are wrapped.
  std::vector<Value> wrapped;
  wrapped.reserve(keys.size());
  for (const Value& key : keys) {
    wrapped.push_back(Value::make_array({key}));
  }
  Value name = Value::make_array(std::move(wrapped));
  auto found = group_of_.find(name);
  if (found == group_of_.end()) {
    Value owned = kept(name);
    memory_ += owned.memory() * 2 + sizeof(Group);
    held_.add(sizeof(Group) + 3 * kPlaceBytes + query_.aggregates.size() * sizeof(Accumulator));
    found = group_of_.emplace(std::move(owned), groups_.size()).first;
    start_group();
    for (const Value& key : keys) groups_.back().keys.push_back(kept(key));
  }
  for (size_t i = 0; i < query_.aggregates.size(); ++i) {
    Accumulator& accumulator = groups_[found->second].accumulators[i];
    const size_t before = accumulator.memory();
    accumulator.add(kept(evaluate(query_.aggregates[i].argument, frame)));
    memory_ += accumulator.memory() - before;
    held_.add(accumulator.memory() - before);  // wraps around where a value made room
  }
}

void Collector::start_group() {
  Group& group = groups_.emplace_back();
  for (const BoundAggregate& one : query_.aggregates) {
    group.accumulators.emplace_back(one.aggregate);
  }
}

bool Collector::emit(Frame& frame) {
  if (query_.order_by.empty()) return emit_result({{}, project(query_, frame)});
  Value result = project(query_, frame);
  if (result.is_undefined()) return true;
  Sorted sorted;
  sorted.arrival = arrivals_++;
  sorted.row.order = order_values_of(query_, frame);
  for (Value& value : sorted.row.order) value = kept(value);
  sorted.row.result = kept(result);
  memory_ += sorted.memory();
  held_.add(sizeof(Sorted) + query_.order_by.size() * sizeof(Value));
  sorted_.push_back(std::move(sorted));
  drop_excess();
  return true;
}

bool Collector::emit_result(Ranked row) {
  if (row.result.is_undefined()) return true;
  if (query_.distinct) {
    Value owned = kept(row.result);
    if (!seen_.insert(owned).second) return true;
    memory_ += owned.memory();
    held_.add(sizeof(Value) + kPlaceBytes);
  }
  if (skipped_ < skip_) {
    ++skipped_;
    return true;
  }
  if (most_ && results_.size() >= *most_) return false;
  row.result = kept(row.result);
  memory_ += row.result.memory();
  held_.add(sizeof(Ranked));
  results_.push_back(std::move(row));
  return !most_ || results_.size() < *most_;
}

bool Collector::before(const Sorted& a, const Sorted& b) const {
  const auto order = compare(query_, a.row.order, b.row.order);
  return order != std::strong_ordering::equal ? order == std::strong_ordering::less
                                              : a.arrival < b.arrival;
}

// With DISTINCT nothing can be dropped early: the rows that are kept may be duplicates of one
// another.
void Collector::drop_excess() {
  if (!most_ || query_.distinct) return;
  const size_t wanted = static_cast<size_t>(skip_ + *most_);
  if (sorted_.size() < 2 * wanted + 64) return;
  auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(wanted);
  std::nth_element(sorted_.begin(), middle, sorted_.end(),
                   [this](const Sorted& a, const Sorted& b) { return before(a, b); });
  for (auto it = middle; it != sorted_.end(); ++it) {
    memory_ -= it->memory();
    held_.remove(sizeof(Sorted) + query_.order_by.size() * sizeof(Value));
  }
  sorted_.erase(middle, sorted_.end());
}

std::vector<Collector::Ranked> Collector::finish(Frame& frame) {
  if (query_.grouped()) {
    // Without GROUP BY there is one group, even of no rows.
    if (groups_.empty() && query_.group_by.empty()) start_group();
    for (const Group& group : groups_) {
      std::vector<Value> aggregates;
      for (const Accumulator& one : group.accumulators) aggregates.push_back(one.result());
      frame.group_keys = &group.keys;
      frame.aggregates = &aggregates;
      const bool more = emit(frame);
      frame.group_keys = nullptr;
      frame.aggregates = nullptr;
      if (!more || frame.context.budget.is_over()) break;
    }
  }
  if (!query_.order_by.empty()) {
    const auto order =
        sorted_order(sorted_.size(), frame.context.budget,
                     [this](uint32_t a, uint32_t b) { return before(sorted_[a], sorted_[b]); });
    for (const uint32_t at : order) {
      if (frame.context.budget.is_over() || !emit_result(std::move(sorted_[at].row))) break;
    }
  }
  return std::move(results_);
}

}  // namespace orrery::query
