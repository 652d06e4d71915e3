// GeoJSON shapes on the WGS 84 ellipsoid: Point, LineString, Polygon and MultiPolygon (and
// MultiPoint, MultiLineString, which cost nothing more). Pure.
//
// Shapes can also be on a sphere, whose degrees of latitude are angles at the centre. Shapes of the
// two are never compared with one another; lengths in metres and areas are those of the ellipsoid
// alone.
//
// An edge is the shorter arc of the great ellipse between its ends: the section of the ellipsoid
// with the plane through both and the centre. Seen from the centre it is a straight arc of the
// unit sphere, so everything about touching, crossing and containing is decided there, exactly as
// for great circles. Distances and areas are those of the ellipsoid, in metres and square metres.
//
// The interior of a polygon is on the left of its outer ring: a clockwise ring means everything
// but what it encloses. What a ring encloses must be smaller than half of the Earth. Holes take
// away what they enclose, whichever way they run. Boundaries belong to their shapes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "value/value.h"

namespace orrery::value::geo {

struct Position {
  double longitude = 0;               // degrees
  double latitude = 0;                // degrees
  std::array<double, 3> direction{};  // from the centre, of length 1
};

struct Ring {
  std::vector<Position> positions;  // the last is the first again
  std::array<double, 3> centre{};   // middle of the positions, of length 1
  bool is_clockwise = false;
};

struct Polygon {
  std::vector<Ring> rings;  // outer, then holes; not empty
};

// What a GeoJSON value comes down to. Only one of the three is filled.
struct Shape {
  std::vector<Position> points;
  std::vector<std::vector<Position>> lines;
  std::vector<Polygon> polygons;
};

enum class Earth : uint8_t { ellipsoid, sphere };

// The shape, or why the value is none.
std::expected<Shape, std::string> parse_shape(const Value& geojson, Earth earth = Earth::ellipsoid);
// A place on the sphere: GeoJSON, whose polygons are what their rings enclose, whichever way these
// run; or a pair of longitude and latitude, as [x, y] or as an object that begins with two numbers.
std::expected<Shape, std::string> parse_place(const Value& value);
// Why a ring encloses nothing: it crosses itself, or is at one position twice. Of rings with more
// than kCheckedPositions positions nothing is said. Nothing: all rings are right.
inline constexpr size_t kCheckedPositions = 500;
std::optional<std::string> ring_fault(const Shape& shape);

double area_m2(const Shape& shape);
// These take as long as the product of the numbers of positions. Once a budget that is given is
// over, what they answer is void.
double distance_m(const Shape& a, const Shape& b, Budget* budget = nullptr);
bool intersects(const Shape& a, const Shape& b, Budget* budget = nullptr);
// Is the whole of `inner` in `outer`?
bool is_within(const Shape& inner, const Shape& outer, Budget* budget = nullptr);

// Seen from the centre, in radians: 0 for a direction in the shape.
double angle_to(const Shape& shape, const std::array<double, 3>& direction);

// Along the geodesic.
double distance_m(const Position& a, const Position& b);

}  // namespace orrery::value::geo
