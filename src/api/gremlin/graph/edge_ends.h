// From the item of an edge, by its hash, to the two vertices whose lists name it
// (neighbour_cache.h). Open addressing: 16 bytes for a cell, and at least a third of the cells
// empty.
//
// Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orrery::gremlin {

class EdgeEnds {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Ends {
    uint32_t out = kNone;  // the vertex whose outgoing list names the edge
    uint32_t in = kNone;
    bool operator==(const Ends&) const = default;
  };

  Ends find(uint64_t edge) const {
    if (cells_.empty()) return {};
    const Cell& cell = cells_[place_of(edge)];
    return cell.is_empty() ? Ends() : cell.ends;
  }
  // Without ends it is forgotten.
  void set(uint64_t edge, const Ends& ends) {
    if (ends == Ends()) return erase(edge);
    if (3 * (size_ + 1) > 2 * cells_.size()) rebuild();
    Cell& cell = cells_[place_of(edge)];
    if (cell.is_empty()) ++size_;
    cell = {edge, ends};
  }
  void clear() { *this = EdgeEnds(); }
  size_t bytes() const { return cells_.size() * sizeof(Cell); }

 private:
  struct Cell {
    uint64_t edge = 0;
    Ends ends;
    bool is_empty() const { return ends == Ends(); }
  };

  size_t home_of(uint64_t edge) const {
    return (edge * 0x9E3779B97F4A7C15ULL >> 20) & (cells_.size() - 1);
  }
  // Of the edge, or of the empty cell where it would be.
  size_t place_of(uint64_t edge) const {
    size_t at = home_of(edge);
    while (!cells_[at].is_empty() && cells_[at].edge != edge) at = next(at);
    return at;
  }
  size_t next(size_t at) const { return (at + 1) & (cells_.size() - 1); }
  // Moves those behind it up, so that no cell on the way to another is empty.
  void erase(uint64_t edge) {
    if (cells_.empty()) return;
    size_t hole = place_of(edge);
    if (cells_[hole].is_empty()) return;
    --size_;
    for (size_t at = next(hole); !cells_[at].is_empty(); at = next(at)) {
      const size_t distance = (at - home_of(cells_[at].edge)) & (cells_.size() - 1);
      if (distance < ((at - hole) & (cells_.size() - 1))) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = {};
  }
  void rebuild() {
    const std::vector<Cell> before =
        std::exchange(cells_, std::vector<Cell>(cells_.empty() ? 64 : 2 * cells_.size()));
    for (const Cell& cell : before) {
      if (!cell.is_empty()) cells_[place_of(cell.edge)] = cell;
    }
  }

  std::vector<Cell> cells_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace orrery::gremlin
