// A traversal while it runs: traversers, side effects, and what it may still use.
//
// Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/gremlin/parse/tree.h"
#include "api/gremlin/traversal/graph.h"
#include "api/gremlin/value/elements.h"
#include "base/budget.h"
#include "base/result.h"

namespace orrery::gremlin {

class Traversal;
class Run;

// Counts what holds it as allocated on this thread (base/budget.h), and each copy as well.
class Counted {
 public:
  explicit Counted(size_t bytes) noexcept : size_(bytes), bytes_(bytes) {}
  Counted(const Counted& other) noexcept : Counted(other.size_) {}
  Counted& operator=(const Counted&) noexcept { return *this; }

 private:
  size_t size_;
  CountedBytes bytes_;
};

// One object of a path, with what came before it. The first of a path is no object. Immutable.
struct PathNode {
  Value value;
  std::vector<std::string> labels;
  std::shared_ptr<const PathNode> before;
  Counted counted{128};  // with the allocation's own
};

// How often a traverser has gone through a repeat(), with those around it. Immutable.
struct Loop {
  const void* step;
  std::string name;  // empty: it has none
  uint32_t count;
  std::shared_ptr<const Loop> outer;
};
using LoopPtr = std::shared_ptr<const Loop>;
bool are_same(const Loop* a, const Loop* b);

// Bulks multiply at every branch. One that no 64 bits hold stays the largest, and count() says so.
inline uint64_t saturated_sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}
inline uint64_t saturated_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

struct Traverser {
  Value value;
  uint64_t bulk = 1;                     // so many of the same
  std::shared_ptr<const PathNode> path;  // null when the run does not keep it
  Value sack;
  LoopPtr loop;          // the innermost
  Counted counted{192};  // with its loops

  // Goes on with another value, which its path has too.
  Traverser step_to(Value to) const;
  // The same without the path knowing.
  Traverser with(Value other) const;
  void add_label(const std::string& label);
  // The values that have this label, oldest first.
  std::vector<Value> labelled(std::string_view label) const;
  std::shared_ptr<const PathValue> path_value() const;
};
using Batch = std::vector<Traverser>;

struct RunLimits {
  uint32_t loops = 64;
  size_t memory = 512ULL << 20;  // estimated
};

// A map that keeps the order of insertion.
template <class T>
class Grouped {
 public:
  T& operator[](const Value& key) {
    const auto [at, is_new] = index_.try_emplace(key, entries_.size());
    if (is_new) entries_.emplace_back(key, T());
    return entries_[at->second].second;
  }
  std::vector<std::pair<Value, T>>& entries() { return entries_; }
  bool empty() const { return entries_.empty(); }

 private:
  std::unordered_map<Value, size_t, Value::Hash> index_;
  std::vector<std::pair<Value, T>> entries_;
};

struct SideEffect {
  std::optional<Value> given;  // by withSideEffect(), or by a step that sets it
  std::optional<Value::List> bag;
  Grouped<int64_t> counts;
  bool has_counts = false;
  Grouped<Batch> groups;
  bool has_groups = false;
  Traversal* group_values = nullptr;
  std::shared_ptr<Tree> tree;
};

// Numbers by chance. Seeded when the first is asked for: most traversals need none.
class Random {
 public:
  using result_type = std::mt19937_64::result_type;
  static constexpr result_type min() { return std::mt19937_64::min(); }
  static constexpr result_type max() { return std::mt19937_64::max(); }
  result_type operator()() {
    if (!engine_) engine_.emplace(std::random_device()());
    return (*engine_)();
  }
  void seed(uint64_t seed) { engine_.emplace(seed); }

 private:
  std::optional<std::mt19937_64> engine_;
};

class Run {
 public:
  // On the thread that runs it.
  Run(Graph& graph_in, const RunLimits& limits_in)
      : graph(graph_in), limits(limits_in), counted_at_start_(CountedBytes::on_this_thread()) {}

  // A traverser with this value and nothing behind it; and one that is yet to get its first.
  Traverser fresh(Value value) const;
  Traverser seed() const;

  // After some work: whether there is time and memory left. Cheap.
  Status check(size_t work = 1);
  // Counts what is kept until the end. Code::too_large when that is too much.
  Status keep(size_t bytes);
  Status keep(const Batch& batch);
  Result<std::optional<Value>> side_effect(std::string_view name);
  // Whether a traverser is nothing but its vertex and its bulk, so that a frontier can stand for
  // many.
  bool may_number() const {
    return !keeps_path && with_bulk && sack.is_null() && sack_merge.empty();
  }

  Graph& graph;
  const RunLimits limits;
  bool keeps_path = true;
  bool with_bulk = true;
  Value sack;              // of new traversers
  std::string sack_merge;  // Operator.…, when merged traversers merge their sacks
  std::map<std::string, SideEffect, std::less<>> side_effects;
  Random random;

 private:
  Status check_memory() const;

  size_t work_ = 0;
  size_t kept_ = 0;
  const int64_t counted_at_start_;
};

// Merges traversers that are the same in all but their bulk.
void merge_bulk(const Run& run, Batch& batch);
// Applies Operator.NAME.
Result<Value> apply_operator(std::string_view name, const Value& a, const Value& b);

}  // namespace orrery::gremlin
