// See spatial.h. Whether a cell intersects a shape is tested with the cell's bounding circle. That
// can give false positives but no false negatives, whatever the shape.
#include "value/spatial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "value/ellipsoid.h"
#include "value/ordered.h"

namespace orrery::value {
namespace {

using geo::Vector;

constexpr uint32_t kMaxLevel = 24;
constexpr uint32_t kFaces = 6;
// No place of the ellipsoid is nearer to its centre, so a metre is never seen at a wider angle.
constexpr double kLeastRadiusM = 6'356'752.3;
// Shapes that touch within this are taken to meet (geometry.h), and roundings are far below it.
constexpr double kSlack = 1e-8;
// Shapes with more positions are covered by way of a circle around them.
constexpr size_t kExactPositions = 100;

// A cell: its place on its face is [x, x+1) by [y, y+1) in units of 2 / 2^level.
struct Cell {
  uint32_t face = 0;
  uint32_t level = 0;
  uint32_t x = 0;
  uint32_t y = 0;

  uint64_t id() const {
    uint64_t path = 0;
    for (uint32_t bit = level; bit-- > 0;) {
      path = path << 2 | ((x >> bit & 1U) << 1) | (y >> bit & 1U);
    }
    const uint32_t below = 2 * (kMaxLevel - level);
    return uint64_t{face} << (2 * kMaxLevel + 1) | path << (below + 1) | uint64_t{1} << below;
  }
  Cell child(uint32_t which) const {
    return {.face = face, .level = level + 1, .x = 2 * x + (which >> 1), .y = 2 * y + (which & 1U)};
  }
  Vector direction(double dx, double dy) const {
    const double unit = 2.0 / static_cast<double>(uint64_t{1} << level);
    const uint32_t axis = face % 3;
    Vector out{};
    out[axis] = face < 3 ? 1 : -1;
    out[(axis + 1) % 3] = (x + dx) * unit - 1;
    out[(axis + 2) % 3] = (y + dy) * unit - 1;
    return geo::normalized(out);
  }
};

Cell cell_at(const Vector& direction) {
  uint32_t axis = 0;
  for (uint32_t i = 1; i < 3; ++i) {
    if (std::abs(direction[i]) > std::abs(direction[axis])) axis = i;
  }
  constexpr double kCells = 1U << kMaxLevel;
  const auto place = [&](uint32_t along) {
    const double share = (direction[along] / std::abs(direction[axis]) + 1) / 2;
    return static_cast<uint32_t>(std::clamp(share * kCells, 0.0, kCells - 1));
  };
  return {.face = direction[axis] > 0 ? axis : axis + 3,
          .level = kMaxLevel,
          .x = place((axis + 1) % 3),
          .y = place((axis + 2) % 3)};
}

// What is to be covered: a shape, or the circle around one.
class Region {
 public:
  Region(const geo::Shape& shape, double widened_m) : shape_(shape) {
    size_t positions = 0;
    Vector middle{};
    const auto each = [&](const auto& visit) {
      for (const geo::Position& point : shape.points) visit(point.direction);
      for (const auto& line : shape.lines) {
        for (const geo::Position& position : line) visit(position.direction);
      }
      for (const geo::Polygon& polygon : shape.polygons) {
        for (const geo::Position& position : polygon.rings.front().positions) {
          visit(position.direction);
        }
        everything_ = everything_ || polygon.rings.front().is_clockwise;
        for (const geo::Ring& ring : polygon.rings) positions += ring.positions.size();
      }
    };
    each([&](const Vector& direction) {
      ++positions;
      middle = geo::plus(middle, direction);
    });
    widened_ = std::max(widened_m, 0.0) / kLeastRadiusM + kSlack;
    exact_ = positions <= kExactPositions;
    if (geo::dot(middle, middle) < 1e-12) {
      everything_ = true;
      return;
    }
    centre_ = geo::normalized(middle);
    each([&](const Vector& direction) {
      radius_ = std::max(radius_, geo::angle_between(centre_, direction));
    });
    // Only within a quarter of the way around does a circle hold the edges between its places.
    everything_ = everything_ || radius_ + widened_ >= std::numbers::pi / 2;
  }

  bool meets(const Cell& cell) const {
    if (everything_) return true;
    const Vector middle = cell.direction(0.5, 0.5);
    double corner = 0;
    for (const double dx : {0.0, 1.0}) {
      for (const double dy : {0.0, 1.0}) {
        corner = std::max(corner, geo::angle_between(middle, cell.direction(dx, dy)));
      }
    }
    const double reach = corner + widened_;
    if (geo::angle_between(centre_, middle) > radius_ + reach) return false;
    // Of cells that are much larger, the shape itself tells no more than the circle around it.
    return !exact_ || corner > 4 * radius_ || geo::angle_to(shape_, middle) <= reach;
  }
  bool is_everything() const { return everything_; }

 private:
  const geo::Shape& shape_;
  Vector centre_{};
  double radius_ = 0;
  double widened_ = 0;
  bool exact_ = false;
  bool everything_ = false;
};

uint64_t lowest_bit(uint64_t id) {
  return id & (~id + 1);
}

}  // namespace

std::vector<uint64_t> cover(const geo::Shape& shape, double widened_m, size_t cells_max) {
  if (shape.points.size() == 1 && widened_m <= 0) {
    return {cell_at(shape.points.front().direction).id()};
  }
  const Region region(shape, widened_m);
  std::vector<Cell> cells;  // those of lower levels first
  for (uint32_t face = 0; face < kFaces; ++face) {
    const Cell cell{.face = face};
    if (region.meets(cell)) cells.push_back(cell);
  }
  // Divides the largest cell for as long as there is room for its parts.
  while (!region.is_everything() && cells.front().level < kMaxLevel) {
    std::vector<Cell> parts;
    for (uint32_t which = 0; which < 4; ++which) {
      const Cell part = cells.front().child(which);
      if (region.meets(part)) parts.push_back(part);
    }
    if (cells.size() - 1 + parts.size() > cells_max) break;
    cells.erase(cells.begin());
    cells.insert(cells.end(), parts.begin(), parts.end());
    if (cells.empty()) break;
  }
  std::vector<uint64_t> ids;
  ids.reserve(cells.size());
  for (const Cell& cell : cells) ids.push_back(cell.id());
  std::ranges::sort(ids);
  return ids;
}

std::string spatial_term(std::string_view path, uint64_t cell) {
  std::string term(1, kSpatialLead);
  term += path;
  append_u64(term, cell);
  return term;
}

std::vector<SpatialRange> spatial_ranges(std::string_view path, const geo::Shape& region,
                                         double widened_m) {
  std::vector<std::pair<uint64_t, uint64_t>> spans;  // cells, both included
  // Even a single point is widened a little, for what touches it from the next cell.
  for (const uint64_t cell : cover(region, std::max(widened_m, 0.01), kRegionCells)) {
    const uint64_t bit = lowest_bit(cell);
    spans.emplace_back(cell - (bit - 1), cell + (bit - 1));
    // Shapes that have a cell around it.
    for (uint64_t up = bit << 2; up <= uint64_t{1} << (2 * kMaxLevel); up <<= 2) {
      const uint64_t around = (cell & ~(up | (up - 1))) | up;
      spans.emplace_back(around, around);
    }
  }
  std::ranges::sort(spans);
  std::vector<SpatialRange> ranges;
  uint64_t last = 0;
  for (const auto& [first, end] : spans) {
    if (!ranges.empty() && first <= last + 1) {
      last = std::max(last, end);
      ranges.back().to = spatial_term(path, last + 1);
    } else {
      last = end;
      ranges.push_back({.from = spatial_term(path, first), .to = spatial_term(path, last + 1)});
    }
  }
  return ranges;
}

}  // namespace orrery::value
