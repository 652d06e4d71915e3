// Sets and indexes of small numbers: one bit or one cell each. For the numbers of vertices
// that a graph gives (traversal/graph.h).
//
// Threading: one thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::gremlin {

class NumberSet {
 public:
  // False: it was there.
  bool insert(uint32_t number) {
    const size_t word = number / 64;
    if (word >= bits_.size()) bits_.resize(word + word / 2 + 16);
    const uint64_t bit = 1ULL << (number % 64);
    const bool is_new = (bits_[word] & bit) == 0;
    bits_[word] |= bit;
    return is_new;
  }
  bool empty() const { return bits_.empty(); }
  void clear() { bits_.clear(); }

 private:
  std::vector<uint64_t> bits_;
};

// Where each of some numbers stands in a vector of its user's. Open addressing.
class NumberIndex {
 public:
  // There will be no more than `most`.
  explicit NumberIndex(size_t most) : cells_(std::bit_ceil(2 * most + 2)) {}

  // The position of the number; `next` when it is new, which is its position from now on.
  size_t find_or_add(uint32_t number, size_t next) {
    size_t at = (number * 0x9E3779B97F4A7C15ULL >> 32) & (cells_.size() - 1);
    for (; cells_[at].position != 0; at = (at + 1) & (cells_.size() - 1)) {
      if (cells_[at].number == number) return cells_[at].position - 1;
    }
    cells_[at] = {number, static_cast<uint32_t>(next + 1)};
    return next;
  }

 private:
  struct Cell {
    uint32_t number = 0;
    uint32_t position = 0;  // + 1; 0: empty
  };
  std::vector<Cell> cells_;  // a power of two of them, half of them empty
};

}  // namespace orrery::gremlin
