// What filters say of paths: bounds for an index, equalities, and seeds of upserts.
#include "api/mongo/match/bounds.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {
namespace {

// "[1, 5) exact", "all": intervals in order.
std::string bounds(std::string_view filter, bool is_multikey = false,
                   const Collation* collation = nullptr) {
  const Bounds found = bounds_of(from_ejson(filter), "a", is_multikey, collation);
  std::string text;
  if (found.is_everything) text = "all";
  for (const Interval& interval : found.intervals) {
    text += interval.has_low ? "[" : "(";
    text += interval.low.has_value() ? interval.low->to_json() : "";
    text += ",";
    text += interval.high.has_value() ? interval.high->to_json() : "";
    text += interval.has_high ? "]" : ")";
  }
  return found.is_exact ? text + " exact" : text;
}

TEST(Bounds, OfComparisons) {
  EXPECT_EQ(bounds(R"({"a": 5})"), "[5,5] exact");
  EXPECT_EQ(bounds(R"({"a": {"$gt": 5}})"), "(5,] exact");
  EXPECT_EQ(bounds(R"({"a": {"$gte": "x"}})"), "[\"x\",] exact");
  EXPECT_EQ(bounds(R"({"a": {"$gt": 5, "$lte": 9}})"), "(5,9]");
  EXPECT_EQ(bounds(R"({"a": {"$gt": 9, "$lt": 5}})"), "");
  EXPECT_EQ(bounds(R"({"a": {"$in": [3, 1, 3]}})"), "[1,1][3,3] exact");
  EXPECT_EQ(bounds(R"({"a": null})"), "[null,null]");
  EXPECT_EQ(bounds(R"({"b": 5})"), "all exact");
  EXPECT_EQ(bounds(R"({"a": {"$ne": 5}})"), "all");
}

TEST(Bounds, OfSeveralElementsAreNotCombined) {
  EXPECT_EQ(bounds(R"({"a": {"$gt": 9, "$lt": 5}})", true), "(9,]");
  EXPECT_EQ(bounds(R"({"a": {"$gt": 9, "$in": [1, 2]}})", true), "[1,1][2,2]");
  EXPECT_EQ(bounds(R"({"a": {"$elemMatch": {"$gt": 5, "$lt": 9}}})", true), "(5,9)");
}

TEST(Bounds, OfLogicalOperators) {
  EXPECT_EQ(bounds(R"({"$and": [{"a": {"$gt": 1}}, {"a": {"$lt": 5}}]})"), "(1,5)");
  EXPECT_EQ(bounds(R"({"$or": [{"a": 1}, {"a": {"$gte": 5}}]})"), "[1,1][5,]");
  EXPECT_EQ(bounds(R"({"$or": [{"a": 1}, {"b": 1}]})"), "all");
  EXPECT_EQ(bounds(R"({"$nor": [{"a": 1}]})"), "all");
}

TEST(Bounds, OfRegularExpressionsAndCollations) {
  EXPECT_EQ(bounds(R"({"a": {"$regex": "^abc"}})"), "[\"abc\",\"abd\")[,]");
  EXPECT_EQ(bounds(R"({"a": {"$regex": "^abc*"}})"), "[\"ab\",\"ac\")[,]");
  EXPECT_EQ(bounds(R"({"a": {"$regex": "abc"}})"), "all");
  EXPECT_EQ(bounds(R"({"a": {"$regex": "^a|b"}})"), "all");
  const auto collation = Collation::parse(from_ejson(R"({"locale": "en"})")).value();
  EXPECT_EQ(bounds(R"({"a": "x"})", false, collation.get()), "all");
  EXPECT_EQ(bounds(R"({"a": 1})", false, collation.get()), "[1,1] exact");
}

// A document that matches has a value within the bounds; where they are exact the reverse is true.
TEST(Bounds, AgreeWithTheMatcher) {
  const std::vector<std::string> conditions = {R"(1)",
                                               R"({"$gt": 1})",
                                               R"({"$lt": 2})",
                                               R"({"$in": [1, "x", null]})",
                                               R"({"$gte": 1, "$lte": 2})",
                                               R"({"$regex": "^x"})",
                                               R"({"$type": "string"})",
                                               R"({"$not": {"$gt": 1}})",
                                               R"({"$gte": {"$minKey": 1}})",
                                               R"({"$gt": true})",
                                               R"({"$lte": null})",
                                               R"({"$numberDouble": "NaN"})",
                                               R"({"b": 1})"};
  const std::vector<std::string> values = {R"(0)",
                                           R"(1)",
                                           R"(1.5)",
                                           R"(2)",
                                           R"("x")",
                                           R"("xyz")",
                                           R"("y")",
                                           R"(null)",
                                           R"(true)",
                                           R"(false)",
                                           R"({"$numberDouble": "NaN"})",
                                           R"({"b": 1})",
                                           R"({"$maxKey": 1})"};
  Budget budget;
  Evaluation evaluation(budget);
  const auto is_in = [](const Interval& interval, const Value& value) {
    if (interval.type != value.type()) return false;
    if (interval.low.has_value()) {
      const auto order = compare(value, *interval.low, nullptr);
      if (order < 0 || (order == 0 && !interval.has_low)) return false;
    }
    if (!interval.high.has_value()) return true;
    const auto order = compare(value, *interval.high, nullptr);
    return order < 0 || (order == 0 && interval.has_high);
  };
  for (const std::string& condition : conditions) {
    const Value filter = from_ejson(fmt::format(R"({{"a": {}}})", condition));
    const Bounds found = bounds_of(filter, "a", false);
    const Matcher matcher = Matcher::parse(filter).value();
    for (const std::string& value : values) {
      const Value document = from_ejson(fmt::format(R"({{"a": {}}})", value));
      const bool is_match = matcher.matches(document, evaluation).value();
      const bool is_within = found.is_everything ||
                             std::ranges::any_of(found.intervals, [&](const Interval& interval) {
                               return is_in(interval, document.find("a"));
                             });
      if (is_match) {
        EXPECT_TRUE(is_within) << condition << " " << value;
      }
      if (found.is_exact && is_within) {
        EXPECT_TRUE(is_match) << condition << " " << value;
      }
    }
  }
}

TEST(Equality, OfPaths) {
  EXPECT_EQ(equality_of(from_ejson(R"({"_id": 5, "b": 1})"), "_id")->integer(), 5);
  EXPECT_EQ(
      equality_of(from_ejson(R"({"$and": [{"b": 1}, {"_id": {"$eq": 5}}]})"), "_id")->integer(), 5);
  EXPECT_EQ(equality_of(from_ejson(R"({"_id": {"$in": [5]}})"), "_id")->integer(), 5);
  EXPECT_FALSE(equality_of(from_ejson(R"({"_id": {"$in": [5, 6]}})"), "_id").has_value());
  EXPECT_EQ(choices_of(from_ejson(R"({"_id": {"$in": [5, 6]}})"), "_id")->size(), 2);
  EXPECT_FALSE(equality_of(from_ejson(R"({"_id": {"$gt": 5}})"), "_id").has_value());
  EXPECT_FALSE(equality_of(from_ejson(R"({"$or": [{"_id": 5}, {"b": 1}]})"), "_id").has_value());
  EXPECT_FALSE(
      equality_of(from_ejson(R"({"_id": {"$regularExpression": {"pattern": "x", "options": ""}}})"),
                  "_id")
          .has_value());
}

std::string seed(std::string_view filter) {
  const Answer<Value> document = upsert_seed(from_ejson(filter));
  return document ? to_ejson(*document) : std::to_string(document.error().code);
}

std::string as_is(std::string_view json) {
  return to_ejson(from_ejson(json));
}

TEST(UpsertSeed, HasTheEqualities) {
  EXPECT_EQ(seed(R"({"a": 1, "_id": 5})"), as_is(R"({"_id": 5, "a": 1})"));
  EXPECT_EQ(seed(R"({"a.b": 1, "a.c": {"$eq": 2}, "d": {"$gt": 1}})"),
            as_is(R"({"a": {"b": 1, "c": 2}})"));
  EXPECT_EQ(seed(R"({"$and": [{"a": 1}], "$or": [{"b": 2}]})"), as_is(R"({"a": 1, "b": 2})"));
  EXPECT_EQ(seed(R"({"$or": [{"b": 2}, {"c": 1}]})"), as_is("{}"));
  EXPECT_EQ(seed(R"({"a": {"$all": [[3]]}})"), as_is(R"({"a": [3]})"));
  EXPECT_EQ(seed(R"({"a": {"$eq": 2, "$all": [2]}})"), "54");
  EXPECT_EQ(seed(R"({"a": 1, "a.b": 2})"), "54");
}

}  // namespace
}  // namespace orrery::mongo
