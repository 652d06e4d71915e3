// What the geographic operators take: shapes on the sphere ($geometry, $centerSphere), shapes on
// the plane ($box, $polygon, $center), and points with distances ($near). GeoJSON, and pairs of
// coordinates in its place, are on the sphere as MongoDB has it: its radius is kEarthRadiusM.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/match/match.h"
#include "value/geometry.h"
#include "value/value.h"

namespace orrery::mongo {

// The radius of the Earth that MongoDB turns radians into metres by.
inline constexpr double kEarthRadiusM = 6378100.0;

struct GeoPair {
  double x = 0;
  double y = 0;
};
// [x, y], {lon: x, lat: y} (whatever the names), or a GeoJSON point.
std::optional<GeoPair> pair_of(const value::Value& value);
// {type: "Point", coordinates: [x, y]}
value::Value point_of(GeoPair pair);

struct FlatShape {
  enum class Kind : uint8_t { box, polygon, circle } kind = Kind::box;
  std::vector<GeoPair> points;  // two corners, the ring, the centre
  double radius = 0;            // of a circle

  bool contains(GeoPair at) const;
};
struct SphereCircle {
  value::geo::Shape centre;
  double radius_rad = 0;
};
using WithinShape = std::variant<value::geo::Shape, SphereCircle, FlatShape>;
// The operand of $geoWithin.
Answer<WithinShape> parse_within(const value::Value& operand);
// The value of $geometry.
Answer<value::geo::Shape> parse_geometry(const value::Value& geometry);

// The operators of a path, among which is $near or $nearSphere: {$near: {$geometry: point,
// $maxDistance: metres}}, or {$nearSphere: [x, y], $maxDistance: radians}.
Answer<Matcher::Near> parse_near_operators(std::string_view path, const value::Value& operators);

}  // namespace orrery::mongo
