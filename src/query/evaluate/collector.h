// From rows to results: GROUP BY, ORDER BY, DISTINCT, OFFSET and LIMIT, in that order. Rows of a
// query without these pass straight through.
//
// Memory is bounded: groups, rows to sort and distinct values are counted against the query's
// budget, and a query over the limit fails with a message that says so. ORDER BY with TOP or LIMIT
// keeps only as many rows as can still be returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/evaluate/evaluate.h"
#include "query/evaluate/order_values.h"
#include "value/value.h"

namespace orrery::query {

inline constexpr size_t kQueryMemoryMax = 256ULL << 20;

class Collector {
 public:
  // Whether the rows' documents stay in place until finish(), or only during add().
  enum class Lifetime : uint8_t { while_row_lives, copy };

  // Whether OFFSET, LIMIT and TOP are applied.
  enum class Extent : uint8_t { cut, whole };
  struct Ranked {
    OrderValues order;  // empty without ORDER BY
    value::Value result;
  };

  Collector(const BoundQuery& query, Lifetime lifetime, Budget& budget,
            Extent extent = Extent::cut);

  // Takes the row at hand. False: no further row can change the result.
  bool add(Frame& frame);
  // The results, in order.
  std::vector<Ranked> finish(Frame& frame);
  static std::vector<value::Value> values_of(std::vector<Ranked> ranked);

  bool over_limit() const { return memory_ > kQueryMemoryMax; }

 private:
  struct HashValue {
    size_t operator()(const value::Value& value) const { return static_cast<size_t>(value.hash()); }
  };
  struct Group {
    std::vector<value::Value> keys;
    std::vector<Accumulator> accumulators;
  };
  struct Sorted {
    Ranked row;
    uint64_t arrival = 0;  // equal order values keep the order in which they came
    size_t memory() const;
  };

  value::Value kept(const value::Value& value) const;
  void add_to_group(Frame& frame);
  void start_group();
  // Projects the row or group that the frame is set for, and adds the result.
  bool emit(Frame& frame);
  bool emit_result(Ranked row);
  bool before(const Sorted& a, const Sorted& b) const;
  void drop_excess();

  const BoundQuery& query_;
  const Lifetime lifetime_;
  const uint64_t skip_;
  const std::optional<uint64_t> most_;  // results after skipping
  size_t memory_ = 0;                   // of values, as if nothing of them were shared
  Held held_;                           // what is around them
  uint64_t skipped_ = 0;
  uint64_t arrivals_ = 0;
  std::vector<Group> groups_;  // in the order in which they came
  std::unordered_map<value::Value, size_t, HashValue> group_of_;
  std::vector<Sorted> sorted_;
  std::unordered_set<value::Value, HashValue> seen_;
  std::vector<Ranked> results_;
};

}  // namespace orrery::query
