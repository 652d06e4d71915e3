// Spatial functions: value/geometry.h over values. What is no valid shape gives undefined.
#include "query/functions/arguments.h"
#include "query/functions/groups.h"
#include "value/geometry.h"

namespace orrery::query {

namespace geo = value::geo;

namespace {

Value st_area(Arguments arguments, Context& /*context*/) {
  const auto shape = geo::parse_shape(arguments[0]);
  return shape ? number(geo::area_m2(*shape)) : Value();
}

Value st_distance(Arguments arguments, Context& context) {
  const auto a = geo::parse_shape(arguments[0]);
  const auto b = geo::parse_shape(arguments[1]);
  return a && b ? number(geo::distance_m(*a, *b, &context.budget)) : Value();
}

Value st_intersects(Arguments arguments, Context& context) {
  const auto a = geo::parse_shape(arguments[0]);
  const auto b = geo::parse_shape(arguments[1]);
  return a && b ? boolean(geo::intersects(*a, *b, &context.budget)) : Value();
}

Value st_within(Arguments arguments, Context& context) {
  const auto a = geo::parse_shape(arguments[0]);
  const auto b = geo::parse_shape(arguments[1]);
  return a && b ? boolean(geo::is_within(*a, *b, &context.budget)) : Value();
}

Value st_is_valid(Arguments arguments, Context& /*context*/) {
  if (arguments[0].is_undefined()) return {};
  return boolean(geo::parse_shape(arguments[0]).has_value());
}

Value st_is_valid_detailed(Arguments arguments, Context& /*context*/) {
  if (arguments[0].is_undefined()) return {};
  const auto shape = geo::parse_shape(arguments[0]);
  return Value::make_object({
      {.name = Value::borrow_string("valid"), .value = boolean(shape.has_value())},
      {.name = Value::borrow_string("reason"), .value = shape ? Value() : string(shape.error())},
  });
}

constexpr Function kSpatialFunctions[] = {
    {"ST_AREA", 1, 1, st_area},
    {"ST_DISTANCE", 2, 2, st_distance},
    {"ST_INTERSECTS", 2, 2, st_intersects},
    {"ST_ISVALID", 1, 1, st_is_valid},
    {"ST_ISVALIDDETAILED", 1, 1, st_is_valid_detailed},
    {"ST_WITHIN", 2, 2, st_within},
};

}  // namespace

std::span<const Function> spatial_functions() {
  return kSpatialFunctions;
}

}  // namespace orrery::query
