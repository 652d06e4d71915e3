// How a weight (bytes, RU) is spread over the values of a key, estimated from a sample. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace orrery::advise {

// One of the sample: the hash of its key's value, its weight, and where it came from.
struct Entry {
  uint64_t hash = 0;
  double weight = 0;
  uint32_t row = 0;
};

// All of one value.
struct Group {
  uint64_t hash = 0;
  double weight = 0;
  double squares = 0;  // the sum of its entries' squared weights
  uint32_t count = 0;
  uint32_t row = 0;  // of its first entry
};

struct Spread {
  std::vector<Group> groups;  // the heaviest first
  double total = 0;
  double count = 0;
  double once = 0;  // values seen once
  // The chance that two units of weight have the same value (the sum of squared shares), without
  // the bias of small samples.
  double concentration = 0;
  // The same for neighbours in time.
  double near = 0;

  double share(const Group& group) const { return total > 0 ? group.weight / total : 0; }
  // A share less twice its standard error, and not below 0.
  double lower_share(const Group& group) const;
  double largest_share() const { return groups.empty() ? 0 : share(groups.front()); }
  bool hot_by_time() const { return near > 0.2 && near > 3 * concentration; }
};

// `entries` are in the order of time.
Spread spread_of(std::span<const Entry> entries);

// Which of N partitions a value is in.
using Place = std::function<uint32_t(const Group& group)>;

// The share of the busiest of `partitions`: heavy values where `place` puts them, the rest as
// many small ones of which none is known.
double busiest_share(const Spread& spread, double partitions, const Place& place);

// Pieces of the entries, in time: at most 16, of 200 entries at least. One when there are fewer.
std::vector<std::span<const Entry>> windows_of(std::span<const Entry> entries);

}  // namespace orrery::advise
