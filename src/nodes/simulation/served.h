// For how long nobody served a range, after a fault: the longest time between two moments at which
// a node that others can reach has acknowledged a write to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "nodes/seat.h"
#include "nodes/simulation/world.h"

namespace orrery::nodes::simulation {

class Served {
 public:
  explicit Served(const World& world) : world_(world) {}

  // From here on it counts.
  void begin(RangeRef ref) { ranges_[ref] = {.last_us = world_.now_us()}; }
  void served(RangeRef ref) {
    const auto found = ranges_.find(ref);
    if (found == ranges_.end()) return;
    Range& range = found->second;
    range.longest_us = std::max(range.longest_us, world_.now_us() - range.last_us);
    range.last_us = world_.now_us();
  }
  struct Longest {
    RangeRef ref;
    int64_t us = 0;
  };
  // Of all ranges, until now.
  Longest longest() const {
    Longest longest;
    for (const auto& [ref, range] : ranges_) {
      const int64_t us = std::max(range.longest_us, world_.now_us() - range.last_us);
      if (us >= longest.us) longest = {.ref = ref, .us = us};
    }
    return longest;
  }

 private:
  struct Range {
    int64_t last_us = 0;
    int64_t longest_us = 0;
  };
  const World& world_;
  std::map<RangeRef, Range> ranges_;
};

}  // namespace orrery::nodes::simulation
