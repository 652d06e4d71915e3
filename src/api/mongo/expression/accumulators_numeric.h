// Accumulators over numbers, which expressions of the same names use too. Private to this folder
// and to windows.
#pragma once

#include <memory>
#include <vector>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/expression/accumulator.h"

namespace orrery::mongo {

// Non-numbers are left out.
class SumAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation&) override {
    if (value.is_number()) sum_.add(value);
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation&) override {
    sum_.merge(static_cast<const SumAccumulator&>(later).sum_);
    return {};
  }
  Answer<Value> result(Evaluation&) const override { return sum_.total(); }

 private:
  Sum sum_;
};

class AverageAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation&) override {
    if (!value.is_number()) return {};
    sum_.add(value);
    ++count_;
    return {};
  }
  Answer<void> merge(const Accumulator& later, Evaluation&) override {
    const auto& other = static_cast<const AverageAccumulator&>(later);
    sum_.merge(other.sum_);
    count_ += other.count_;
    return {};
  }
  Answer<Value> result(Evaluation&) const override {
    return count_ == 0 ? Value::make_null() : sum_.mean(count_);
  }

 private:
  Sum sum_;
  int64_t count_ = 0;
};

// Welford's method.
template <bool kSample>
class DeviationAccumulator : public Accumulator {
 public:
  Answer<void> add(const Value& value, Evaluation&) override {
    if (!value.is_number()) return {};
    // Decimals beyond the doubles are infinite.
    const double number = is_decimal(value) ? double_of(decimal_of(value)) : value.number();
    ++count_;
    const double delta = number - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (number - mean_);
    return {};
  }
  Answer<Value> result(Evaluation&) const override;

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// The value below which so much of the sorted numbers lies: the one whose rank is at least that.
Value percentile_of(const std::vector<double>& sorted, double percentile);

class PercentileAccumulator : public Accumulator {
 public:
  PercentileAccumulator(std::vector<double> percentiles, bool is_median)
      : percentiles_(std::move(percentiles)), is_median_(is_median) {}
  Answer<void> add(const Value& value, Evaluation& evaluation) override;
  Answer<void> merge(const Accumulator& later, Evaluation& evaluation) override;
  Answer<Value> result(Evaluation&) const override;
  size_t memory() const override { return 64 + numbers_.size() * sizeof(double); }

 private:
  std::vector<double> percentiles_;
  bool is_median_;
  std::vector<double> numbers_;
};

}  // namespace orrery::mongo
