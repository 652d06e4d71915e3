// See ellipsoid.h.
#include "value/ellipsoid.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace orrery::value::geo {

namespace {

constexpr double kRadius = 6378137.0;  // at the equator, metres
constexpr double kFlattening = 1 / 298.257223563;
constexpr double kPolarRadius = kRadius * (1 - kFlattening);
constexpr double kEccentricity2 = kFlattening * (2 - kFlattening);
constexpr double kDegree = std::numbers::pi / 180;

// The area between the equator and a latitude over one radian of longitude, divided by half the
// square of the radius.
double zone(double sine) {
  const double e = std::sqrt(kEccentricity2);
  return (1 - kEccentricity2) *
         (sine / (1 - kEccentricity2 * sine * sine) + std::atanh(e * sine) / e);
}

// The sine of the geodetic latitude of a direction from the centre.
double sine_of_latitude(const Vector& direction) {
  const double level = std::hypot(direction[0], direction[1]) * (1 - kEccentricity2);
  return direction[2] / std::hypot(level, direction[2]);
}

// The length of the great ellipse's arc: where the iteration below does not settle (points that
// are almost opposite), within metres of the geodesic.
double great_ellipse_m(const Position& a, const Position& b) {
  constexpr int kSteps = 2048;
  const auto surface = [](const Vector& direction) {
    const double level2 = direction[0] * direction[0] + direction[1] * direction[1];
    const double radius =
        1 / std::sqrt(level2 / (kRadius * kRadius) +
                      direction[2] * direction[2] / (kPolarRadius * kPolarRadius));
    return Vector{direction[0] * radius, direction[1] * radius, direction[2] * radius};
  };
  // Opposite points have no plane of their own: the way over the pole is the shortest.
  const Vector pole = {0, 0, a.latitude + b.latitude >= 0 ? 1.0 : -1.0};
  const bool opposite = dot(a.direction, b.direction) < -1 + 1e-12;
  double length = 0;
  Vector last = surface(a.direction);
  for (int i = 1; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    Vector direction = opposite ? (share <= 0.5 ? along(a.direction, pole, share * 2)
                                                : along(pole, b.direction, share * 2 - 1))
                                : along(a.direction, b.direction, share);
    const Vector next = surface(direction);
    length += std::hypot(next[0] - last[0], next[1] - last[1], next[2] - last[2]);
    last = next;
  }
  return length;
}

}  // namespace

Vector plus(const Vector& a, const Vector& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double determinant(const Vector& a, const Vector& b, const Vector& c) {
  return dot(a, cross(b, c));
}

Vector normalized(const Vector& a) {
  const double length = std::sqrt(dot(a, a));
  if (length == 0) return {0, 0, 1};
  return {a[0] / length, a[1] / length, a[2] / length};
}

double angle_between(const Vector& a, const Vector& b) {
  const Vector normal = cross(a, b);
  return std::atan2(std::sqrt(dot(normal, normal)), dot(a, b));
}

Vector along(const Vector& a, const Vector& b, double share) {
  const double angle = angle_between(a, b);
  if (angle < 1e-12) return share < 0.5 ? a : b;
  const double from_a = std::sin((1 - share) * angle) / std::sin(angle);
  const double from_b = std::sin(share * angle) / std::sin(angle);
  return normalized({from_a * a[0] + from_b * b[0], from_a * a[1] + from_b * b[1],
                     from_a * a[2] + from_b * b[2]});
}

Position make_position(double longitude, double latitude) {
  const double lambda = longitude * kDegree;
  const double phi = latitude * kDegree;
  return {
      .longitude = longitude,
      .latitude = latitude,
      .direction = normalized({std::cos(phi) * std::cos(lambda), std::cos(phi) * std::sin(lambda),
                               (1 - kEccentricity2) * std::sin(phi)})};
}

Position make_sphere_position(double longitude, double latitude) {
  const double lambda = longitude * kDegree;
  const double phi = latitude * kDegree;
  return {.longitude = longitude,
          .latitude = latitude,
          .direction = {std::cos(phi) * std::cos(lambda), std::cos(phi) * std::sin(lambda),
                        std::sin(phi)}};
}

Position position_at(const Vector& direction) {
  return {.longitude = std::atan2(direction[1], direction[0]) / kDegree,
          .latitude = std::asin(std::clamp(sine_of_latitude(direction), -1.0, 1.0)) / kDegree,
          .direction = direction};
}

// Vincenty's inverse formula.
double distance_m(const Position& a, const Position& b) {
  if (a.longitude == b.longitude && a.latitude == b.latitude) return 0;
  const double difference = (b.longitude - a.longitude) * kDegree;
  const double u1 = std::atan((1 - kFlattening) * std::tan(a.latitude * kDegree));
  const double u2 = std::atan((1 - kFlattening) * std::tan(b.latitude * kDegree));
  const double sin1 = std::sin(u1);
  const double cos1 = std::cos(u1);
  const double sin2 = std::sin(u2);
  const double cos2 = std::cos(u2);
  double lambda = difference;
  for (int i = 0; i < 100; ++i) {
    const double sin_lambda = std::sin(lambda);
    const double cos_lambda = std::cos(lambda);
    const double sin_sigma = std::hypot(cos2 * sin_lambda, cos1 * sin2 - sin1 * cos2 * cos_lambda);
    if (sin_sigma == 0) {
      if (cos_lambda > 0) return 0;
      break;
    }
    const double cos_sigma = sin1 * sin2 + cos1 * cos2 * cos_lambda;
    const double sigma = std::atan2(sin_sigma, cos_sigma);
    const double sin_alpha = cos1 * cos2 * sin_lambda / sin_sigma;
    const double cos2_alpha = 1 - sin_alpha * sin_alpha;
    const double cos_2m = cos2_alpha == 0 ? 0 : cos_sigma - 2 * sin1 * sin2 / cos2_alpha;
    const double c = kFlattening / 16 * cos2_alpha * (4 + kFlattening * (4 - 3 * cos2_alpha));
    const double before = lambda;
    lambda = difference +
             (1 - c) * kFlattening * sin_alpha *
                 (sigma + c * sin_sigma * (cos_2m + c * cos_sigma * (-1 + 2 * cos_2m * cos_2m)));
    if (std::abs(lambda) > 2 * std::numbers::pi) break;
    if (std::abs(lambda - before) > 1e-13) continue;
    const double square = cos2_alpha * (kRadius * kRadius - kPolarRadius * kPolarRadius) /
                          (kPolarRadius * kPolarRadius);
    const double big_a =
        1 + square / 16384 * (4096 + square * (-768 + square * (320 - 175 * square)));
    const double big_b = square / 1024 * (256 + square * (-128 + square * (74 - 47 * square)));
    const double delta = big_b * sin_sigma *
                         (cos_2m + big_b / 4 *
                                       (cos_sigma * (-1 + 2 * cos_2m * cos_2m) -
                                        big_b / 6 * cos_2m * (-3 + 4 * sin_sigma * sin_sigma) *
                                            (-3 + 4 * cos_2m * cos_2m)));
    return kPolarRadius * big_a * (sigma - delta);
  }
  return great_ellipse_m(a, b);
}

double earth_area_m2() {
  return kRadius * kRadius * 2 * std::numbers::pi * zone(1);
}

// By Green's theorem: the zone under each edge, integrated over longitude (Simpson's rule over
// pieces short enough). A ring around a pole lacks the cap.
double left_area_m2(const std::vector<Position>& ring) {
  constexpr double kPiece = 0.01;  // radians
  double under = 0;
  double turned = 0;
  const auto step = [](const Vector& from, const Vector& to) {
    return std::atan2(from[0] * to[1] - from[1] * to[0], from[0] * to[0] + from[1] * to[1]);
  };
  const auto is_pole = [](const Vector& at) { return std::hypot(at[0], at[1]) < 1e-12; };
  // Longitude is all turned at the pole itself.
  const auto straight = [&](const Vector& from, const Vector& to) {
    const double zone_from = zone(sine_of_latitude(from));
    const double zone_to = zone(sine_of_latitude(to));
    return step(from, to) * (is_pole(from) ? zone_from
                             : is_pole(to) ? zone_to
                                           : (zone_from + zone_to) / 2);
  };
  for (size_t i = 1; i < ring.size(); ++i) {
    const Vector& a = ring[i - 1].direction;
    const Vector& b = ring[i].direction;
    const int pieces = 4 + static_cast<int>(angle_between(a, b) / kPiece);
    Vector from = a;
    for (int piece = 0; piece < pieces; ++piece) {
      const Vector middle = along(a, b, (piece + 0.5) / pieces);
      const Vector to = along(a, b, (piece + 1.0) / pieces);
      const double first = step(from, middle);
      const double second = step(middle, to);
      const double width = first + second;
      const double ratio = second / first;
      if (ratio > 0.5 && ratio < 2) {
        // A parabola through three points, which lie not quite evenly in longitude.
        under += width / 6 *
                 ((2 - ratio) * zone(sine_of_latitude(from)) +
                  width * width / (first * second) * zone(sine_of_latitude(middle)) +
                  (2 - 1 / ratio) * zone(sine_of_latitude(to)));
      } else {
        under += straight(from, middle) + straight(middle, to);
      }
      turned += width;
      from = to;
    }
  }
  const double turns = std::round(std::abs(turned) / (2 * std::numbers::pi));
  double area = kRadius * kRadius / 2 * (2 * std::numbers::pi * turns * zone(1) - under);
  if (area < 0) area += earth_area_m2();
  return area;
}

}  // namespace orrery::value::geo
