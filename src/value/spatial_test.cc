// Cells: that no shape that comes near a region is missed, and that few others are found.
#include "value/spatial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "value/terms.h"

namespace orrery::value {
namespace {

geo::Shape shape_of(const std::string& json) {
  return geo::parse_shape(Value::make_document(JsonDocument::parse(json).value())).value();
}

std::string point(double longitude, double latitude) {
  return fmt::format(R"({{"type":"Point","coordinates":[{},{}]}})", longitude, latitude);
}

// A polygon around a place, counterclockwise, with corners this many degrees away.
std::string polygon(double longitude, double latitude, double degrees, int corners) {
  std::string ring;
  for (int i = 0; i <= corners; ++i) {
    const double angle = 2 * std::numbers::pi * (i % corners) / corners;
    const double y = std::clamp(latitude + degrees * std::sin(angle), -89.9, 89.9);
    double x = longitude + degrees * std::cos(angle) / std::cos(latitude * std::numbers::pi / 180);
    x = std::remainder(x, 360.0);
    ring += fmt::format("{}[{},{}]", ring.empty() ? "" : ",", x, y);
  }
  return fmt::format(R"({{"type":"Polygon","coordinates":[[{}]]}})", ring);
}

const std::string kPath = term_path(parse_property_path("/place").value());

bool finds(const std::vector<SpatialRange>& ranges, const geo::Shape& shape) {
  return std::ranges::any_of(cover(shape, 0, kShapeCells), [&](uint64_t cell) {
    const std::string term = spatial_term(kPath, cell);
    return std::ranges::any_of(
        ranges, [&](const SpatialRange& range) { return range.from <= term && term < range.to; });
  });
}

class Places {
 public:
  explicit Places(uint64_t seed) : random_(seed) {}
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  uint64_t pick(uint64_t count) { return random_() % count; }
  double degrees() { return std::pow(10, between(-4, 1)); }

  // Somewhere near the place.
  std::string near(double longitude, double latitude, double degrees) {
    const double x = std::remainder(longitude + between(-2, 2) * degrees, 360.0);
    const double y = std::clamp(latitude + between(-2, 2) * degrees, -89.0, 89.0);
    switch (pick(3)) {
      case 0:
        return point(x, y);
      case 1:
        return fmt::format(R"({{"type":"LineString","coordinates":[[{},{}],[{},{}]]}})", x, y,
                           std::remainder(x + between(-1, 1) * degrees, 360.0),
                           std::clamp(y + between(-1, 1) * degrees, -90.0, 90.0));
      default:
        return polygon(x, y, degrees * between(0.1, 2), static_cast<int>(3 + pick(5)));
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST(Spatial, NothingNearIsMissed) {
  Places places(51);
  int met = 0;
  for (int i = 0; i < 1'500; ++i) {
    const double longitude = places.pick(4) == 0 ? 180 : places.between(-180, 180);
    const double latitude = places.pick(4) == 0 ? 88 : places.between(-88, 88);
    const double degrees = places.degrees();
    const geo::Shape region = shape_of(places.near(longitude, latitude, degrees));
    const geo::Shape shape = shape_of(places.near(longitude, latitude, degrees));
    if (geo::intersects(region, shape)) {
      ++met;
      ASSERT_TRUE(finds(spatial_ranges(kPath, region, 0), shape)) << i;
    }
    const double distance_m = geo::distance_m(region, shape);
    ASSERT_TRUE(finds(spatial_ranges(kPath, region, distance_m + 0.001), shape))
        << i << " " << distance_m;
  }
  EXPECT_GT(met, 100);
}

TEST(Spatial, WhatIsFarAwayIsMostlyNotFound) {
  Places places(52);
  const std::vector<SpatialRange> city = spatial_ranges(kPath, shape_of(point(13.4, 52.5)), 5'000);
  int found = 0;
  for (int i = 0; i < 2'000; ++i) {
    const geo::Shape shape = shape_of(point(places.between(-180, 180), places.between(-90, 90)));
    if (finds(city, shape)) ++found;
  }
  EXPECT_LE(found, 1);
  int nearby = 0;
  for (int i = 0; i < 2'000; ++i) {
    const geo::Shape shape =
        shape_of(point(13.4 + places.between(-1, 1), 52.5 + places.between(-1, 1)));
    if (finds(city, shape)) ++nearby;
  }
  EXPECT_LT(nearby, 100) << "of a square of 135 by 222 km, the circle has 0.3 %";
  EXPECT_LE(city.size(), 80U);
  EXPECT_TRUE(std::ranges::is_sorted(city, {}, &SpatialRange::from));
}

TEST(Spatial, ShapesHaveFewCells) {
  Places places(53);
  for (int i = 0; i < 300; ++i) {
    const geo::Shape shape =
        shape_of(places.near(places.between(-180, 180), places.between(-88, 88), places.degrees()));
    const auto cells = cover(shape, 0, kShapeCells);
    ASSERT_GE(cells.size(), 1U);
    ASSERT_LE(cells.size(), kShapeCells);
    ASSERT_TRUE(std::ranges::is_sorted(cells));
  }
  EXPECT_EQ(cover(shape_of(point(0, 0)), 0, kShapeCells).size(), 1U);
  // Everything but a small ring, and what has no middle.
  const auto inverse =
      shape_of(R"({"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0],[0,0]]]})");
  EXPECT_EQ(cover(inverse, 0, kShapeCells).size(), 6U);
  EXPECT_TRUE(finds(spatial_ranges(kPath, shape_of(point(90, -45)), 0), inverse));
  const auto opposite = shape_of(R"({"type":"MultiPoint","coordinates":[[0,0],[180,0]]})");
  EXPECT_TRUE(finds(spatial_ranges(kPath, shape_of(point(180, 0)), 0), opposite));
  EXPECT_TRUE(finds(spatial_ranges(kPath, shape_of(point(0, 0)), 3e7), shape_of(point(180, 0))));
}

TEST(Spatial, ManyPositionsAreCoveredByACircle) {
  const auto large = shape_of(polygon(10, 50, 1, 5'000));
  EXPECT_TRUE(finds(spatial_ranges(kPath, shape_of(point(10, 50)), 0), large));
  EXPECT_FALSE(finds(spatial_ranges(kPath, shape_of(point(40, 50)), 0), large));
  EXPECT_TRUE(finds(spatial_ranges(kPath, large, 0), shape_of(point(10.5, 50.2))));
}

TEST(Spatial, ItemsHaveTheTermsOfTheirShapes) {
  const auto count = [](std::string_view item, std::initializer_list<const char*> paths) {
    IndexDefinition definition;
    for (const char* path : paths) definition.spatial.push_back(parse_index_path(path).value());
    const IndexPolicy policy(definition);
    const auto document = JsonDocument::parse(item).value();
    size_t terms = 0;
    policy.each_term(document.root(), [&](std::string_view term) {
      EXPECT_TRUE(term.starts_with(kSpatialLead));
      EXPECT_EQ(term_size(std::string(term) + "\x01key"), term.size());
      EXPECT_FALSE(term_size(term.substr(0, term.size() - 1)));
      ++terms;
    });
    return terms;
  };
  const std::string at = point(1, 2);
  EXPECT_EQ(count("{\"place\":" + at + "}", {"/place/?"}), 1U);
  EXPECT_EQ(count("{\"place\":" + at + "}", {"/place/*"}), 1U);
  EXPECT_EQ(count("{\"place\":" + at + "}", {"/*"}), 1U);
  EXPECT_EQ(count("{\"place\":" + at + "}", {"/other/*"}), 0U);
  EXPECT_EQ(count("{\"a\":{\"place\":" + at + "}}", {"/a/*"}), 1U);
  EXPECT_EQ(count("{\"a\":{\"place\":" + at + "}}", {"/a/?"}), 0U);
  EXPECT_EQ(count("{\"l\":[" + at + ",3," + point(-1, -2) + "]}", {"/l/[]/?"}), 2U);
  EXPECT_EQ(count(R"({"place":{"type":"Point","coordinates":[200,0]}})", {"/*"}), 0U) << "no shape";
  EXPECT_EQ(count(R"({"place":{"type":"Point"},"b":{"type":1,"coordinates":2}})", {"/*"}), 0U);

  // In the typed order pairs are places, and polygons are what their rings enclose.
  const auto typed = [](std::string_view item) {
    const IndexPolicy policy(
        {.spatial = {parse_index_path("/p/?").value()}, .order = ValueOrder::typed});
    const auto document = JsonDocument::parse(item).value();
    std::vector<std::string> terms;
    policy.each_term(document.root(), [&](std::string_view term) { terms.emplace_back(term); });
    return terms;
  };
  EXPECT_EQ(typed("{\"p\":" + at + "}").size(), 1U);
  EXPECT_EQ(typed("{\"p\":[1,2]}"), typed("{\"p\":" + at + "}"));
  EXPECT_EQ(typed(R"({"p":{"x":1,"y":2}})"), typed("{\"p\":" + at + "}"));
  EXPECT_EQ(typed(R"({"p":[1,200]})").size(), 0U);
  EXPECT_EQ(typed(R"({"p":["a","b"]})").size(), 0U);
  EXPECT_EQ(typed(R"({"p":{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}})").size(),
            typed(R"({"p":{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,1],[0,0]]]}})").size());
  EXPECT_EQ(count("{\"p\":[1,2]}", {"/p/?"}), 0U);

  IndexDefinition definition;
  definition.spatial = {parse_index_path("/a/*").value(), parse_index_path("/b/[]/?").value()};
  const IndexPolicy policy(definition);
  const auto path = [](std::string_view text) { return parse_index_path(text).value().path; };
  EXPECT_TRUE(policy.covers_spatially(path("/a/?")));
  EXPECT_TRUE(policy.covers_spatially(path("/a/b/[]/?")));
  EXPECT_TRUE(policy.covers_spatially(path("/b/[]/?")));
  EXPECT_FALSE(policy.covers_spatially(path("/b/?")));
  EXPECT_FALSE(policy.covers_spatially(path("/c/?")));
  EXPECT_FALSE(policy.has_shapes());
}

}  // namespace
}  // namespace orrery::value
