// A hash index over values that lie in a vector of its user's, by their positions. Open addressing:
// no allocation for a value.
//
// Threading: one thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orrery::gremlin {

class ValueIndex {
 public:
  void reserve(size_t values) {
    if (2 * values > cells_.size()) rebuild(std::bit_ceil(2 * values));
  }
  void clear() { cells_.clear(), size_ = 0; }
  size_t size() const { return size_; }

  // The position of the value with this hash for which is_same(position) holds. When there is none,
  // size() before the call, which is the new one's position from now on.
  template <class IsSame>
  size_t find_or_add(size_t hash, const IsSame& is_same) {
    if (2 * (size_ + 1) > cells_.size()) rebuild(cells_.empty() ? 16 : 2 * cells_.size());
    size_t at = cell_of(hash);
    for (; cells_[at].number != 0; at = (at + 1) & (cells_.size() - 1)) {
      if (cells_[at].hash == hash && is_same(cells_[at].number - 1)) return cells_[at].number - 1;
    }
    cells_[at] = {hash, ++size_};
    return size_ - 1;
  }

 private:
  struct Cell {
    size_t hash;
    size_t number;  // position + 1; 0: empty
  };

  // The high bits: those that a hash of integers leaves alike are not all of it.
  size_t cell_of(size_t hash) const {
    return ((hash * 0x9E3779B97F4A7C15ULL) >> 32) & (cells_.size() - 1);
  }
  void rebuild(size_t cells) {
    std::vector<Cell> before = std::exchange(cells_, std::vector<Cell>(cells));
    for (const Cell& cell : before) {
      if (cell.number == 0) continue;
      size_t at = cell_of(cell.hash);
      while (cells_[at].number != 0) at = (at + 1) & (cells_.size() - 1);
      cells_[at] = cell;
    }
  }

  std::vector<Cell> cells_;  // a power of two of them, half of them empty
  size_t size_ = 0;
};

}  // namespace orrery::gremlin
