// The aggregates: accumulators over the values of many rows. Their states can be merged, so that
// each partition aggregates its own rows.
//
// Undefined values do not count anywhere.
//   COUNT     of values
//   COUNTIF   of values that are true
//   SUM AVG   undefined once a value is no number; SUM of nothing is 0, AVG of nothing undefined
//   MIN MAX   in the order of all types; undefined once a value is an array or an object, and of
//             nothing
//   MAKELIST  an array of the values as they come; MAKESET the same without duplicates
// Sums carry their rounding error (Neumaier), so that the result hardly depends on the order of
// rows and partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace orrery::query {

using value::Value;

enum class Aggregate : uint8_t { count, count_if, sum, average, min, max, make_list, make_set };

// By name, upper and lower case alike.
std::optional<Aggregate> find_aggregate(std::string_view name);
std::string_view name_of(Aggregate aggregate);

class Accumulator {
 public:
  explicit Accumulator(Aggregate aggregate) : aggregate_(aggregate) {}

  Aggregate aggregate() const { return aggregate_; }
  // Adds the value of one row, or of `times` rows that share it. The value must outlive the
  // accumulator or be owned (Value::to_owned).
  void add(const Value& value, uint64_t times = 1);
  void merge(const Accumulator& other);
  // The values after this come from another part. Sums of numbers with a fraction depend on the
  // order in which they are added. They are added up part by part, so that merging accumulators of
  // the parts gives the same.
  void end_part();
  Value result() const;

  // The state as a value and back: what travels between nodes and into continuation tokens.
  Value state() const;
  static Result<Accumulator> from_state(Aggregate aggregate, const Value& state);

  size_t memory() const { return sizeof(*this) + memory_; }

 private:
  struct HashValue {
    size_t operator()(const Value& value) const { return static_cast<size_t>(value.hash()); }
  };

  // A sum, and what rounding took from it.
  struct Sum {
    double sum = 0;
    double error = 0;
    void add(double number);
    void add(const Sum& other) {
      add(other.sum);
      error += other.error;
    }
  };
  Sum total() const;

  void add_product(double number, double times);
  void add_to_list(const Value& value);

  Aggregate aggregate_;
  bool is_undefined_ = false;  // a value of a wrong type came
  uint64_t count_ = 0;
  Sum sum_;    // of the part at hand
  Sum parts_;  // of those before it
  Value best_;
  std::vector<Value> list_;
  std::unordered_set<Value, HashValue> seen_;  // MAKESET only
  size_t memory_ = 0;
};

}  // namespace orrery::query
