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

// Random numbers, as good as those of mt19937_64, which is made when the first one is asked for:
// that takes as long as a short query's plan.
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

// What one expression may take of memory while it is computed, and what a value that it makes may
// have as JSON: with more, the query ends.
inline constexpr size_t kEvaluationBytesMax = 32ULL << 20;
inline constexpr size_t kValueBytesMax = 16ULL << 20;

struct Context {
  Context() { budget.start({.bytes = kEvaluationBytesMax}); }

  // What the query may still spend. Everything that computes takes from it: evaluate.cc by the size
  // of what goes into a function and comes out of it, functions that do more than that themselves.
  Budget budget;
  // The time of the query in 100 ns ticks since 1970: fixed, so that every row sees the same.
  int64_t now_ticks = 0;
  Random random;  // the caller seeds it
  // Of the row at hand, for DOCUMENTID.
  std::optional<double> document_id;
  RegexCache regexes;
  // Those that the query was bound with.
  UserFunctions* functions = nullptr;
  // Why one of them failed, or what is too much to compute: ends the query.
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
