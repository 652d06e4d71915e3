// The geographic operators. GeoJSON is on the ellipsoid (value/geometry.h); $box, $polygon and
// $center are on the plane, and take pairs of coordinates.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <variant>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/node.h"
#include "value/geometry.h"

namespace orrery::mongo {
namespace {

using Leaf = MatchPath::Leaf;
namespace geo = value::geo;

// The radius of the Earth that MongoDB turns radians into metres by.
constexpr double kEarthRadiusM = 6378100.0;

struct Pair {
  double x = 0;
  double y = 0;
};

// [x, y], {lon: x, lat: y} (whatever the names), or a GeoJSON point.
std::optional<Pair> pair_of(const Value& value) {
  if (value.is_array()) {
    if (value.size() < 2 || !value.at(0).is_number() || !value.at(1).is_number())
      return std::nullopt;
    return Pair{value.at(0).number(), value.at(1).number()};
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
    if (numbers.size() == 2) return Pair{numbers[0], numbers[1]};
  }
  return std::nullopt;
}

Value point_of(Pair pair) {
  return Value::make_object(
      {field("type", Value::borrow_string("Point")),
       field("coordinates",
             Value::make_array({Value::make_number(pair.x), Value::make_number(pair.y)}))});
}

// A polygon is what its ring encloses, whichever way the ring runs.
Answer<geo::Shape> shape_of(const Value& geojson) {
  auto shape = geo::parse_shape(geojson);
  if (!shape)
    return refuse(kBadValue, fmt::format("unknown GeoJSON: {}: {}", shown(geojson), shape.error()));
  for (geo::Polygon& polygon : shape->polygons) polygon.rings.front().is_clockwise = false;
  return *std::move(shape);
}

// What a document has at the path, as a shape.
std::optional<geo::Shape> stored_shape(const Value& value) {
  if (value.is_object() && value.find("coordinates").is_array()) {
    Answer<geo::Shape> shape = shape_of(value);
    if (!shape) return std::nullopt;
    return *std::move(shape);
  }
  const std::optional<Pair> pair = pair_of(value);
  if (!pair.has_value() || std::abs(pair->x) > 180 || std::abs(pair->y) > 90) return std::nullopt;
  Answer<geo::Shape> shape = shape_of(point_of(*pair));
  if (!shape) return std::nullopt;
  return *std::move(shape);
}

// Asks of a value, or of the elements of an array of several.
template <class Test>
bool any_place(const Value& value, MatchState& state, const Test& test) {
  if (!value.is_array() || (value.size() > 0 && value.at(0).is_number())) return test(value);
  for (const Value& element : value.elements()) {
    if (!state.go_on()) return false;
    if (test(element)) return true;
  }
  return false;
}

struct Flat {
  enum class Kind : uint8_t { box, polygon, circle } kind = Kind::box;
  std::vector<Pair> points;
  double radius = 0;

  bool contains(Pair at) const {
    switch (kind) {
      case Kind::box:
        return contains_in_box(at);
      case Kind::polygon:
        return contains_in_polygon(at);
      case Kind::circle:
        return std::hypot(at.x - points[0].x, at.y - points[0].y) <= radius;
    }
    return false;
  }
  bool contains_in_box(Pair at) const {
    const auto [low_x, high_x] = std::minmax(points[0].x, points[1].x);
    const auto [low_y, high_y] = std::minmax(points[0].y, points[1].y);
    return at.x >= low_x && at.x <= high_x && at.y >= low_y && at.y <= high_y;
  }
  // By how often a ray from the point crosses the edges; the edges belong to it.
  bool contains_in_polygon(Pair at) const {
    bool is_inside = false;
    for (size_t i = 0, j = points.size() - 1; i < points.size(); j = i++) {
      const Pair a = points[i];
      const Pair b = points[j];
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
};

Answer<std::vector<Pair>> parse_points(const Value& operand, std::string_view name) {
  std::vector<Pair> points;
  const auto add = [&](const Value& element) {
    const std::optional<Pair> pair = pair_of(element);
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

Answer<MatchNodePtr> within_flat(const MatchPath& path, Flat flat) {
  return make_leaf(path, Leaf::whole,
                   [flat = std::move(flat)](const Value& value, MatchState& state) {
                     return any_place(value, state, [&](const Value& place) {
                       const std::optional<Pair> pair = pair_of(place);
                       return pair.has_value() && flat.contains(*pair);
                     });
                   });
}

Answer<std::pair<Pair, double>> parse_circle(const Value& operand, std::string_view name) {
  const std::optional<Pair> centre = pair_of(operand.at(0));
  if (!operand.is_array() || operand.size() != 2 || !centre.has_value() ||
      !operand.at(1).is_number() || !(operand.at(1).number() >= 0)) {
    return refuse(kBadValue,
                  fmt::format("{} needs [[x, y], radius] with a radius of at least 0", name));
  }
  return std::pair(*centre, operand.at(1).number());
}

Answer<MatchNodePtr> parse_shape_test(const MatchPath& path, const Value& geometry,
                                      bool is_within) {
  if (!geometry.is_object()) return refuse(kBadValue, "$geometry has to be a GeoJSON object");
  const Value type = geometry.find("type");
  if (is_within && type.is_string() && type.text() != "Polygon" && type.text() != "MultiPolygon") {
    return refuse(kBadValue, fmt::format("$geoWithin not supported with provided geometry: {}",
                                         shown(geometry)));
  }
  Answer<geo::Shape> shape = shape_of(geometry);
  if (!shape) return pass(std::move(shape.error()));
  return make_leaf(path, Leaf::whole,
                   [shape = *std::move(shape), is_within](const Value& value, MatchState& state) {
                     return any_place(value, state, [&](const Value& place) {
                       const std::optional<geo::Shape> stored = stored_shape(place);
                       if (!stored.has_value()) return false;
                       Budget* const budget = &state.evaluation.budget;
                       const bool answer = is_within ? geo::is_within(*stored, shape, budget)
                                                     : geo::intersects(*stored, shape, budget);
                       return state.go_on() && answer;
                     });
                   });
}

Answer<MatchNodePtr> parse_geo_within(const MatchPath& path, const Value& operand,
                                      const MatchScope&) {
  if (!operand.is_object() || operand.size() == 0) {
    return refuse(kBadValue, "$geoWithin needs an object with a shape");
  }
  for (const auto& [name, spec] : operand.members()) {
    if (name == "$geometry") return parse_shape_test(path, spec, true);
    if (name == "$box" || name == "$polygon") {
      Answer<std::vector<Pair>> points = parse_points(spec, name);
      if (!points) return pass(std::move(points.error()));
      const bool is_box = name == "$box";
      if (is_box ? points->size() != 2 : points->size() < 3) {
        return refuse(kBadValue,
                      is_box ? "$box needs two corners" : "Polygon must have at least 3 points");
      }
      return within_flat(path, {.kind = is_box ? Flat::Kind::box : Flat::Kind::polygon,
                                .points = *std::move(points)});
    }
    if (name == "$center" || name == "$centerSphere") {
      const Answer<std::pair<Pair, double>> circle = parse_circle(spec, name);
      if (!circle) return pass(circle.error());
      const auto [centre, radius] = *circle;
      if (name == "$center") {
        return within_flat(path,
                           {.kind = Flat::Kind::circle, .points = {centre}, .radius = radius});
      }
      Answer<geo::Shape> shape = shape_of(point_of(centre));
      if (!shape) return pass(std::move(shape.error()));
      return make_leaf(path, Leaf::whole,
                       [shape = *std::move(shape), most = radius * kEarthRadiusM](
                           const Value& value, MatchState& state) {
                         return any_place(value, state, [&](const Value& place) {
                           const std::optional<geo::Shape> stored = stored_shape(place);
                           return stored.has_value() &&
                                  geo::distance_m(*stored, shape, &state.evaluation.budget) <= most;
                         });
                       });
    }
    if (name == "$uniqueDocs") continue;
    return refuse(kBadValue, fmt::format("unknown geo specifier: {}", name));
  }
  return refuse(kBadValue, "$geoWithin needs a shape");
}

Answer<MatchNodePtr> parse_geo_intersects(const MatchPath& path, const Value& operand,
                                          const MatchScope&) {
  if (!operand.is_object() || operand.find("$geometry").is_undefined()) {
    return refuse(kBadValue, "$geoIntersects needs a $geometry");
  }
  return parse_shape_test(path, operand.find("$geometry"), false);
}

Answer<std::optional<double>> parse_distance(const Value& spec, std::string_view name) {
  const Value distance = spec.find(name);
  if (distance.is_undefined()) return std::nullopt;
  if (!distance.is_number() || !(distance.number() >= 0)) {
    return refuse(kBadValue, fmt::format("{} must be a number of at least 0", name));
  }
  return distance.number();
}

// {$near: {$geometry: point, $maxDistance: metres}}, or {$nearSphere: [x, y], $maxDistance:
// radians}.
Answer<MatchNodePtr> parse_near(const MatchPath& path, const Value& operators,
                                const MatchScope& scope) {
  if (scope.near == nullptr) {
    return refuse(kBadValue, "$near and $nearSphere can only stand at the top of a filter");
  }
  if (!scope.options.sorts_by_distance) {
    return refuse(kNotImplemented, "$near and $nearSphere are not supported here: use $geoWithin");
  }
  if (*scope.near != nullptr) return refuse(kBadValue, "Too many geoNear expressions");
  Value spec = operators.find("$near");
  if (spec.is_undefined()) spec = operators.find("$nearSphere");
  const bool is_sphere = !operators.find("$nearSphere").is_undefined();
  auto near = std::make_shared<Matcher::Near>();
  near->path = path.text();
  double unit = 1;
  Value distances = spec;
  if (spec.is_object() && !spec.find("$geometry").is_undefined()) {
    near->point = spec.find("$geometry");
  } else {
    const std::optional<Pair> pair = pair_of(spec);
    if (!pair.has_value())
      return refuse(kBadValue, "$near requires a point, given as [x, y] or $geometry");
    if (!is_sphere) {
      return refuse(kNotImplemented,
                    "$near on the plane is not supported: give a $geometry, or use $nearSphere");
    }
    near->point = point_of(*pair);
    distances = operators;
    unit = kEarthRadiusM;
  }
  Answer<geo::Shape> centre = shape_of(near->point);
  if (!centre) return pass(std::move(centre.error()));
  if (centre->points.size() != 1) return refuse(kBadValue, "$near requires a point");
  for (const auto& [name, into] :
       {std::pair<std::string_view, std::optional<double>*>{"$maxDistance", &near->max_distance_m},
        {"$minDistance", &near->min_distance_m}}) {
    const Answer<std::optional<double>> distance = parse_distance(distances, name);
    if (!distance) return pass(distance.error());
    if (distance->has_value()) *into = **distance * unit;
  }
  *scope.near = near;
  return make_leaf(
      path, Leaf::whole,
      [near, centre = *std::move(centre)](const Value& value, MatchState& state) {
        return any_place(value, state, [&](const Value& place) {
          const std::optional<geo::Shape> stored = stored_shape(place);
          if (!stored.has_value()) return false;
          const double distance = geo::distance_m(*stored, centre, &state.evaluation.budget);
          return distance >= near->min_distance_m.value_or(0) &&
                 distance <= near->max_distance_m.value_or(std::numeric_limits<double>::infinity());
        });
      });
}

constexpr std::array kOperators = {
    FieldOperator{"$geoWithin", parse_geo_within},
    FieldOperator{"$within", parse_geo_within},
    FieldOperator{"$geoIntersects", parse_geo_intersects},
    FieldOperator{"$near", parse_near},
    FieldOperator{"$nearSphere", parse_near},
};

}  // namespace

std::optional<double> distance_m(const Matcher::Near& near, const Value& document,
                                 Evaluation& evaluation) {
  const Answer<geo::Shape> centre = shape_of(near.point);
  std::optional<double> nearest;
  if (!centre) return nearest;
  MatchState state{.evaluation = evaluation};
  MatchPath(near.path).visit(document, Leaf::whole, [&](const Value& value, size_t) {
    return any_place(value, state, [&](const Value& place) {
      const std::optional<geo::Shape> stored = stored_shape(place);
      if (!stored.has_value()) return false;
      const double distance = geo::distance_m(*stored, *centre, &evaluation.budget);
      nearest = std::min(distance, nearest.value_or(distance));
      return false;
    });
  });
  return nearest;
}

const FieldOperator* find_geo(std::string_view name) {
  const auto* const found = std::ranges::find(kOperators, name, &FieldOperator::name);
  return found == kOperators.end() ? nullptr : found;
}

}  // namespace orrery::mongo
