// See sketches.h.
#include "advise/sketches.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"

namespace orrery::advise {

uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

uint64_t mix(uint64_t a, uint64_t b) {
  return Random(a ^ std::rotl(Random(b).next(), 23)).next();
}

uint64_t hash_of(std::string_view bytes) {
  const auto hash = murmur3_x64_128(bytes, 0);
  return load_u64_le(reinterpret_cast<const char*>(hash.data()));
}

size_t Reservoir::offer() {
  const uint64_t number = seen_++;
  if (number < capacity_) return static_cast<size_t>(number);
  const uint64_t place = random_.below(seen_);
  return place < capacity_ ? static_cast<size_t>(place) : kNone;
}

void HyperLogLog::add(uint64_t hash) {
  const size_t at = hash >> (64 - kBits);
  // The rank of the first set bit among those that did not choose the register.
  const uint64_t rest = hash << kBits | uint64_t{1} << (kBits - 1);
  const auto rank = static_cast<uint8_t>(std::countl_zero(rest) + 1);
  registers_[at] = std::max(registers_[at], rank);
}

double HyperLogLog::estimate() const {
  constexpr auto kCount = static_cast<double>(kRegisters);
  double sum = 0;
  double empty = 0;
  for (const uint8_t rank : registers_) {
    sum += std::ldexp(1.0, -rank);
    if (rank == 0) ++empty;
  }
  const double raw = 0.7213 / (1 + 1.079 / kCount) * kCount * kCount / sum;
  if (raw <= 2.5 * kCount && empty > 0) return kCount * std::log(kCount / empty);
  return raw;
}

void SpaceSaving::swap(size_t a, size_t b) {
  std::swap(heap_[a], heap_[b]);
  places_[heap_[a].hash] = a;
  places_[heap_[b].hash] = b;
}

void SpaceSaving::sink(size_t at) {
  while (true) {
    size_t least = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap_.size(); ++child) {
      if (heap_[child].weight < heap_[least].weight) least = child;
    }
    if (least == at) return;
    swap(at, least);
    at = least;
  }
}

void SpaceSaving::add(uint64_t hash, std::string_view value, double weight) {
  total_ += weight;
  if (const auto found = places_.find(hash); found != places_.end()) {
    heap_[found->second].weight += weight;
    sink(found->second);
    return;
  }
  const std::string_view kept = value.substr(0, kMaxValueBytes);
  if (heap_.size() < kCapacity) {
    heap_.push_back({.hash = hash, .weight = weight, .error = 0, .value = std::string(kept)});
    size_t at = heap_.size() - 1;
    places_[hash] = at;
    for (; at > 0 && heap_[at].weight < heap_[(at - 1) / 2].weight; at = (at - 1) / 2) {
      swap(at, (at - 1) / 2);
    }
    return;
  }
  // The lightest one makes room, and what it had is the error of the new one.
  Counter& lightest = heap_.front();
  places_.erase(lightest.hash);
  places_[hash] = 0;
  lightest.hash = hash;
  lightest.error = lightest.weight;
  lightest.weight += weight;
  lightest.value.assign(kept);
  sink(0);
}

std::vector<SpaceSaving::Counter> SpaceSaving::heaviest() const {
  std::vector<Counter> sorted = heap_;
  std::ranges::sort(sorted, [](const Counter& a, const Counter& b) {
    return std::tuple(-a.weight, a.hash) < std::tuple(-b.weight, b.hash);
  });
  return sorted;
}

}  // namespace orrery::advise
