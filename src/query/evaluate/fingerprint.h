// A 128-bit hash that stands for a value in GROUP BY, DISTINCT and positions. Equal values have
// equal fingerprints. It is cut from SHA-256, so that nobody can construct two values that collide
// and would become one group or one row. It is the same on every machine and in every run, so that
// a continuation can hold it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/keyed_hash.h"
#include "value/value.h"

namespace orrery::query {

using Fingerprint = std::array<uint8_t, 16>;  // compared byte by byte

Fingerprint fingerprint_of(const value::Value& value);
// Of several values in their order, undefined ones included.
Fingerprint fingerprint_of(std::span<const value::Value> values);

// The same with a cache, for values that repeat: a lookup takes a fraction of the time of hashing.
// It holds a bounded number of short values, the first that come.
class Fingerprints {
 public:
  Fingerprint of(std::span<const value::Value> values);

 private:
  std::string form_;  // of the values at hand
  KeyedMap<std::string, Fingerprint> known_;
};

}  // namespace orrery::query
