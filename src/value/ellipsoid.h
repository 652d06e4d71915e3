// The WGS 84 ellipsoid: directions from its centre, geodesic lengths, areas under edges. Pure.
#pragma once

#include <array>

#include "value/geometry.h"

namespace orrery::value::geo {

using Vector = std::array<double, 3>;

Vector plus(const Vector& a, const Vector& b);
double dot(const Vector& a, const Vector& b);
Vector cross(const Vector& a, const Vector& b);
// Positive when a, b, c turn to the left as seen from outside.
double determinant(const Vector& a, const Vector& b, const Vector& c);
Vector normalized(const Vector& a);
// The angle between two directions, in radians.
double angle_between(const Vector& a, const Vector& b);
// The direction at a share of the way along the arc from a to b.
Vector along(const Vector& a, const Vector& b, double share);

Position make_position(double longitude, double latitude);
// The same on the sphere.
Position make_sphere_position(double longitude, double latitude);
Position position_at(const Vector& direction);

// The area on the left of a closed ring, in square metres.
double left_area_m2(const std::vector<Position>& ring);
double earth_area_m2();

}  // namespace orrery::value::geo
