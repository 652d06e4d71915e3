// Reading GeoJSON, and saying what is wrong with it; the declarations are in geometry.h.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "value/ellipsoid.h"
#include "value/geometry.h"

namespace orrery::value::geo {

namespace {

// A document of 2 MB has fewer.
constexpr size_t kMaxPositions = 1 << 18;

using Failure = std::unexpected<std::string>;

class ShapeReader {
 public:
  ShapeReader(std::string_view type, Earth earth) : type_(type), earth_(earth) {}

  std::expected<Position, std::string> position(const Value& value) {
    if (!value.is_array() || value.size() < 2) {
      return Failure(fmt::format(
          "The {} input is not valid because a position is not an array of a longitude and a "
          "latitude.",
          type_));
    }
    const Value longitude = value.at(0);
    const Value latitude = value.at(1);
    if (!longitude.is_number() || !latitude.is_number()) {
      return Failure(
          fmt::format("The {} input is not valid because a coordinate is not a number.", type_));
    }
    if (!(std::abs(latitude.number()) <= 90)) {
      return Failure("Latitude values must be between -90 and 90 degrees.");
    }
    if (!(std::abs(longitude.number()) <= 180)) {
      return Failure("Longitude values must be between -180 and 180 degrees.");
    }
    if (++count_ > kMaxPositions) {
      return Failure(fmt::format("The {} input has more than {} positions.", type_, kMaxPositions));
    }
    return earth_ == Earth::sphere ? make_sphere_position(longitude.number(), latitude.number())
                                   : make_position(longitude.number(), latitude.number());
  }

  std::expected<std::vector<Position>, std::string> positions(const Value& value) {
    if (!value.is_array()) {
      return Failure(
          fmt::format("The {} input is not valid because its coordinates are not arrays.", type_));
    }
    std::vector<Position> all;
    all.reserve(value.size());
    for (const Value& element : value.elements()) {
      auto one = position(element);
      if (!one) return Failure(one.error());
      all.push_back(*one);
    }
    return all;
  }

  std::expected<std::vector<Position>, std::string> line(const Value& value) {
    auto all = positions(value);
    if (all && all->size() < 2) {
      return Failure(
          fmt::format("The {} input is not valid because it has less than two positions.", type_));
    }
    return all;
  }

  std::expected<Polygon, std::string> polygon(const Value& value) {
    if (!value.is_array() || value.size() == 0) {
      return Failure(fmt::format("The {} input is not valid because it has no rings.", type_));
    }
    Polygon polygon;
    for (const Value& element : value.elements()) {
      auto all = positions(element);
      if (!all) return Failure(all.error());
      const size_t number = polygon.rings.size() + 1;
      if (all->size() < 4) {
        return Failure(fmt::format(
            "The {} input is not valid because the ring number {} has less than four positions. "
            "Each ring of a polygon must have at least four.",
            type_, number));
      }
      if (all->front().longitude != all->back().longitude ||
          all->front().latitude != all->back().latitude) {
        return Failure(fmt::format(
            "The {} input is not valid because the start and end points of the ring number {} are "
            "not the same. Each ring of a polygon must have the same start and end points.",
            type_, number));
      }
      polygon.rings.push_back(make_ring(*std::move(all)));
    }
    return polygon;
  }

 private:
  static Ring make_ring(std::vector<Position> positions) {
    Ring ring{.positions = std::move(positions)};
    Vector middle{};
    for (size_t i = 1; i < ring.positions.size(); ++i) {
      middle = plus(middle, ring.positions[i].direction);
    }
    ring.centre = normalized(middle);
    // The signed area on the sphere, in triangles around the middle.
    double area = 0;
    for (size_t i = 1; i < ring.positions.size(); ++i) {
      const Vector& u = ring.positions[i - 1].direction;
      const Vector& v = ring.positions[i].direction;
      area += 2 * std::atan2(determinant(ring.centre, u, v),
                             1 + dot(ring.centre, u) + dot(u, v) + dot(v, ring.centre));
    }
    ring.is_clockwise = area < 0;
    return ring;
  }

  std::string_view type_;
  const Earth earth_;
  size_t count_ = 0;
};

// Each element of an array of coordinates through `read`, into `out`.
template <class Read, class Out>
std::optional<std::string> read_each(const Value& coordinates, Read read, Out& out) {
  if (!coordinates.is_array() || coordinates.size() == 0) {
    return "The coordinates of the input are not an array, or empty.";
  }
  for (const Value& element : coordinates.elements()) {
    auto one = read(element);
    if (!one) return one.error();
    out.push_back(*std::move(one));
  }
  return std::nullopt;
}

}  // namespace

std::expected<Shape, std::string> parse_shape(const Value& geojson, Earth earth) {
  const Value type = geojson.find("type");
  if (!type.is_string()) return Failure("The input is not a GeoJSON object with a type.");
  const std::string_view name = type.text();
  const Value coordinates = geojson.find("coordinates");
  ShapeReader reader(name, earth);
  const auto position = [&](const Value& value) { return reader.position(value); };
  const auto line = [&](const Value& value) { return reader.line(value); };
  const auto polygon = [&](const Value& value) { return reader.polygon(value); };
  Shape shape;
  std::optional<std::string> problem;
  const Value one = Value::make_array({coordinates});
  if (name == "Point") {
    problem = read_each(one, position, shape.points);
  } else if (name == "MultiPoint") {
    problem = read_each(coordinates, position, shape.points);
  } else if (name == "LineString") {
    problem = read_each(one, line, shape.lines);
  } else if (name == "MultiLineString") {
    problem = read_each(coordinates, line, shape.lines);
  } else if (name == "Polygon") {
    problem = read_each(one, polygon, shape.polygons);
  } else if (name == "MultiPolygon") {
    problem = read_each(coordinates, polygon, shape.polygons);
  } else {
    problem = fmt::format("'{}' is not a type of GeoJSON shape that is supported.", name);
  }
  if (problem) return Failure(*std::move(problem));
  return shape;
}

std::expected<Shape, std::string> parse_place(const Value& value) {
  if (value.find("type").is_string()) {
    auto shape = parse_shape(value, Earth::sphere);
    if (!shape) return shape;
    for (Polygon& polygon : shape->polygons) polygon.rings.front().is_clockwise = false;
    return shape;
  }
  std::vector<Value> pair;
  for (const auto& [name, member] : value.members()) {
    pair.push_back(member);
    if (pair.size() == 2) break;
  }
  auto position = ShapeReader("pair", Earth::sphere)
                      .position(value.is_array() ? value : Value::make_array(std::move(pair)));
  if (!position) return Failure(position.error());
  return Shape{.points = {*position}, .lines = {}, .polygons = {}};
}

}  // namespace orrery::value::geo
