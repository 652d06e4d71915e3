// See geometry.h. Touching is decided with a tolerance of about a centimetre.
#include "value/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "value/ellipsoid.h"

namespace orrery::value::geo {

namespace {

constexpr double kTouching = 1e-9;  // radians

// In steps of a budget.
constexpr uint64_t kStepsOfPosition = 8;
constexpr uint64_t kStepsOfDistance = 16;
constexpr uint64_t kStepsOfSearch = 1500;  // of the nearest place of an edge, on the ellipsoid

bool is_over(Budget* budget, uint64_t steps) {
  return budget != nullptr && budget->spend(steps);
}

struct Edge {
  const Position* from;
  const Position* to;
};

std::vector<Edge> edges_of(const Shape& shape) {
  std::vector<Edge> edges;
  const auto add = [&](const std::vector<Position>& line) {
    for (size_t i = 1; i < line.size(); ++i) edges.push_back({&line[i - 1], &line[i]});
  };
  for (const std::vector<Position>& line : shape.lines) add(line);
  for (const Polygon& polygon : shape.polygons) {
    for (const Ring& ring : polygon.rings) add(ring.positions);
  }
  return edges;
}

std::vector<const Position*> positions_of(const Shape& shape) {
  std::vector<const Position*> positions;
  const auto add = [&](const std::vector<Position>& some) {
    for (const Position& position : some) positions.push_back(&position);
  };
  add(shape.points);
  for (const std::vector<Position>& line : shape.lines) add(line);
  for (const Polygon& polygon : shape.polygons) {
    for (const Ring& ring : polygon.rings) add(ring.positions);
  }
  return positions;
}

// The share of the way along the edge at which it comes nearest to the direction, on the sphere.
double nearest_share(const Edge& edge, const Vector& direction) {
  const Vector& a = edge.from->direction;
  const Vector& b = edge.to->direction;
  const double length = angle_between(a, b);
  if (length < 1e-15) return 0;
  const Vector normal = normalized(cross(a, b));
  const double share = std::atan2(dot(direction, cross(normal, a)), dot(direction, a)) / length;
  if (share >= 0 && share <= 1) return share;
  return angle_between(direction, a) <= angle_between(direction, b) ? 0 : 1;
}

double angle_to(const Edge& edge, const Vector& direction) {
  return angle_between(
      direction, along(edge.from->direction, edge.to->direction, nearest_share(edge, direction)));
}

bool is_on(const std::vector<Position>& line, const Vector& direction) {
  for (size_t i = 1; i < line.size(); ++i) {
    if (angle_to({&line[i - 1], &line[i]}, direction) < kTouching) return true;
  }
  return false;
}

// Do the arcs cross at a point inside of both?
bool cross_inside(const Edge& one, const Edge& two) {
  const Vector& a = one.from->direction;
  const Vector& b = one.to->direction;
  const Vector& c = two.from->direction;
  const Vector& d = two.to->direction;
  const double abc = determinant(a, b, c);
  const double abd = determinant(a, b, d);
  const double cda = determinant(c, d, a);
  const double cdb = determinant(c, d, b);
  // Signs that differ mean crossing here or on the other side of the Earth.
  return abc * abd < 0 && cda * cdb < 0 && abc * cda < 0 && dot(plus(a, b), plus(c, d)) > 0;
}

// Is it in what the ring encloses, whichever way the ring runs? Its turns around the direction say.
bool encloses(const Ring& ring, const Vector& direction) {
  if (dot(ring.centre, direction) <= 0) return false;
  double turned = 0;
  for (size_t i = 1; i < ring.positions.size(); ++i) {
    const Vector& u = ring.positions[i - 1].direction;
    const Vector& v = ring.positions[i].direction;
    turned +=
        std::atan2(determinant(direction, u, v), dot(u, v) - dot(direction, u) * dot(direction, v));
  }
  return std::abs(turned) > std::numbers::pi;
}

bool contains(const Polygon& polygon, const Vector& direction) {
  for (const Ring& ring : polygon.rings) {
    if (is_on(ring.positions, direction)) return true;
  }
  const Ring& outer = polygon.rings.front();
  if (encloses(outer, direction) == outer.is_clockwise) return false;
  return std::none_of(polygon.rings.begin() + 1, polygon.rings.end(),
                      [&](const Ring& hole) { return encloses(hole, direction); });
}

bool contains(const Shape& shape, const Vector& direction) {
  for (const Position& point : shape.points) {
    if (angle_between(point.direction, direction) < kTouching) return true;
  }
  for (const std::vector<Position>& line : shape.lines) {
    if (is_on(line, direction)) return true;
  }
  return std::ranges::any_of(shape.polygons,
                             [&](const Polygon& polygon) { return contains(polygon, direction); });
}

bool contains_one_of(const Shape& shape, const Shape& other, Budget* budget) {
  const uint64_t steps = kStepsOfPosition * positions_of(shape).size();
  return std::ranges::any_of(positions_of(other), [&](const Position* position) {
    return is_over(budget, steps) || contains(shape, position->direction);
  });
}

// From a position to the nearest place of an edge, on the ellipsoid: a search around the place
// that is nearest on the sphere.
double distance_to_m(const Edge& edge, const Position& position) {
  const auto at = [&](double share) {
    return distance_m(position,
                      position_at(along(edge.from->direction, edge.to->direction, share)));
  };
  constexpr double kGolden = 0.6180339887498949;
  const double guess = nearest_share(edge, position.direction);
  double low = std::max(guess - 0.01, 0.0);
  double high = std::min(guess + 0.01, 1.0);
  for (int i = 0; i < 32; ++i) {
    const double width = (high - low) * kGolden;
    if (at(high - width) < at(low + width)) {
      high = low + width;
    } else {
      low = high - width;
    }
  }
  return std::min(
      {at((low + high) / 2), distance_m(position, *edge.from), distance_m(position, *edge.to)});
}

// The least distance from a position of `some` to a place of `others`.
double least_m(const std::vector<const Position*>& some, const Shape& others, Budget* budget) {
  const std::vector<Edge> edges = edges_of(others);
  const uint64_t steps = kStepsOfPosition * (edges.size() + others.points.size());
  // On the sphere first; whatever could still be nearest is then measured on the ellipsoid, whose
  // lengths differ from those of the sphere by less than 1 %.
  double least_angle = std::numeric_limits<double>::infinity();
  for (const Position* position : some) {
    if (is_over(budget, steps)) return 0;
    for (const Position& point : others.points) {
      least_angle = std::min(least_angle, angle_between(position->direction, point.direction));
    }
    for (const Edge& edge : edges) {
      least_angle = std::min(least_angle, angle_to(edge, position->direction));
    }
  }
  const double limit = least_angle * 1.02 + kTouching;
  double least = std::numeric_limits<double>::infinity();
  for (const Position* position : some) {
    if (is_over(budget, steps)) return 0;
    for (const Position& point : others.points) {
      if (angle_between(position->direction, point.direction) > limit) continue;
      if (is_over(budget, kStepsOfDistance)) return 0;
      least = std::min(least, distance_m(*position, point));
    }
    for (const Edge& edge : edges) {
      if (angle_to(edge, position->direction) > limit) continue;
      if (is_over(budget, kStepsOfSearch)) return 0;
      least = std::min(least, distance_to_m(edge, *position));
    }
  }
  return least;
}

Shape shape_of(const Polygon& polygon) {
  return {.points = {}, .lines = {}, .polygons = {polygon}};
}

bool is_within_one(const Shape& inner, const Shape& outer, Budget* budget) {
  const std::vector<const Position*> positions = positions_of(inner);
  const uint64_t steps = kStepsOfPosition * positions_of(outer).size();
  for (const Position* position : positions) {
    if (is_over(budget, steps)) return false;
    if (!contains(outer, position->direction)) return false;
  }
  const std::vector<Edge> outer_edges = edges_of(outer);
  for (const Edge& edge : edges_of(inner)) {
    if (is_over(budget, 2 * steps)) return false;
    // Neither may it leave between its ends.
    if (!contains(outer, along(edge.from->direction, edge.to->direction, 0.5))) return false;
    for (const Edge& other : outer_edges) {
      if (outer.polygons.empty() || !cross_inside(edge, other)) continue;
      const bool only_touches = angle_to(other, edge.from->direction) < kTouching ||
                                angle_to(other, edge.to->direction) < kTouching ||
                                angle_to(edge, other.from->direction) < kTouching ||
                                angle_to(edge, other.to->direction) < kTouching;
      if (!only_touches) return false;
    }
  }
  // Nor may a hole of the outer one lie in the inner one.
  for (const Polygon& polygon : outer.polygons) {
    for (size_t i = 1; i < polygon.rings.size(); ++i) {
      for (const Polygon& mine : inner.polygons) {
        if (is_over(budget, steps + kStepsOfPosition * positions.size())) return false;
        if (contains(mine, polygon.rings[i].centre) &&
            !contains(polygon, polygon.rings[i].centre)) {
          return false;
        }
      }
    }
  }
  return true;
}

std::optional<std::string> fault_of(const Ring& ring) {
  const size_t edges = ring.positions.size() - 1;
  if (edges > kCheckedPositions) return std::nullopt;
  const auto edge = [&ring](size_t i) { return Edge{&ring.positions[i], &ring.positions[i + 1]}; };
  for (size_t i = 0; i < edges; ++i) {
    for (size_t j = i + 1; j < edges; ++j) {
      const Position& one = ring.positions[i];
      const Position& two = ring.positions[j];
      const bool is_next = j == i + 1 || (i == 0 && j + 1 == edges);
      if (!is_next && one.longitude == two.longitude && one.latitude == two.latitude) {
        return fmt::format("Duplicate vertices: {} and {}", i, j);
      }
      if (!is_next && cross_inside(edge(i), edge(j))) {
        return fmt::format("Edges {} and {} cross", i, j);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ring_fault(const Shape& shape) {
  for (const Polygon& polygon : shape.polygons) {
    for (const Ring& ring : polygon.rings) {
      if (auto fault = fault_of(ring)) return fault;
    }
  }
  return std::nullopt;
}

double angle_to(const Shape& shape, const Vector& direction) {
  if (contains(shape, direction)) return 0;
  double least = std::numbers::pi;
  for (const Position& point : shape.points) {
    least = std::min(least, angle_between(point.direction, direction));
  }
  for (const Edge& edge : edges_of(shape)) least = std::min(least, angle_to(edge, direction));
  return least;
}

double area_m2(const Shape& shape) {
  double area = 0;
  for (const Polygon& polygon : shape.polygons) {
    area += left_area_m2(polygon.rings.front().positions);
    for (size_t i = 1; i < polygon.rings.size(); ++i) {
      const double left = left_area_m2(polygon.rings[i].positions);
      area -= std::min(left, earth_area_m2() - left);
    }
  }
  return area;
}

bool intersects(const Shape& a, const Shape& b, Budget* budget) {
  if (contains_one_of(a, b, budget) || contains_one_of(b, a, budget)) return true;
  const std::vector<Edge> edges = edges_of(b);
  for (const Edge& one : edges_of(a)) {
    if (is_over(budget, kStepsOfPosition * edges.size())) return true;
    for (const Edge& two : edges) {
      if (cross_inside(one, two)) return true;
    }
  }
  return false;
}

double distance_m(const Shape& a, const Shape& b, Budget* budget) {
  if (a.points.size() == 1 && b.points.size() == 1) {
    return distance_m(a.points.front(), b.points.front());
  }
  if (intersects(a, b, budget)) return 0;
  return std::min(least_m(positions_of(a), b, budget), least_m(positions_of(b), a, budget));
}

bool is_within(const Shape& inner, const Shape& outer, Budget* budget) {
  // Each part of the inner shape in one polygon of the outer one.
  if (inner.polygons.size() > 1) {
    return std::ranges::all_of(inner.polygons, [&](const Polygon& polygon) {
      return is_within(shape_of(polygon), outer, budget);
    });
  }
  if (outer.polygons.size() > 1 && inner.points.empty()) {
    return std::ranges::any_of(outer.polygons, [&](const Polygon& polygon) {
      return is_within_one(inner, shape_of(polygon), budget);
    });
  }
  return is_within_one(inner, outer, budget);
}

}  // namespace orrery::value::geo
