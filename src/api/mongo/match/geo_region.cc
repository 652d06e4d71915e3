// See geo_region.h.
#include "api/mongo/match/geo_region.h"

#include <algorithm>
#include <numbers>
#include <utility>
#include <variant>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/geo_shapes.h"
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

using value::Value;
namespace geo = value::geo;

constexpr double kDegree = std::numbers::pi / 180;

// The circle around a rectangle of longitudes and latitudes. A place of it is reached from its
// middle along a meridian and then a parallel, which are no longer than on the equator.
std::optional<GeoRegion> circle_around(GeoPair low, GeoPair high) {
  low = {std::clamp(low.x, -180.0, 180.0), std::clamp(low.y, -90.0, 90.0)};
  high = {std::clamp(high.x, -180.0, 180.0), std::clamp(high.y, -90.0, 90.0)};
  auto middle = geo::parse_place(point_of({(low.x + high.x) / 2, (low.y + high.y) / 2}));
  if (!middle) return std::nullopt;
  const double reach_deg = (high.x - low.x) / 2 + (high.y - low.y) / 2;
  return GeoRegion{.shape = *std::move(middle), .widened_m = reach_deg * kDegree * kEarthRadiusM};
}

std::optional<GeoRegion> region_of(const FlatShape& flat) {
  GeoPair low = flat.points.front();
  GeoPair high = low;
  for (const GeoPair& point : flat.points) {
    low = {std::min(low.x, point.x - flat.radius), std::min(low.y, point.y - flat.radius)};
    high = {std::max(high.x, point.x + flat.radius), std::max(high.y, point.y + flat.radius)};
  }
  return circle_around(low, high);
}

std::optional<GeoRegion> within_region(const Value& operand) {
  Answer<WithinShape> area = parse_within(operand);
  if (!area) return std::nullopt;
  if (const auto* const flat = std::get_if<FlatShape>(&*area)) return region_of(*flat);
  if (auto* const circle = std::get_if<SphereCircle>(&*area)) {
    return GeoRegion{.shape = std::move(circle->centre),
                     .widened_m = circle->radius_rad * kEarthRadiusM};
  }
  return GeoRegion{.shape = std::get<geo::Shape>(std::move(*area))};
}

std::optional<GeoRegion> operator_region(const Value& operators) {
  for (const auto& [name, operand] : operators.members()) {
    if (name == "$geoWithin" || name == "$within") return within_region(operand);
    if (name == "$geoIntersects") {
      Answer<geo::Shape> shape = parse_geometry(operand.find("$geometry"));
      if (shape) return GeoRegion{.shape = *std::move(shape)};
    }
  }
  return std::nullopt;
}

std::optional<GeoRegion> filter_region(const Value& filter, std::string_view path, int depth) {
  if (depth > kMaxNesting) return std::nullopt;
  for (const auto& [name, operand] : filter.members()) {
    if (name == path && has_operators(operand)) {
      if (auto region = operator_region(operand)) return region;
    }
    if (name != "$and") continue;
    for (const Value& clause : operand.elements()) {
      if (auto region = filter_region(clause, path, depth + 1)) return region;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<GeoRegion> region_of(const Value& filter, std::string_view path) {
  return filter_region(filter, path, 0);
}

std::optional<GeoRegion> region_around(const Matcher::Near& near, double distance_m) {
  Answer<geo::Shape> centre = parse_geometry(near.point);
  if (!centre) return std::nullopt;
  return GeoRegion{.shape = *std::move(centre), .widened_m = distance_m};
}

}  // namespace orrery::mongo
