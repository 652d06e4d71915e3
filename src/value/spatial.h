// Spatial terms: the cells of a grid over the Earth that a GeoJSON shape lies in, so that the
// shapes near a place are found in the index. Pure.
//
// The grid is a cube around the Earth, seen from the centre: each of its six faces is divided into
// four cells, each of those into four, and so on for kMaxLevel levels (about a metre). Edges of
// shapes, which are straight as seen from the centre (geometry.h), stay straight on it, and it has
// no poles and no date line. A shape is covered by at most kShapeCells cells of whatever levels.
//
//   term  = 06 path cell
//   path  = as in other terms (terms.h)
//   cell  = 8 bytes, big-endian: 3 bits of face, 2 bits for each level, a bit that is 1, then 0s.
// So the cells within a cell lie around it in byte order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "value/geometry.h"

namespace orrery::value {

inline constexpr char kSpatialLead = 0x06;
inline constexpr size_t kCellBytes = 8;
inline constexpr size_t kShapeCells = 8;
inline constexpr size_t kRegionCells = 16;

// The cells that cover a shape widened by a distance, at most `cells_max` (at least 6), in order.
std::vector<uint64_t> cover(const geo::Shape& shape, double widened_m, size_t cells_max);

// Terms from `from` up to but not including `to`.
struct SpatialRange {
  std::string from;
  std::string to;
  bool operator==(const SpatialRange&) const = default;
};
// For readers: the index ranges that have the terms of all shapes within a distance of the region,
// sorted and disjoint. They may also have terms of other shapes, so the reader must filter. `path`
// is a term path.
std::vector<SpatialRange> spatial_ranges(std::string_view path, const geo::Shape& region,
                                         double widened_m);

std::string spatial_term(std::string_view path, uint64_t cell);

}  // namespace orrery::value
