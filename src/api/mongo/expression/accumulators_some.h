// Accumulators that keep some of the values, by their place or by an order: $firstN, $lastN, $minN,
// $maxN, $top, $topN, $bottom, $bottomN. Private to accumulator.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/mongo/bson/types.h"
#include "api/mongo/expression/accumulator.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {

inline Answer<void> add_each(const std::vector<Value>& values, Accumulator& to,
                             Evaluation& evaluation) {
  for (const Value& value : values) {
    if (auto added = to.add(value, evaluation); !added) return added;
  }
  return {};
}

enum class Keep : uint8_t { first, last, least, most };

// $firstN, $lastN, $minN, $maxN.
template <Keep kKeep>
class SomeAccumulator : public Accumulator {
 public:
  explicit SomeAccumulator(int64_t count) : count_(static_cast<size_t>(count)) {}
  Answer<void> add(const Value& value, Evaluation& evaluation) override {
    if (evaluation.budget.spend(1)) return evaluation.over();
    if constexpr (kKeep == Keep::first || kKeep == Keep::last) {
      if (kKeep == Keep::first && values_.size() == count_) return {};
      keep(value.is_undefined() ? Value::make_null() : value, values_.size());
      if (values_.size() > count_) drop(0);
    } else {
      if (is_nullish(value)) return {};
      const auto before = [&](const Value& a, const Value& b) {
        const auto order = compare(a, b, evaluation.collation);
        return kKeep == Keep::least ? order < 0 : order > 0;
      };
      const auto place = std::upper_bound(values_.begin(), values_.end(), value, before);
      keep(value, static_cast<size_t>(place - values_.begin()));
      if (values_.size() > count_) drop(values_.size() - 1);
    }
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    return add_each(static_cast<const SomeAccumulator&>(later).values_, *this, evaluation);
  }
  Answer<Value> result(Evaluation&) const override { return Value::make_array(values_); }
  size_t memory() const override { return memory_; }

 private:
  void keep(const Value& value, size_t at) {
    memory_ += value.memory();
    values_.insert(values_.begin() + static_cast<std::ptrdiff_t>(at), value.to_owned());
  }
  void drop(size_t at) {
    memory_ -= std::min(memory_, values_[at].memory());
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  size_t count_;
  std::vector<Value> values_;
  size_t memory_ = 64;
};

// $top, $topN, $bottom, $bottomN. Its input is [the key's parts…, the output]. The bottom is the
// top of the order turned round: of what is equal, what came first is nearest to the end.
template <bool kTop, bool kMany>
class OrderedAccumulator : public Accumulator {
 public:
  OrderedAccumulator(SortKey order, int64_t count)
      : order_(std::move(order)), count_(static_cast<size_t>(count)) {}
  Answer<void> add(const Value& value, Evaluation& evaluation) override {
    if (evaluation.budget.spend(2)) return evaluation.over();
    Entry entry;
    const Value key = value.at(0);
    for (const Value& part : key.elements()) entry.key.push_back(part.at(0).to_owned());
    entry.output = value.at(1).to_owned();
    memory_ += value.memory();
    keep(std::move(entry), evaluation);
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override {
    for (const Entry& entry : static_cast<const OrderedAccumulator&>(later).entries_) {
      if (evaluation.budget.spend(2)) return evaluation.over();
      memory_ += entry.output.memory();
      for (const Value& part : entry.key) memory_ += part.memory();
      keep(entry, evaluation);
    }
    return {};
  }
  Answer<Value> result(Evaluation&) const override {
    if (!kMany) return entries_.empty() ? Value::make_null() : entries_.front().output;
    std::vector<Value> outputs;
    for (const Entry& entry : entries_) outputs.push_back(entry.output);
    if (!kTop) std::ranges::reverse(outputs);
    return Value::make_array(std::move(outputs));
  }
  size_t memory() const override { return memory_; }

 private:
  struct Entry {
    std::vector<Value> key;
    Value output;
  };
  void keep(Entry entry, Evaluation& evaluation) {
    const auto before = [&](const Entry& a, const Entry& b) {
      const auto order = order_.compare(a.key, b.key, evaluation.collation);
      return kTop ? order < 0 : order > 0;
    };
    const auto place = std::upper_bound(entries_.begin(), entries_.end(), entry, before);
    entries_.insert(place, std::move(entry));
    if (entries_.size() > count_) {
      memory_ -= std::min(memory_, entries_.back().output.memory());
      entries_.pop_back();
    }
  }

  SortKey order_;
  size_t count_;
  std::vector<Entry> entries_;
  size_t memory_ = 64;
};

// [key, output] of a document.
class OrderedInputNode : public ExpressionNode {
 public:
  OrderedInputNode(SortKey order, Node output)
      : order_(std::move(order)), output_(std::move(output)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto output = output_->evaluate(evaluation);
    if (!output) return output;
    // Each part in an array of its own: that of an empty array is undefined, which arrays leave
    // out.
    std::vector<Value> key = order_.of(evaluation.current, evaluation.collation);
    for (Value& part : key) part = Value::make_array({part});
    std::vector<Value> pair;
    pair.push_back(Value::make_array(std::move(key)));
    pair.push_back(output->is_undefined() ? Value::make_null() : std::move(*output));
    return Value::make_array(std::move(pair));
  }

 private:
  SortKey order_;
  Node output_;
};

}  // namespace orrery::mongo
