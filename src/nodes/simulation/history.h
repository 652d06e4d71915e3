// What clients of the simulated partitions were told, and whether it can be true.
//
// A partition is a sequence of writes. All sequences of it that anybody has seen must agree. A
// strong read has every write that was acknowledged, and all that another strong read had seen,
// before it began. A write that was told as failed is in no sequence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nodes/seat.h"
#include "nodes/simulation/world.h"

namespace orrery::nodes::simulation {

// The catalog's own sequence.
inline constexpr RangeRef kCatalogRef{.container = 0, .range = 0};

class History {
 public:
  explicit History(World& world) : world_(world) {}

  // How much a strong read that begins now must have.
  size_t floor(RangeRef ref);
  // A split makes one of the other: it begins with all that the parent has.
  void made_from(RangeRef child, RangeRef parent) { of(child).parent = parent; }
  size_t floor_at(RangeRef ref, int64_t time_us);
  bool is_dropped(RangeRef ref) { return of(ref).dropped; }

  void acknowledged(RangeRef ref, const std::vector<uint64_t>& writes);
  void told_failed(RangeRef ref, uint64_t value);
  // Somebody opened it. `is_owner`: nobody has claimed it since.
  void opened(RangeRef ref, const std::vector<uint64_t>& writes, bool is_owner);
  void read(RangeRef ref, const std::vector<uint64_t>& writes, size_t floor, bool was_dropped);
  void seen(RangeRef ref, const std::vector<uint64_t>& writes);
  // A drop is acknowledged: who begins to read from here on gets no answer.
  void dropped(RangeRef ref) { of(ref).dropped = true; }
  void planned(const Plan& plan);

 private:
  struct Sequence {
    std::vector<uint64_t> longest;
    std::set<uint64_t> failed;
    size_t floor = 0;
    std::vector<std::pair<int64_t, size_t>> floors;  // since when
    bool dropped = false;
    std::optional<RangeRef> parent;
  };
  Sequence& of(RangeRef ref) { return sequences_[ref]; }
  void raise(Sequence& sequence, size_t floor);

  World& world_;
  std::map<RangeRef, Sequence> sequences_;
  std::map<std::pair<uint64_t, uint64_t>, std::map<RangeRef, std::string>> plans_;
};

}  // namespace orrery::nodes::simulation
