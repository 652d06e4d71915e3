// A short name for a value: 128 bits that equal values share and, but for one chance in 10^38, no
// others. They are of its SHA-256, so nobody can make two values with one name, which would be one
// group of GROUP BY and one row of DISTINCT. The same on every machine and in every run, so that a
// continuation can hold it.
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

// The same, for values of which many come again: short ones are remembered, the first so many, as
// finding one takes a fraction of the time of hashing it.
class Fingerprints {
 public:
  Fingerprint of(std::span<const value::Value> values);

 private:
  std::string form_;  // of the values at hand
  KeyedMap<std::string, Fingerprint> known_;
};

}  // namespace orrery::query
