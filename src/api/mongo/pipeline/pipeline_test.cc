// Pipelines as they are written, over documents in memory.
#include "api/mongo/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/pipeline/test_pipeline.h"

namespace orrery::mongo {
namespace {

using Lines = std::vector<std::string>;

TEST(PipelineTest, stages_follow_one_another) {
  TestCollections data({{"c", R"([{"_id": 1, "a": 3}, {"_id": 2, "a": 1}, {"_id": 3, "a": 2}])"}});
  EXPECT_EQ(data.run("c", R"([{"$match": {"a": {"$gt": 1}}}, {"$sort": {"a": 1}},
                              {"$project": {"_id": 0, "b": {"$toString": "$a"}}}])"),
            (Lines{R"({"b":"2"})", R"({"b":"3"})"}));
  EXPECT_EQ(data.run("c", R"([{"$skip": 1}, {"$limit": 1}, {"$project": {"_id": 1}}])"),
            (Lines{R"({"_id":{"$numberInt":"2"}})"}));
  EXPECT_EQ(data.run("c", R"([{"$count": "n"}])"), (Lines{R"({"n":{"$numberInt":"3"}})"}));
}

TEST(PipelineTest, projections_reach_into_arrays) {
  TestCollections data({{"c", R"([{"_id": 1, "a": [{"b": 1, "c": 2}, 5], "x": {"y": "p"}}])"}});
  EXPECT_EQ(data.run("c", R"([{"$project": {"_id": 0, "a.b": 1}}])"),
            (Lines{R"({"a":[{"b":{"$numberInt":"1"}}]})"}));
  EXPECT_EQ(data.run("c", R"([{"$unset": ["_id", "a", "x.y"]}])"), (Lines{R"({"x":{}})"}));
  EXPECT_EQ(data.run("c", R"([{"$project": {"a": 0, "x": 1}}])"), (Lines{"error 31254"}));
  EXPECT_EQ(data.run("c", R"([{"$unset": ["a", "_id"]}, {"$set": {"x.z": "$x.y"}}])"),
            (Lines{R"({"x":{"y":"p","z":"p"}})"}));
}

TEST(PipelineTest, groups) {
  TestCollections data(
      {{"c",
        R"([{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": {"$numberLong": "3"}}])"}});
  EXPECT_EQ(data.run("c", R"([{"$group": {"_id": "$k", "s": {"$sum": "$v"}, "n": {"$count": {}}}},
                              {"$sort": {"_id": 1}}])"),
            (Lines{R"({"_id":"a","s":{"$numberLong":"4"},"n":{"$numberInt":"2"}})",
                   R"({"_id":"b","s":{"$numberInt":"2"},"n":{"$numberInt":"1"}})"}));
  EXPECT_EQ(data.run("c", R"([{"$group": {"v": {"$sum": 1}}}])"), (Lines{"error 15955"}));
  EXPECT_EQ(data.run("c", R"([{"$group": {"_id": null, "v": {"$nothing": 1}}}])"),
            (Lines{"error 15952"}));
  EXPECT_EQ(data.run("c", R"([{"$sortByCount": "$k"}, {"$limit": 1}])"),
            (Lines{R"({"_id":"a","count":{"$numberInt":"2"}})"}));
}

TEST(PipelineTest, joins) {
  TestCollections data({{"c", R"([{"_id": 1, "r": [1, 2]}, {"_id": 2}])"},
                        {"d", R"([{"_id": 1, "p": "x"}, {"_id": 2, "p": "y"}])"}});
  EXPECT_EQ(data.run("c", R"([{"$match": {"_id": 1}},
                              {"$lookup": {"from": "d", "localField": "r", "foreignField": "_id",
                                           "as": "j", "pipeline": [{"$project": {"_id": 0}}]}},
                              {"$project": {"_id": 0, "j": 1}}])"),
            (Lines{R"({"j":[{"p":"x"},{"p":"y"}]})"}));
  EXPECT_EQ(data.run("c", R"([{"$lookup": {"from": "d", "let": {"i": "$_id"}, "as": "j",
                                "pipeline": [{"$match": {"$expr": {"$eq": ["$_id", "$$i"]}}}]}},
                              {"$project": {"_id": 0, "j.p": 1}}])"),
            (Lines{R"({"j":[{"p":"x"}]})", R"({"j":[{"p":"y"}]})"}));
  EXPECT_EQ(data.run("c", R"([{"$unionWith": "d"}, {"$count": "n"}])"),
            (Lines{R"({"n":{"$numberInt":"4"}})"}));
  EXPECT_EQ(data.run("c", R"([{"$facet": {"n": [{"$count": "n"}]}}])"),
            (Lines{R"({"n":[{"n":{"$numberInt":"2"}}]})"}));
}

TEST(PipelineTest, unwinds) {
  TestCollections data({{"c", R"([{"a": [1, 2]}, {"a": []}, {"a": 3}])"}});
  EXPECT_EQ(data.run("c", R"([{"$unwind": {"path": "$a", "includeArrayIndex": "i"}},
                              {"$project": {"_id": 0}}])"),
            (Lines{R"({"a":{"$numberInt":"1"},"i":{"$numberLong":"0"}})",
                   R"({"a":{"$numberInt":"2"},"i":{"$numberLong":"1"}})",
                   R"({"a":{"$numberInt":"3"},"i":null})"}));
}

TEST(PipelineTest, unknown_and_missing_stages_have_their_codes) {
  TestCollections data({{"c", "[]"}});
  EXPECT_EQ(data.run("c", R"([{"$nothing": 1}])"), (Lines{"error 40324"}));
  EXPECT_EQ(data.run("c", R"([{"$search": {}}])"), (Lines{"error 238"}));
  EXPECT_EQ(data.run("c", R"([{"$geoNear": {}}])"), (Lines{"error 5860400"}));
  EXPECT_EQ(data.run("c", R"([{"$geoNear": {"near": [0, 0]}}])"), (Lines{"error 16606"}));
  EXPECT_EQ(
      data.run("c", R"([{"$limit": 1}, {"$geoNear": {"near": [0, 0], "distanceField": "d"}}])"),
      (Lines{"error 40603"}));
  EXPECT_EQ(data.run("c", R"([{"$out": "x"}, {"$limit": 1}])"), (Lines{"error 40601"}));
  EXPECT_EQ(data.run("c", R"([{"$limit": 0}])"), (Lines{"error 15958"}));
}

TEST(PipelineTest, what_a_store_could_do_is_told) {
  const auto pipeline = Pipeline::parse(
      from_ejson(R"([{"$match": {"a": 1}}, {"$match": {"b": 2}}, {"$sort": {"c": 1}}, {"$skip": 3},
                     {"$limit": 5}, {"$project": {"a": 1}}])"),
      {});
  ASSERT_TRUE(pipeline.has_value());
  const Leading& leading = pipeline->leading();
  EXPECT_EQ(leading.filters.size(), 2U);
  EXPECT_EQ(leading.sort, from_ejson(R"({"c": 1})"));
  EXPECT_EQ(leading.skip, 3);
  EXPECT_EQ(leading.limit, 5);
  EXPECT_EQ(leading.stages, 5U);
}

TEST(PipelineTest, output_is_left_to_the_caller) {
  const auto pipeline =
      Pipeline::parse(from_ejson(R"([{"$merge": {"into": {"db": "x", "coll": "y"}, "on": ["a", "b"],
                                 "whenMatched": [{"$set": {"n": "$$new.n"}}],
                                 "whenNotMatched": "discard"}}])"),
                      {});
  ASSERT_TRUE(pipeline.has_value());
  ASSERT_TRUE(pipeline->output().has_value());
  EXPECT_EQ(pipeline->output()->database, "x");
  EXPECT_EQ(pipeline->output()->when_matched, Output::When::pipeline);
  EXPECT_EQ(pipeline->output()->when_not_matched, Output::When::discard);
}

TEST(PipelineTest, memory_of_a_stage_is_bounded) {
  TestCollections data(
      {{"c", R"([{"a": "0123456789012345678901234567890123456789"}, {"a": "b"}])"}});
  data.memory_limit = 100;
  EXPECT_EQ(data.run("c", R"([{"$sort": {"a": 1}}])"), (Lines{"error 292"}));
  EXPECT_EQ(data.run("c", R"([{"$group": {"_id": null, "all": {"$push": "$a"}}}])"),
            (Lines{"error 292"}));
}

}  // namespace
}  // namespace orrery::mongo
