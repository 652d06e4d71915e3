// What functions may know besides their arguments. One Context serves one running query; it is not
// shared between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "query/functions/regex.h"
#include "value/value.h"

namespace orrery::query {

// Functions that users wrote: udf.name(…). For one thread at a time.
class UserFunctions {
 public:
  virtual ~UserFunctions() = default;
  // The number of the function with this name; nothing when there is none.
  virtual std::optional<uint32_t> find(std::string_view name) = 0;
  // The result owns what it is made of.
  virtual Result<value::Value> call(uint32_t function, std::vector<value::Value> arguments) = 0;
};

// A mt19937_64 that is seeded on first use: seeding takes as long as planning a short query.
class Random {
 public:
  void seed(uint64_t seed) {
    seed_ = seed;
    engine_.reset();
  }
  uint64_t operator()() {
    if (!engine_) engine_.emplace(seed_);
    return (*engine_)();
  }

 private:
  uint64_t seed_ = 0;
  std::optional<std::mt19937_64> engine_;
};

// The most memory that one expression may take while it is evaluated, and the largest value, as
// JSON, that it may make. The query ends when either is exceeded.
inline constexpr size_t kEvaluationBytesMax = 32ULL << 20;
inline constexpr size_t kValueBytesMax = 16ULL << 20;

struct Context {
  Context() { budget.start({.bytes = kEvaluationBytesMax}); }

  // What the query may still spend. evaluate.cc charges each function by the size of its arguments
  // and its result. Functions that do more work than that charge the rest themselves.
  Budget budget;
  // The time of the query in 100 ns ticks since 1970: fixed, so that every row sees the same.
  int64_t now_ticks = 0;
  Random random;  // the caller seeds it
  // The number that an item has within its physical partition, for DOCUMENTID. Null, or no number:
  // the function is undefined.
  std::optional<double> (*item_number)(const value::Value& item) = nullptr;
  RegexCache regexes;
  // Those that the query was bound with.
  UserFunctions* functions = nullptr;
  // Why a user function failed, or which computation exceeds a limit. It ends the query.
  std::optional<Error> failed;

  // Whether a value may have so many bytes. When not, the query ends.
  bool may_make(uint64_t bytes) {
    if (bytes > kValueBytesMax) budget.end(Budget::Ended::memory);
    return budget.has_room(bytes);
  }
  void fail(Error error) {
    if (!failed) failed = std::move(error);
    budget.end(Budget::Ended::time);
  }
};

}  // namespace orrery::query
