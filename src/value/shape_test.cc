// Which paths make a shape, its term, and its limits.
#include "value/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "value/terms.h"

namespace orrery::value {
namespace {

using testing::UnorderedElementsAre;

std::optional<std::string> shape_of_json(std::string_view json) {
  const auto document = JsonDocument::parse(json).value();
  std::set<std::string> terms;
  IndexPolicy::everything().each_term(document.root(),
                                      [&](std::string_view term) { terms.emplace(term); });
  const std::vector<std::string_view> sorted(terms.begin(), terms.end());
  return shape_of(sorted);
}

std::string path(std::string_view text) {
  return term_path(parse_index_path(text).value().path);
}

TEST(Shape, HasThePathsOutsideOfArrays) {
  const auto shape = shape_of_json(R"({"a":1,"l":[1,{"x":2},[3]],"o":{"p":null,"q":{}},"":"e"})");
  ASSERT_TRUE(shape);
  EXPECT_THAT(shape_paths(*shape).value(),
              UnorderedElementsAre(path("/a/?"), path("/l/?"), path("/o/?"), path("/o/p/?"),
                                   path("/o/q/?"), path("/\"\"/?")));
  EXPECT_TRUE(std::ranges::is_sorted(shape_paths(*shape).value()));
}

TEST(Shape, DependsOnPathsAlone) {
  const auto shape = shape_of_json(R"({"a":1,"b":{"c":[1]}})");
  EXPECT_EQ(shape_of_json(R"({"b":{"c":"x"},"a":[[2]]})"), shape);
  EXPECT_NE(shape_of_json(R"({"a":1,"b":{"d":[1]}})"), shape);
  EXPECT_NE(shape_of_json(R"({"a":1,"b":{}})"), shape);
  EXPECT_NE(shape_of_json(R"({"a":{"b":1}})"), shape_of_json(R"({"a":1,"b":1})"));
  EXPECT_EQ(shape_of_json("{}"), "");
}

TEST(Shape, IsBounded) {
  const auto wide = [](size_t members) {
    std::string json = "{";
    for (size_t i = 0; i < members; ++i) {
      if (i > 0) json += ',';
      json += "\"m" + std::to_string(i) + "\":1";
    }
    return json + "}";
  };
  EXPECT_TRUE(shape_of_json(wide(kMaxShapePaths)));
  EXPECT_FALSE(shape_of_json(wide(kMaxShapePaths + 1)));
  EXPECT_TRUE(shape_of_json("{\"" + std::string(kMaxShapeBytes - 4, 'n') + "\":1}"));
  EXPECT_FALSE(shape_of_json("{\"" + std::string(kMaxShapeBytes - 3, 'n') + "\":1}"));
}

TEST(Shape, TermIsOneToReaders) {
  for (const uint64_t hash : {uint64_t{0}, shape_hash("x"), kOtherShapes}) {
    const std::string term = shape_term(hash);
    EXPECT_EQ(term.size(), kShapeTermBytes);
    EXPECT_EQ(term_size(term + "\x02key"), term.size());
    EXPECT_FALSE(term_size(term.substr(0, term.size() - 1)));
    EXPECT_GT(term, "\x03\xFF") << "after all paths";
  }
  EXPECT_NE(shape_hash(""), kOtherShapes);
}

TEST(Shape, WhatIsNoneIsRefused) {
  std::mt19937_64 random(33);
  const std::string good = shape_of_json(R"({"a":1,"b":{"c\u0000":2}})").value();
  EXPECT_TRUE(shape_paths(good));
  for (size_t size = 1; size < good.size(); ++size) {
    const auto paths = shape_paths(std::string_view(good).substr(0, size));
    if (!paths) EXPECT_EQ(paths.error().code, Code::corrupt);
  }
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes) c = "\x00\x01\x02\x03\xFF\x61"[random() % 6];
    if (const auto paths = shape_paths(bytes)) {
      size_t size = 0;
      for (std::string_view each : *paths) size += each.size();
      EXPECT_EQ(size, bytes.size());
    }
  }
}

}  // namespace
}  // namespace orrery::value
