// Spatial functions. Reference lengths and areas are of WGS 84.
#include <gtest/gtest.h>

#include <cmath>

#include "query/functions/evaluator_fixture.h"
#include "value/ellipsoid.h"

namespace orrery::query {
namespace {

namespace geo = value::geo;

std::string shape(std::string_view type, std::string_view coordinates) {
  return R"({"type":")" + std::string(type) + R"(","coordinates":)" + std::string(coordinates) +
         "}";
}
std::string point(std::string_view coordinates) {
  return shape("Point", coordinates);
}
std::string line(std::string_view coordinates) {
  return shape("LineString", coordinates);
}
std::string polygon(std::string_view coordinates) {
  return shape("Polygon", coordinates);
}

const char* const kSquare = "[[[0,0],[10,0],[10,10],[0,10],[0,0]]]";
const char* const kSquareWithHole =
    "[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[4,6],[6,6],[6,4],[4,4]]]";

double measure(std::string_view name, const std::string& arguments) {
  Evaluator call;
  return std::stod(call(name, "[" + arguments + "]"));
}

TEST(Spatial, DistanceOfPoints) {
  const auto between = [](const std::string& a, const std::string& b) {
    return measure("ST_DISTANCE", point(a) + "," + point(b));
  };
  EXPECT_NEAR(between("[0,0]", "[1,0]"), 111319.490793, 1e-5);
  EXPECT_NEAR(between("[0,0]", "[0,1]"), 110574.388558, 1e-5);
  EXPECT_NEAR(between("[0,0]", "[0,90]"), 10001965.729313, 1e-5);
  // Flinders Peak to Buninyong, the known test of geodesic formulas (there on another ellipsoid).
  EXPECT_NEAR(between("[144.42486788,-37.95103341]", "[143.92649552,-37.65282113]"), 54972.27, 1);
  EXPECT_EQ(between("[5,5]", "[5,5]"), 0);
  EXPECT_NEAR(between("[179.5,0]", "[-179.5,0]"), 111319.490793, 1e-5);
  // Opposite points: over the pole.
  EXPECT_NEAR(between("[0,0]", "[180,0]"), 20003931.46, 50);
  EXPECT_NEAR(between("[0,90]", "[0,-90]"), 20003931.46, 50);
  EXPECT_GT(between("[0,0]", "[179.7,0.2]"), 19.9e6);
}

TEST(Spatial, DistanceOfShapes) {
  // The nearest place of a line, not of its ends.
  EXPECT_NEAR(measure("ST_DISTANCE", point("[5,1]") + "," + line("[[0,0],[10,0]]")), 110574.388558,
              1e-3);
  EXPECT_NEAR(measure("ST_DISTANCE", line("[[0,0],[10,0]]") + "," + point("[11,0]")), 111319.490793,
              1e-3);
  EXPECT_EQ(measure("ST_DISTANCE", point("[5,5]") + "," + polygon(kSquare)), 0);
  EXPECT_NEAR(measure("ST_DISTANCE", point("[5,-1]") + "," + polygon(kSquare)), 110574.388558,
              1e-3);
  EXPECT_GT(measure("ST_DISTANCE", point("[5,5]") + "," + polygon(kSquareWithHole)), 1e5);
  EXPECT_EQ(measure("ST_DISTANCE", line("[[0,0],[10,10]]") + "," + line("[[0,10],[10,0]]")), 0);
}

TEST(Spatial, Area) {
  // The documented example gives 735970283.0522614.
  EXPECT_NEAR(measure("ST_AREA", polygon("[[[31.8,-5],[32,-5],[32,-4.7],[31.8,-4.7],[31.8,-5]]]")),
              735970283.0522614, 1);
  // An eighth of the Earth, and what is left of it.
  const double octant = measure("ST_AREA", polygon("[[[0,0],[90,0],[0,90],[0,0]]]"));
  EXPECT_NEAR(octant / (geo::earth_area_m2() / 8), 1, 1e-9);
  EXPECT_NEAR(geo::earth_area_m2(), 510065621724088.4, 1e3);
  const double inverse = measure("ST_AREA", polygon("[[[0,0],[0,90],[90,0],[0,0]]]"));
  EXPECT_NEAR((octant + inverse) / geo::earth_area_m2(), 1, 1e-9);
  // Around a pole.
  const double cap = measure("ST_AREA", polygon("[[[0,60],[90,60],[180,60],[-90,60],[0,60]]]"));
  EXPECT_GT(cap, 2e13);
  EXPECT_LT(cap, 4e13);
  const double south =
      measure("ST_AREA", polygon("[[[0,-60],[-90,-60],[180,-60],[90,-60],[0,-60]]]"));
  EXPECT_NEAR(south / cap, 1, 1e-9);
  const double whole = measure("ST_AREA", polygon(kSquare));
  const double hole = measure("ST_AREA", polygon("[[[4,4],[6,4],[6,6],[4,6],[4,4]]]"));
  EXPECT_NEAR(measure("ST_AREA", polygon(kSquareWithHole)) / (whole - hole), 1, 1e-9);
  EXPECT_EQ(measure("ST_AREA", point("[1,2]")), 0);
  EXPECT_EQ(measure("ST_AREA", line("[[1,2],[3,4]]")), 0);
  EXPECT_NEAR(measure("ST_AREA", shape("MultiPolygon", "[" + std::string(kSquare) + "]")), whole,
              1);
}

TEST(Spatial, Within) {
  Evaluator call;
  const auto within = [&](const std::string& a, const std::string& b) {
    return call("ST_WITHIN", "[" + a + "," + b + "]");
  };
  const std::string clockwise = polygon("[[[0,0],[0,10],[10,10],[10,0],[0,0]]]");
  EXPECT_EQ(within(point("[5,5]"), polygon(kSquare)), "true");
  EXPECT_EQ(within(point("[15,5]"), polygon(kSquare)), "false");
  EXPECT_EQ(within(point("[-175,-5]"), polygon(kSquare)), "false");
  EXPECT_EQ(within(point("[10,5]"), polygon(kSquare)), "true");
  EXPECT_EQ(within(point("[5,5]"), polygon(kSquareWithHole)), "false");
  EXPECT_EQ(within(point("[2,2]"), polygon(kSquareWithHole)), "true");
  EXPECT_EQ(within(point("[5,5]"), clockwise), "false");
  EXPECT_EQ(within(point("[100,-50]"), clockwise), "true");
  EXPECT_EQ(within(line("[[1,1],[9,9]]"), polygon(kSquare)), "true");
  EXPECT_EQ(within(line("[[1,1],[19,9]]"), polygon(kSquare)), "false");
  EXPECT_EQ(within(line("[[2,5],[8,5]]"), polygon(kSquareWithHole)), "false");
  EXPECT_EQ(within(polygon("[[[2,2],[3,2],[3,3],[2,3],[2,2]]]"), polygon(kSquare)), "true");
  EXPECT_EQ(within(polygon(kSquare), polygon("[[[2,2],[3,2],[3,3],[2,3],[2,2]]]")), "false");
  EXPECT_EQ(within(polygon("[[[2,2],[8,2],[8,8],[2,8],[2,2]]]"), polygon(kSquareWithHole)),
            "false");
  EXPECT_EQ(within(polygon(kSquare), polygon(kSquare)), "true");
  EXPECT_EQ(within(point("[0,89.5]"), polygon("[[[0,80],[90,80],[180,80],[-90,80],[0,80]]]")),
            "true");
  EXPECT_EQ(within(point("[5,0]"), line("[[0,0],[10,0]]")), "true");
  EXPECT_EQ(within(point("[1,2]"), point("[1,2]")), "true");
  EXPECT_EQ(within(point("[1,2]"), shape("MultiPolygon", "[[[[50,50],[60,50],[60,60],[50,50]]]," +
                                                             std::string(kSquare) + "]")),
            "true");
  EXPECT_EQ(within("5", polygon(kSquare)), "undefined");
  EXPECT_EQ(within(point("[5,500]"), polygon(kSquare)), "undefined");
}

TEST(Spatial, Intersects) {
  Evaluator call;
  const auto intersect = [&](const std::string& a, const std::string& b) {
    const std::string forth = call("ST_INTERSECTS", "[" + a + "," + b + "]");
    EXPECT_EQ(forth, call("ST_INTERSECTS", "[" + b + "," + a + "]"));
    return forth;
  };
  EXPECT_EQ(intersect(polygon(kSquare), polygon("[[[5,5],[15,5],[15,15],[5,15],[5,5]]]")), "true");
  EXPECT_EQ(intersect(polygon(kSquare), polygon("[[[4,-5],[6,-5],[6,15],[4,15],[4,-5]]]")), "true");
  EXPECT_EQ(intersect(polygon(kSquare), polygon("[[[20,5],[25,5],[25,15],[20,15],[20,5]]]")),
            "false");
  EXPECT_EQ(intersect(polygon(kSquareWithHole), polygon("[[[4.5,4.5],[5,4.5],[5,5],[4.5,4.5]]]")),
            "false");
  EXPECT_EQ(intersect(line("[[-5,5],[15,5]]"), polygon(kSquare)), "true");
  EXPECT_EQ(intersect(line("[[-5,-5],[15,-5]]"), polygon(kSquare)), "false");
  // On the other side of the Earth the same planes cross again.
  EXPECT_EQ(intersect(line("[[-1,0],[1,0]]"), line("[[180,-1],[180,1]]")), "false");
  EXPECT_EQ(intersect(line("[[179,0],[-179,0]]"), line("[[180,-1],[180,1]]")), "true");
  EXPECT_EQ(intersect(point("[10,10]"), polygon(kSquare)), "true");
}

TEST(Spatial, Valid) {
  Evaluator call;
  const auto reason = [&](const std::string& geojson) {
    const bool valid = call("ST_ISVALID", "[" + geojson + "]") == "true";
    const std::string detail = call("ST_ISVALIDDETAILED", "[" + geojson + "]");
    EXPECT_EQ(valid, detail == R"({"valid":true})") << geojson;
    return detail;
  };
  EXPECT_EQ(reason(point("[-84.38876194345323,33.75682784306348]")), R"({"valid":true})");
  EXPECT_EQ(reason(point("[133.75,-184.38]")),
            R"({"valid":false,"reason":"Latitude values must be between -90 and 90 degrees."})");
  EXPECT_EQ(reason(point("[233.75,-84.38]")),
            R"({"valid":false,"reason":"Longitude values must be between -180 and 180 degrees."})");
  EXPECT_EQ(reason(polygon("[[[31.8,-5],[31.8,-4.7],[32,-4.7],[32,-5]]]")),
            R"({"valid":false,"reason":"The Polygon input is not valid because the start and end )"
            R"(points of the ring number 1 are not the same. Each ring of a polygon must have the )"
            R"(same start and end points."})");
  EXPECT_EQ(reason(polygon(kSquareWithHole)), R"({"valid":true})");
  for (const std::string& wrong :
       {polygon("[]"), polygon("[[]]"), polygon("[[[0,0],[1,1],[0,0]]]"), polygon("[[0,0]]"),
        line("[[0,0]]"), line("[]"), point("[]"), point("[1]"), point(R"(["1","2"])"),
        shape("Circle", "[1,2]"), shape("MultiPolygon", "[]"), std::string("{}"),
        std::string("null"), std::string("5"), std::string(R"({"type":"Point"})")}) {
    EXPECT_EQ(call("ST_ISVALID", "[" + wrong + "]"), "false") << wrong;
    EXPECT_NE(reason(wrong), R"({"valid":true})") << wrong;
  }
  EXPECT_EQ(call("ST_ISVALID", R"(["undefined"])"), "undefined");
}

}  // namespace
}  // namespace orrery::query
