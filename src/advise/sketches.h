// Statistics over any number of values in bounded memory: a random sample, the number of distinct
// values, and the heaviest values.
//
// Deterministic: the same values in the same order give the same result. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery::advise {

// splitmix64: pseudo-random numbers that are the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // Below `bound`, which is not 0.
  uint64_t below(uint64_t bound) { return next() % bound; }

 private:
  uint64_t state_;
};

// Mixes two numbers into one whose bits are all spread.
uint64_t mix(uint64_t a, uint64_t b);
// 64 bits of the value's Murmur3 hash.
uint64_t hash_of(std::string_view bytes);

// Algorithm R: chooses which of a stream of unknown length are kept, each with the same chance.
class Reservoir {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  Reservoir(size_t capacity, uint64_t seed) : capacity_(capacity), random_(seed) {}
  // The place of the next one: below capacity, or kNone when it is not kept. Places are given in
  // order until all are taken.
  size_t offer();
  uint64_t seen() const { return seen_; }

 private:
  size_t capacity_;
  uint64_t seen_ = 0;
  Random random_;
};

// HyperLogLog with 2^12 registers: the number of distinct hashes, with a standard error of 1.6 %.
// Small numbers are counted linearly, and nearly exact.
class HyperLogLog {
 public:
  void add(uint64_t hash);
  double estimate() const;

 private:
  static constexpr int kBits = 12;
  static constexpr size_t kRegisters = size_t{1} << kBits;
  std::array<uint8_t, kRegisters> registers_{};
};

// SpaceSaving: the heaviest values by weight. A value whose weight is above total/capacity is
// always among them, and no count is too high by more than that.
class SpaceSaving {
 public:
  struct Counter {
    uint64_t hash = 0;
    double weight = 0;  // at least the true weight
    double error = 0;   // weight - error is at most the true weight
    std::string value;  // the first kMaxValueBytes of it
    double lower_bound() const { return weight - error; }
  };
  static constexpr size_t kCapacity = 256;
  static constexpr size_t kMaxValueBytes = 128;

  void add(uint64_t hash, std::string_view value, double weight);
  double total() const { return total_; }
  // The heaviest first; those of the same weight by hash.
  std::vector<Counter> heaviest() const;

 private:
  // Restores the order of the heap from `at` downwards.
  void sink(size_t at);
  void swap(size_t a, size_t b);

  std::vector<Counter> heap_;  // the lightest first
  std::unordered_map<uint64_t, size_t> places_;
  double total_ = 0;
};

}  // namespace orrery::advise
