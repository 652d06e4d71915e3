// The geographic operators. What their operands are is in geo_shapes.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <variant>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/geo_shapes.h"
#include "api/mongo/match/node.h"
#include "value/geometry.h"

namespace orrery::mongo {
namespace {

using Leaf = MatchPath::Leaf;
namespace geo = value::geo;

// In steps of a budget.
constexpr uint64_t kStepsOfPosition = 16;

// What a document has at the path, as a shape.
std::optional<geo::Shape> stored_shape(const Value& value) {
  auto shape = geo::parse_place(value);
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

template <class Visit>
void each_position(const geo::Shape& shape, const Visit& visit) {
  for (const geo::Position& point : shape.points) visit(point);
  for (const auto& line : shape.lines) std::ranges::for_each(line, visit);
  for (const geo::Polygon& polygon : shape.polygons) {
    for (const geo::Ring& ring : polygon.rings) std::ranges::for_each(ring.positions, visit);
  }
}

double angle_between(const geo::Position& a, const geo::Position& b) {
  return geo::angle_to({.points = {a}, .lines = {}, .polygons = {}}, b.direction);
}

// A circle that is no larger than half of the Earth has a line when it has the line's positions.
bool is_in_circle(const geo::Shape& shape, const SphereCircle& circle) {
  bool is_within = true;
  each_position(shape, [&](const geo::Position& position) {
    is_within =
        is_within && angle_between(circle.centre.points.front(), position) <= circle.radius_rad;
  });
  return is_within;
}

// How far a shape is from a point, in metres.
double distance_of(const geo::Shape& shape, const geo::Shape& centre, Budget& budget) {
  uint64_t positions = 0;
  each_position(shape, [&positions](const geo::Position&) { ++positions; });
  if (budget.spend(positions * kStepsOfPosition)) return 0;
  return geo::angle_to(shape, centre.points.front().direction) * kEarthRadiusM;
}

// `test` is asked of each shape that the path leads to.
template <class Test>
MatchNodePtr make_shape_leaf(const MatchPath& path, Test test) {
  return make_leaf(path, Leaf::whole,
                   [test = std::move(test)](const Value& value, MatchState& state) {
                     return any_place(value, state, [&](const Value& place) {
                       const std::optional<geo::Shape> stored = stored_shape(place);
                       if (!stored.has_value()) return false;
                       const bool answer = test(*stored, state.evaluation.budget);
                       return state.go_on() && answer;
                     });
                   });
}

Answer<MatchNodePtr> parse_geo_within(const MatchPath& path, const Value& operand,
                                      const MatchScope&) {
  Answer<WithinShape> area = parse_within(operand);
  if (!area) return pass(std::move(area.error()));
  if (auto* const flat = std::get_if<FlatShape>(&*area)) {
    return make_leaf(path, Leaf::whole,
                     [flat = std::move(*flat)](const Value& value, MatchState& state) {
                       return any_place(value, state, [&](const Value& place) {
                         const std::optional<GeoPair> pair = pair_of(place);
                         return pair.has_value() && flat.contains(*pair);
                       });
                     });
  }
  if (auto* const circle = std::get_if<SphereCircle>(&*area)) {
    return make_shape_leaf(path, [circle = std::move(*circle)](const geo::Shape& stored, Budget&) {
      return is_in_circle(stored, circle);
    });
  }
  return make_shape_leaf(path, [outer = std::get<geo::Shape>(std::move(*area))](
                                   const geo::Shape& stored, Budget& budget) {
    return geo::is_within(stored, outer, &budget);
  });
}

Answer<MatchNodePtr> parse_geo_intersects(const MatchPath& path, const Value& operand,
                                          const MatchScope&) {
  if (!operand.is_object() || operand.find("$geometry").is_undefined()) {
    return refuse(kBadValue, "$geoIntersects needs a $geometry");
  }
  Answer<geo::Shape> shape = parse_geometry(operand.find("$geometry"));
  if (!shape) return pass(std::move(shape.error()));
  return make_shape_leaf(path,
                         [shape = *std::move(shape)](const geo::Shape& stored, Budget& budget) {
                           return geo::intersects(stored, shape, &budget);
                         });
}

Answer<MatchNodePtr> parse_near(const MatchPath& path, const Value& operators,
                                const MatchScope& scope) {
  if (scope.near == nullptr) {
    return refuse(kBadValue, "$near and $nearSphere can only stand at the top of a filter");
  }
  if (!scope.options.sorts_by_distance) {
    return refuse(kNotImplemented, "$near and $nearSphere are not supported here: use $geoWithin");
  }
  if (*scope.near != nullptr) return refuse(kBadValue, "Too many geoNear expressions");
  Answer<Matcher::Near> parsed = parse_near_operators(path.text(), operators);
  if (!parsed) return pass(std::move(parsed.error()));
  auto near = std::make_shared<const Matcher::Near>(*std::move(parsed));
  Answer<geo::Shape> centre = parse_geometry(near->point);
  if (!centre) return pass(std::move(centre.error()));
  *scope.near = near;
  return make_shape_leaf(
      path, [near, centre = *std::move(centre)](const geo::Shape& stored, Budget& budget) {
        const double distance = distance_of(stored, centre, budget);
        return distance >= near->min_distance_m.value_or(0) &&
               distance <= near->max_distance_m.value_or(std::numeric_limits<double>::infinity());
      });
}

constexpr std::array kGeoOperators = {
    FieldOperator{"$geoWithin", parse_geo_within},
    FieldOperator{"$within", parse_geo_within},
    FieldOperator{"$geoIntersects", parse_geo_intersects},
    FieldOperator{"$near", parse_near},
    FieldOperator{"$nearSphere", parse_near},
};

}  // namespace

std::optional<NearestPlace> nearest_place(const Matcher::Near& near, const Value& document,
                                          Evaluation& evaluation) {
  const Answer<geo::Shape> centre = parse_geometry(near.point);
  std::optional<NearestPlace> nearest;
  if (!centre) return nearest;
  MatchState state{.evaluation = evaluation};
  MatchPath(near.path).visit(document, Leaf::whole, [&](const Value& value, size_t) {
    return any_place(value, state, [&](const Value& place) {
      const std::optional<geo::Shape> stored = stored_shape(place);
      if (!stored.has_value()) return false;
      const double distance = distance_of(*stored, *centre, evaluation.budget);
      const bool is_in_range = distance >= near.min_distance_m.value_or(0);
      if (is_in_range && (!nearest || distance < nearest->distance_m)) nearest = {distance, place};
      return false;
    });
  });
  return nearest;
}

Answer<void> check_place(const Value& document, std::string_view path) {
  std::optional<Error> error;
  MatchPath(path).visit(document, Leaf::whole, [&](const Value& value, size_t) {
    const bool is_empty = (value.is_array() || value.is_object()) && value.size() == 0;
    if (is_nullish(value) || is_empty) return false;
    if (const Value type = value.find("type");
        type.is_string() && type.text() == "GeometryCollection") {
      error = {kNotImplemented, "a GeometryCollection in a 2dsphere index is not supported"};
      return true;
    }
    const auto shape = geo::parse_place(value);
    const auto fault = shape ? geo::ring_fault(*shape) : shape.error();
    if (!fault) return false;
    error = {16755, fmt::format("Can't extract geo keys: {}  {}", shown(document), *fault)};
    return true;
  });
  if (error) return pass(std::move(*error));
  return {};
}

const FieldOperator* find_geo(std::string_view name) {
  const auto* const found = std::ranges::find(kGeoOperators, name, &FieldOperator::name);
  return found == kGeoOperators.end() ? nullptr : found;
}

}  // namespace orrery::mongo
