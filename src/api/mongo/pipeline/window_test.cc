// $setWindowFields, $fill, $densify, $bucket and $bucketAuto over documents in memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/mongo/pipeline/test_pipeline.h"

namespace orrery::mongo {
namespace {

using Lines = std::vector<std::string>;

// One output f of a window function, in the order of t.
Lines window(const std::string& documents, const std::string& function) {
  TestCollections data({{"c", documents}});
  Lines lines = data.run("c", R"([{"$setWindowFields": {"partitionBy": "$p", "sortBy": {"t": 1},
                                  "output": {"f": )" +
                                  function + R"(}}}, {"$project": {"_id": 0, "f": 1}}])");
  return lines;
}

constexpr const char* kNumbers =
    R"([{"t": 3, "x": 6}, {"t": 1, "x": 1}, {"t": 2, "x": 3}, {"t": 5, "x": 10}])";

std::string f(const std::string& kind, const std::string& number) {
  return R"({"f":{"$number)" + kind + R"(":")" + number + "\"}}";
}

TEST(WindowTest, accumulators_slide) {
  EXPECT_EQ(window(kNumbers, R"({"$sum": "$x", "window": {"documents": [-1, 1]}})"),
            (Lines{f("Int", "4"), f("Int", "10"), f("Int", "19"), f("Int", "16")}));
  EXPECT_EQ(window(kNumbers, R"({"$sum": "$x", "window": {"range": [-1, 1]}})"),
            (Lines{f("Int", "4"), f("Int", "10"), f("Int", "9"), f("Int", "10")}));
  EXPECT_EQ(
      window(kNumbers, R"({"$max": "$x", "window": {"documents": ["unbounded", "current"]}})"),
      (Lines{f("Int", "1"), f("Int", "3"), f("Int", "6"), f("Int", "10")}));
}

TEST(WindowTest, a_descending_order_is_the_ascending_one_read_from_its_end) {
  TestCollections data({{"c", R"([{"t": 1, "x": "a"}, {"t": 2, "x": "b"}, {"t": 1, "x": "c"},
                                  {"t": 2, "x": "d"}])"}});
  const auto pushed = [&](const std::string& sort) {
    return data.run("c", R"([{"$setWindowFields": {"sortBy": )" + sort +
                             R"(, "output": {"f": {"$push": "$x"}}}}, {"$limit": 1},
                               {"$project": {"_id": 0, "f": 1}}])");
  };
  EXPECT_EQ(pushed(R"({"t": 1})"), (Lines{R"({"f":["a","c","b","d"]})"}));
  EXPECT_EQ(pushed(R"({"t": -1})"), (Lines{R"({"f":["d","b","c","a"]})"}));
}

TEST(WindowTest, ranks) {
  constexpr const char* kTies = R"([{"t": 1}, {"t": 1}, {"t": 2}])";
  EXPECT_EQ(window(kTies, R"({"$rank": {}})"),
            (Lines{f("Int", "1"), f("Int", "1"), f("Int", "3")}));
  EXPECT_EQ(window(kTies, R"({"$denseRank": {}})"),
            (Lines{f("Int", "1"), f("Int", "1"), f("Int", "2")}));
  EXPECT_EQ(window(kTies, R"({"$documentNumber": {}})"),
            (Lines{f("Int", "1"), f("Int", "2"), f("Int", "3")}));
  EXPECT_EQ(window(kTies, R"({"$rank": {}, "window": {"documents": [0, 1]}})"),
            (Lines{"error 5371601"}));
}

// The key of an empty array is before null.
TEST(WindowTest, tops_of_empty_arrays) {
  EXPECT_EQ(window(R"([{"t": 1, "x": []}, {"t": 2, "x": 5}])",
                   R"({"$top": {"output": "$t", "sortBy": {"x": 1}}})"),
            (Lines{f("Int", "1"), f("Int", "1")}));
}

TEST(WindowTest, calculus) {
  EXPECT_EQ(
      window(kNumbers, R"({"$derivative": {"input": "$x"}, "window": {"documents": [-1, 0]}})"),
      (Lines{R"({"f":null})", f("Double", "2.0"), f("Double", "3.0"), f("Double", "2.0")}));
  EXPECT_EQ(
      window(kNumbers, R"({"$integral": {"input": "$x"},
                                 "window": {"documents": ["unbounded", "current"]}})"),
      (Lines{f("Double", "0.0"), f("Double", "2.0"), f("Double", "6.5"), f("Double", "22.5")}));
  EXPECT_EQ(window(kNumbers, R"({"$shift": {"output": "$x", "by": 1, "default": 0}})"),
            (Lines{f("Int", "3"), f("Int", "6"), f("Int", "10"), f("Int", "0")}));
  EXPECT_EQ(window(R"([{"t": 1, "x": 1}, {"t": 2, "x": null}, {"t": 4, "x": 7}])",
                   R"({"$linearFill": "$x"})"),
            (Lines{f("Int", "1"), f("Double", "3.0"), f("Int", "7")}));
  EXPECT_EQ(window(R"([{"t": 1, "x": 1}, {"t": 2}, {"t": 4, "x": 7}])", R"({"$locf": "$x"})"),
            (Lines{f("Int", "1"), f("Int", "1"), f("Int", "7")}));
}

TEST(WindowTest, bounds_are_checked) {
  EXPECT_EQ(window(kNumbers, R"({"$sum": 1, "window": {"documents": [1, -1]}})"),
            (Lines{"error 5339900"}));
  EXPECT_EQ(window(R"([{"t": "x"}])", R"({"$sum": 1, "window": {"range": [-1, 1]}})"),
            (Lines{"error 5429414"}));
  EXPECT_EQ(window(kNumbers, R"({"$nothing": 1})"), (Lines{"error 9"}));
}

TEST(BucketTest, values_fall_between_boundaries) {
  TestCollections data({{"c", R"([{"x": 1}, {"x": 5}, {"x": 9}, {"x": "s"}])"}});
  EXPECT_EQ(data.run("c", R"([{"$bucket": {"groupBy": "$x", "boundaries": [0, 5, 10],
                                           "default": "other"}}])"),
            (Lines{R"({"_id":{"$numberInt":"0"},"count":{"$numberInt":"1"}})",
                   R"({"_id":{"$numberInt":"5"},"count":{"$numberInt":"2"}})",
                   R"({"_id":"other","count":{"$numberInt":"1"}})"}));
  EXPECT_EQ(data.run("c", R"([{"$bucket": {"groupBy": "$x", "boundaries": [5, 0]}}])"),
            (Lines{"error 40194"}));
  EXPECT_EQ(
      data.run("c", R"([{"$match": {"x": {"$type": "number"}}},
                              {"$bucketAuto": {"groupBy": "$x", "buckets": 2}}])"),
      (Lines{
          R"({"_id":{"min":{"$numberInt":"1"},"max":{"$numberInt":"9"}},"count":{"$numberInt":"2"}})",
          R"({"_id":{"min":{"$numberInt":"9"},"max":{"$numberInt":"9"}},"count":{"$numberInt":"1"}})"}));
}

TEST(DensifyTest, steps_are_filled) {
  TestCollections data({{"c", R"([{"x": 1}, {"x": 3}])"}});
  EXPECT_EQ(
      data.run("c", R"([{"$densify": {"field": "x", "range": {"step": 1, "bounds": "full"}}}])"),
      (Lines{R"({"x":{"$numberInt":"1"}})", R"({"x":{"$numberInt":"2"}})",
             R"({"x":{"$numberInt":"3"}})"}));
  EXPECT_EQ(
      data.run("c", R"([{"$densify": {"field": "x", "range": {"step": 0, "bounds": "full"}}}])"),
      (Lines{"error 5733401"}));
  EXPECT_EQ(data.run("c", R"([{"$densify": {"field": "x", "range": {"step": 1,
                               "bounds": [0, 100000000]}}}])"),
            (Lines{"error 5897900"}));
}

}  // namespace
}  // namespace orrery::mongo
