// See geo_shapes.h.
#include "api/mongo/match/geo_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

using value::Value;
namespace geo = value::geo;

bool contains_in_box(const std::vector<GeoPair>& corners, GeoPair at) {
  const auto [low_x, high_x] = std::minmax(corners[0].x, corners[1].x);
  const auto [low_y, high_y] = std::minmax(corners[0].y, corners[1].y);
  return at.x >= low_x && at.x <= high_x && at.y >= low_y && at.y <= high_y;
}

// By how often a ray from the point crosses the edges; the edges belong to it.
bool contains_in_polygon(const std::vector<GeoPair>& points, GeoPair at) {
  bool is_inside = false;
  for (size_t i = 0, j = points.size() - 1; i < points.size(); j = i++) {
    const GeoPair a = points[i];
    const GeoPair b = points[j];
    const double cross = (b.x - a.x) * (at.y - a.y) - (b.y - a.y) * (at.x - a.x);
    if (cross == 0 && at.x >= std::min(a.x, b.x) && at.x <= std::max(a.x, b.x) &&
        at.y >= std::min(a.y, b.y) && at.y <= std::max(a.y, b.y)) {
      return true;
    }
    if ((a.y > at.y) != (b.y > at.y) && at.x < (b.x - a.x) * (at.y - a.y) / (b.y - a.y) + a.x) {
      is_inside = !is_inside;
    }
  }
  return is_inside;
}

Answer<std::vector<GeoPair>> parse_points(const Value& operand, std::string_view name) {
  std::vector<GeoPair> points;
  const auto add = [&](const Value& element) {
    const std::optional<GeoPair> pair = pair_of(element);
    if (pair.has_value()) points.push_back(*pair);
    return pair.has_value();
  };
  bool are_points = operand.is_array() || operand.is_object();
  for (const Value& element : operand.elements()) are_points = are_points && add(element);
  for (const auto& [member, element] : operand.members()) are_points = are_points && add(element);
  if (!are_points) {
    return refuse(kBadValue, fmt::format("{} needs an array of points [x, y]", name));
  }
  return points;
}

Answer<std::pair<GeoPair, double>> parse_circle(const Value& operand, std::string_view name) {
  const std::optional<GeoPair> centre = pair_of(operand.at(0));
  if (!operand.is_array() || operand.size() != 2 || !centre.has_value() ||
      !operand.at(1).is_number() || !(operand.at(1).number() >= 0)) {
    return refuse(kBadValue,
                  fmt::format("{} needs [[x, y], radius] with a radius of at least 0", name));
  }
  return std::pair(*centre, operand.at(1).number());
}

Answer<WithinShape> parse_corners(std::string_view name, const Value& spec) {
  Answer<std::vector<GeoPair>> points = parse_points(spec, name);
  if (!points) return pass(std::move(points.error()));
  const bool is_box = name == "$box";
  if (is_box ? points->size() != 2 : points->size() < 3) {
    return refuse(kBadValue,
                  is_box ? "$box needs two corners" : "Polygon must have at least 3 points");
  }
  return FlatShape{.kind = is_box ? FlatShape::Kind::box : FlatShape::Kind::polygon,
                   .points = *std::move(points)};
}

Answer<WithinShape> parse_round(std::string_view name, const Value& spec) {
  const Answer<std::pair<GeoPair, double>> circle = parse_circle(spec, name);
  if (!circle) return pass(circle.error());
  const auto [centre, radius] = *circle;
  if (name == "$center") {
    return FlatShape{.kind = FlatShape::Kind::circle, .points = {centre}, .radius = radius};
  }
  Answer<geo::Shape> shape = parse_geometry(point_of(centre));
  if (!shape) return pass(std::move(shape.error()));
  return SphereCircle{.centre = *std::move(shape), .radius_rad = radius};
}

Answer<WithinShape> parse_area(const Value& geometry) {
  const Value type = geometry.find("type");
  if (type.is_string() && type.text() != "Polygon" && type.text() != "MultiPolygon") {
    return refuse(kBadValue, fmt::format("$geoWithin not supported with provided geometry: {}",
                                         shown(geometry)));
  }
  Answer<geo::Shape> shape = parse_geometry(geometry);
  if (!shape) return pass(std::move(shape.error()));
  return *std::move(shape);
}

Answer<std::optional<double>> parse_distance(const Value& spec, std::string_view name) {
  const Value distance = spec.find(name);
  if (distance.is_undefined()) return std::nullopt;
  if (!distance.is_number() || !(distance.number() >= 0)) {
    return refuse(kBadValue, fmt::format("{} must be a number of at least 0", name));
  }
  return distance.number();
}

}  // namespace

std::optional<GeoPair> pair_of(const Value& value) {
  if (value.is_array()) {
    if (value.size() < 2 || !value.at(0).is_number() || !value.at(1).is_number())
      return std::nullopt;
    return GeoPair{value.at(0).number(), value.at(1).number()};
  }
  if (!value.is_object()) return std::nullopt;
  if (value.find("type").is_string() && value.find("coordinates").is_array()) {
    if (value.find("type").text() != "Point") return std::nullopt;
    return pair_of(value.find("coordinates"));
  }
  std::vector<double> numbers;
  for (const auto& [name, member] : value.members()) {
    if (!member.is_number()) return std::nullopt;
    numbers.push_back(member.number());
    if (numbers.size() == 2) return GeoPair{numbers[0], numbers[1]};
  }
  return std::nullopt;
}

Value point_of(GeoPair pair) {
  return Value::make_object(
      {field("type", Value::borrow_string("Point")),
       field("coordinates",
             Value::make_array({Value::make_number(pair.x), Value::make_number(pair.y)}))});
}

bool FlatShape::contains(GeoPair at) const {
  switch (kind) {
    case Kind::box:
      return contains_in_box(points, at);
    case Kind::polygon:
      return contains_in_polygon(points, at);
    case Kind::circle:
      return std::hypot(at.x - points[0].x, at.y - points[0].y) <= radius;
  }
  return false;
}

Answer<geo::Shape> parse_geometry(const Value& geometry) {
  if (!geometry.is_object()) return refuse(kBadValue, "$geometry has to be a GeoJSON object");
  if (const Value crs = geometry.find("crs").find("properties").find("name");
      crs.is_string() && crs.text().contains("strictwinding")) {
    return refuse(kNotImplemented, "polygons larger than half of the Earth are not supported");
  }
  auto shape = geo::parse_place(geometry);
  if (!shape || !geometry.find("type").is_string()) {
    return refuse(kBadValue, fmt::format("unknown GeoJSON: {}: {}", shown(geometry),
                                         shape ? "it has no type" : shape.error()));
  }
  return *std::move(shape);
}

Answer<WithinShape> parse_within(const Value& operand) {
  if (!operand.is_object() || operand.size() == 0) {
    return refuse(kBadValue, "$geoWithin needs an object with a shape");
  }
  for (const auto& [name, spec] : operand.members()) {
    if (name == "$geometry") return parse_area(spec);
    if (name == "$box" || name == "$polygon") return parse_corners(name, spec);
    if (name == "$center" || name == "$centerSphere") return parse_round(name, spec);
    if (name == "$uniqueDocs") continue;
    return refuse(kBadValue, fmt::format("unknown geo specifier: {}", name));
  }
  return refuse(kBadValue, "$geoWithin needs a shape");
}

Answer<Matcher::Near> parse_near_operators(std::string_view path, const Value& operators) {
  Value spec = operators.find("$near");
  if (spec.is_undefined()) spec = operators.find("$nearSphere");
  const bool is_sphere = !operators.find("$nearSphere").is_undefined();
  Matcher::Near near{.path = std::string(path), .point = {}};
  double unit = 1;
  Value distances = spec;
  if (spec.is_object() && !spec.find("$geometry").is_undefined()) {
    near.point = spec.find("$geometry");
  } else {
    const std::optional<GeoPair> pair = pair_of(spec);
    if (!pair.has_value())
      return refuse(kBadValue, "$near requires a point, given as [x, y] or $geometry");
    if (!is_sphere) {
      return refuse(kNotImplemented,
                    "$near on the plane is not supported: give a $geometry, or use $nearSphere");
    }
    near.point = point_of(*pair);
    distances = operators;
    unit = kEarthRadiusM;
  }
  const Answer<geo::Shape> centre = parse_geometry(near.point);
  if (!centre) return pass(centre.error());
  if (centre->points.size() != 1) return refuse(kBadValue, "$near requires a point");
  for (const auto& [name, into] :
       {std::pair<std::string_view, std::optional<double>*>{"$maxDistance", &near.max_distance_m},
        {"$minDistance", &near.min_distance_m}}) {
    const Answer<std::optional<double>> distance = parse_distance(distances, name);
    if (!distance) return pass(distance.error());
    if (distance->has_value()) *into = **distance * unit;
  }
  near.point = near.point.to_owned();
  return near;
}

}  // namespace orrery::mongo
