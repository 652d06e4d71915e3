// Filters against documents, both in Extended JSON.
#include "api/mongo/match/match.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

struct Asked {
  bool is_match = false;
  std::optional<size_t> position = std::nullopt;
  int32_t code = 0;  // of an error
};

Asked ask(std::string_view filter, std::string_view document, const MatchOptions& options = {}) {
  const Answer<Matcher> matcher = Matcher::parse(from_ejson(filter), options);
  if (!matcher) return {.code = matcher.error().code};
  Budget budget;
  Evaluation evaluation(budget);
  const Answer<Matcher::Match> match = matcher->match(from_ejson(document), evaluation);
  if (!match) return {.code = match.error().code};
  return {.is_match = match->is_match, .position = match->position};
}

bool matches(std::string_view filter, std::string_view document) {
  const Asked asked = ask(filter, document);
  EXPECT_EQ(asked.code, 0) << filter;
  return asked.is_match;
}

int32_t code_of(std::string_view filter) {
  return ask(filter, "{}").code;
}

TEST(Match, EqualityOfScalars) {
  EXPECT_TRUE(matches(R"({})", R"({"a": 1})"));
  EXPECT_TRUE(matches(R"({"a": 1})", R"({"a": 1})"));
  EXPECT_TRUE(matches(R"({"a": 1})", R"({"a": {"$numberDouble": "1.0"}})"));
  EXPECT_TRUE(matches(R"({"a": {"$numberDecimal": "1.00"}})", R"({"a": 1})"));
  EXPECT_FALSE(matches(R"({"a": 1})", R"({"a": "1"})"));
  EXPECT_FALSE(matches(R"({"a": 1})", R"({"b": 1})"));
  EXPECT_TRUE(matches(R"({"a": {"$eq": "x"}})", R"({"a": "x"})"));
}

TEST(Match, EqualityOfArraysAndDocuments) {
  EXPECT_TRUE(matches(R"({"a": 2})", R"({"a": [1, 2]})"));
  EXPECT_TRUE(matches(R"({"a": [1, 2]})", R"({"a": [1, 2]})"));
  EXPECT_TRUE(matches(R"({"a": [1, 2]})", R"({"a": [3, [1, 2]]})"));
  EXPECT_FALSE(matches(R"({"a": [1, 2]})", R"({"a": [2, 1]})"));
  EXPECT_TRUE(matches(R"({"a": {"b": 1}})", R"({"a": {"b": 1}})"));
  EXPECT_FALSE(matches(R"({"a": {"b": 1}})", R"({"a": {"b": 1, "c": 2}})"));
  EXPECT_FALSE(matches(R"({"a": {"b": 1, "c": 2}})", R"({"a": {"c": 2, "b": 1}})"));
}

TEST(Match, NullMatchesWhatIsMissing) {
  EXPECT_TRUE(matches(R"({"a": null})", R"({})"));
  EXPECT_TRUE(matches(R"({"a": null})", R"({"a": null})"));
  EXPECT_FALSE(matches(R"({"a": null})", R"({"a": 1})"));
  EXPECT_TRUE(matches(R"({"a.b": null})", R"({"a": [{"b": 1}, {"c": 1}]})"));
  EXPECT_FALSE(matches(R"({"a.b": null})", R"({"a": [1, 2]})"));
  EXPECT_FALSE(matches(R"({"a": {"$ne": null}})", R"({})"));
  EXPECT_TRUE(matches(R"({"a": {"$in": [1, null]}})", R"({})"));
  EXPECT_TRUE(matches(R"({"a": {"$gte": null}})", R"({})"));
  EXPECT_FALSE(matches(R"({"a": {"$gt": null}})", R"({})"));
}

TEST(Match, ComparisonsStayWithinATypesValues) {
  EXPECT_TRUE(matches(R"({"a": {"$gt": 1}})", R"({"a": 2})"));
  EXPECT_FALSE(matches(R"({"a": {"$gt": 1}})", R"({"a": "2"})"));
  EXPECT_FALSE(matches(R"({"a": {"$lt": 1}})", R"({})"));
  EXPECT_TRUE(matches(R"({"a": {"$gt": false}})", R"({"a": true})"));
  EXPECT_TRUE(matches(R"({"a": {"$gte": {"$minKey": 1}}})", R"({"a": "x"})"));
  EXPECT_TRUE(matches(R"({"a": {"$lt": {"$maxKey": 1}}})", R"({"a": "x"})"));
  EXPECT_FALSE(matches(R"({"a": {"$gt": {"$maxKey": 1}}})", R"({"a": "x"})"));
  EXPECT_TRUE(matches(R"({"a": {"$gt": 1, "$lt": 3}})", R"({"a": [0, 5]})"));
  EXPECT_FALSE(matches(R"({"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}})", R"({"a": [0, 5]})"));
}

TEST(Match, NanIsOnlyEqualToItself) {
  constexpr std::string_view kNan = R"({"a": {"$numberDouble": "NaN"}})";
  EXPECT_TRUE(matches(kNan, kNan));
  EXPECT_TRUE(matches(R"({"a": {"$gte": {"$numberDouble": "NaN"}}})", kNan));
  EXPECT_FALSE(matches(R"({"a": {"$lt": 1}})", kNan));
  EXPECT_FALSE(matches(R"({"a": {"$gt": {"$numberDouble": "NaN"}}})", R"({"a": 1})"));
}

TEST(Match, PathsThroughArraysAndIndexes) {
  EXPECT_TRUE(matches(R"({"a.b": 2})", R"({"a": [{"b": 1}, {"b": 2}]})"));
  EXPECT_TRUE(matches(R"({"a.1.b": 2})", R"({"a": [{"b": 1}, {"b": 2}]})"));
  EXPECT_FALSE(matches(R"({"a.0.b": 2})", R"({"a": [{"b": 1}, {"b": 2}]})"));
  EXPECT_TRUE(matches(R"({"a.0": 1})", R"({"a": [1]})"));
  EXPECT_TRUE(matches(R"({"a.0": 1})", R"({"a": {"0": 1}})"));
  EXPECT_TRUE(matches(R"({"a.0": 1})", R"({"a": [{"0": 1}]})"));
  EXPECT_TRUE(matches(R"({"a.0": 1})", R"({"a": [[1, 2]]})"));
  EXPECT_FALSE(matches(R"({"a.b": 1})", R"({"a": [[{"b": 1}]]})"));
  EXPECT_TRUE(matches(R"({"a.0.b": 1})", R"({"a": [[{"b": 1}]]})"));
}

TEST(Match, LogicalOperators) {
  EXPECT_TRUE(matches(R"({"$and": [{"a": 1}, {"b": 2}]})", R"({"a": 1, "b": 2})"));
  EXPECT_TRUE(matches(R"({"$or": [{"a": 1}, {"b": 2}]})", R"({"b": 2})"));
  EXPECT_FALSE(matches(R"({"$nor": [{"a": 1}, {"b": 2}]})", R"({"b": 2})"));
  EXPECT_TRUE(matches(R"({"a": {"$not": {"$gt": 1}}})", R"({})"));
  EXPECT_FALSE(matches(R"({"a": {"$not": {"$regex": "^x"}}})", R"({"a": "xy"})"));
  EXPECT_FALSE(matches(R"({"a": {"$ne": 1}})", R"({"a": [1, 2]})"));
  EXPECT_FALSE(matches(R"({"a": {"$nin": [1, 5]}})", R"({"a": [1, 2]})"));
  EXPECT_EQ(code_of(R"({"$and": []})"), kBadValue);
  EXPECT_EQ(code_of(R"({"$or": {"a": 1}})"), kBadValue);
  EXPECT_EQ(code_of(R"({"$or": [1]})"), kBadValue);
  EXPECT_EQ(code_of(R"({"$nope": 1})"), kBadValue);
  EXPECT_EQ(code_of(R"({"a": {"$nope": 1}})"), kBadValue);
  EXPECT_EQ(code_of(R"({"a": {"$not": 1}})"), kBadValue);
}

TEST(Match, ElementOperators) {
  EXPECT_TRUE(matches(R"({"a": {"$exists": true}})", R"({"a": null})"));
  EXPECT_TRUE(matches(R"({"a.b": {"$exists": false}})", R"({"a": []})"));
  EXPECT_TRUE(matches(R"({"a": {"$type": "int"}})", R"({"a": 1})"));
  EXPECT_TRUE(matches(R"({"a": {"$type": "number"}})", R"({"a": 1.5})"));
  EXPECT_TRUE(matches(R"({"a": {"$type": [2, "int"]}})", R"({"a": "x"})"));
  EXPECT_TRUE(matches(R"({"a": {"$type": "array"}})", R"({"a": [1]})"));
  EXPECT_TRUE(matches(R"({"a": {"$type": "string"}})", R"({"a": [1, "x"]})"));
  EXPECT_EQ(code_of(R"({"a": {"$type": "nope"}})"), kBadValue);
  EXPECT_EQ(code_of(R"({"a": {"$type": []}})"), kFailedToParse);
}

TEST(Match, RegularExpressions) {
  EXPECT_TRUE(matches(R"({"a": {"$regex": "^B", "$options": "i"}})", R"({"a": "bc"})"));
  EXPECT_TRUE(matches(R"({"a": {"$regularExpression": {"pattern": "b", "options": ""}}})",
                      R"({"a": ["x", "abc"]})"));
  EXPECT_TRUE(
      matches(R"({"a": {"$in": [{"$regularExpression": {"pattern": "^b", "options": ""}}]}})",
              R"({"a": "bc"})"));
  EXPECT_FALSE(matches(R"({"a": {"$regex": "b"}})", R"({"a": 1})"));
  EXPECT_EQ(code_of(R"({"a": {"$options": "i"}})"), kBadValue);
  EXPECT_EQ(code_of(R"({"a": {"$regex": "("}})"), 51091);
  EXPECT_EQ(code_of(R"({"a": {"$gt": {"$regularExpression": {"pattern": "b", "options": ""}}}})"),
            kBadValue);
}

TEST(Match, ArrayOperators) {
  EXPECT_TRUE(matches(R"({"a": {"$size": 2}})", R"({"a": [1, 2]})"));
  EXPECT_FALSE(matches(R"({"a": {"$size": 2}})", R"({"a": [[1, 2]]})"));
  EXPECT_TRUE(matches(R"({"a": {"$all": [1, 2]}})", R"({"a": [2, 1, 3]})"));
  EXPECT_TRUE(matches(R"({"a": {"$all": [1]}})", R"({"a": 1})"));
  EXPECT_FALSE(matches(R"({"a": {"$all": []}})", R"({"a": []})"));
  EXPECT_TRUE(matches(R"({"a": {"$all": [{"$elemMatch": {"x": 1}}, {"$elemMatch": {"x": 2}}]}})",
                      R"({"a": [{"x": 1}, {"x": 2}]})"));
  EXPECT_TRUE(matches(R"({"a": {"$elemMatch": {"b": 1, "c": 2}}})",
                      R"({"a": [{"b": 1}, {"b": 1, "c": 2}]})"));
  EXPECT_FALSE(matches(R"({"a": {"$elemMatch": {"b": 1}}})", R"({"a": {"b": 1}})"));
  EXPECT_FALSE(matches(R"({"a": {"$elemMatch": {"b": 1}}})", R"({"a": [[{"b": 1}]]})"));
  EXPECT_TRUE(matches(R"({"a": {"$elemMatch": {"0": 1}}})", R"({"a": [[1]]})"));
  EXPECT_EQ(code_of(R"({"a": {"$size": -1}})"), kBadValue);
  EXPECT_EQ(code_of(R"({"a": {"$all": 1}})"), kBadValue);
  EXPECT_EQ(code_of(R"({"a": {"$in": [{"$gt": 1}]}})"), kBadValue);
}

TEST(Match, NumbersAndBits) {
  EXPECT_TRUE(matches(R"({"a": {"$mod": [4, 1]}})", R"({"a": 5.9})"));
  EXPECT_TRUE(
      matches(R"({"a": {"$mod": [-1, 0]}})", R"({"a": {"$numberLong": "-9223372036854775808"}})"));
  EXPECT_EQ(code_of(R"({"a": {"$mod": [0, 1]}})"), kBadValue);
  EXPECT_TRUE(matches(R"({"a": {"$bitsAllSet": [1, 5]}})", R"({"a": 34})"));
  EXPECT_TRUE(matches(R"({"a": {"$bitsAnySet": 6}})", R"({"a": 34})"));
  EXPECT_TRUE(matches(R"({"a": {"$bitsAllClear": 5}})", R"({"a": 34})"));
  EXPECT_TRUE(matches(R"({"a": {"$bitsAnyClear": 35}})", R"({"a": 34})"));
  EXPECT_TRUE(matches(R"({"a": {"$bitsAllSet": [200]}})", R"({"a": -1})"));
  EXPECT_EQ(code_of(R"({"a": {"$bitsAllSet": -1}})"), kFailedToParse);
}

TEST(Match, ThePositionIsThatOfTheMatchingElement) {
  EXPECT_EQ(ask(R"({"a": 5})", R"({"a": [4, 5]})").position, 1);
  EXPECT_EQ(ask(R"({"a.b": 5})", R"({"a": [{"b": 4}, {"b": [9, 9, 5]}]})").position, 1);
  EXPECT_EQ(ask(R"({"a": {"$elemMatch": {"$gte": 5}}})", R"({"a": [4, 5, 6]})").position, 1);
  EXPECT_EQ(ask(R"({"a": {"$all": [5, 6]}})", R"({"a": [4, 5, 6]})").position, 1);
  EXPECT_EQ(ask(R"({"a": 5, "b": 7})", R"({"a": [4, 5], "b": [7]})").position, 0);
  EXPECT_EQ(ask(R"({"a": {"$ne": 5}})", R"({"a": [4, 6]})").position, std::nullopt);
  EXPECT_EQ(ask(R"({"a": 5})", R"({"a": 5})").position, std::nullopt);
}

TEST(Match, Geography) {
  constexpr std::string_view kInside = R"({"at": {"type": "Point", "coordinates": [5, 5]}})";
  constexpr std::string_view kOutside = R"({"at": {"type": "Point", "coordinates": [50, 5]}})";
  // Clockwise: the smaller side all the same.
  constexpr std::string_view kWithin = R"({"at": {"$geoWithin": {"$geometry": {"type": "Polygon",
      "coordinates": [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]}}}})";
  EXPECT_TRUE(matches(kWithin, kInside));
  EXPECT_FALSE(matches(kWithin, kOutside));
  EXPECT_TRUE(
      matches(R"({"at": {"$geoWithin": {"$box": [[0, 0], [6, 6]]}}})", R"({"at": [5, 5]})"));
  EXPECT_TRUE(matches(R"({"at": {"$geoWithin": {"$center": [[0, 0], 8]}}})", R"({"at": [5, 5]})"));
  EXPECT_FALSE(matches(R"({"at": {"$geoWithin": {"$polygon": [[0, 0], [9, 0], [0, 9]]}}})",
                       R"({"at": [5, 5]})"));
  EXPECT_TRUE(matches(R"({"at": {"$geoWithin": {"$centerSphere": [[5, 5], 0.01]}}})", kInside));
  EXPECT_TRUE(matches(
      R"({"at": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [5, 5]}}}})",
      kInside));
  EXPECT_EQ(code_of(R"({"at": {"$geoWithin": {"$nope": 1}}})"), kBadValue);

  constexpr std::string_view kNear = R"({"at": {"$near": {
      "$geometry": {"type": "Point", "coordinates": [5, 6]}, "$maxDistance": 200000}}})";
  EXPECT_EQ(code_of(kNear), kNotImplemented);
  const Answer<Matcher> near = Matcher::parse(from_ejson(kNear), {.sorts_by_distance = true});
  ASSERT_TRUE(near);
  ASSERT_NE(near->near(), nullptr);
  EXPECT_EQ(near->near()->path, "at");
  EXPECT_EQ(near->near()->max_distance_m, 200000);
  Budget budget;
  Evaluation evaluation(budget);
  EXPECT_TRUE(near->matches(from_ejson(kInside), evaluation).value());
  EXPECT_FALSE(near->matches(from_ejson(kOutside), evaluation).value());
  const auto distance_m = [&](std::string_view document) {
    return nearest_place(*near->near(), from_ejson(document), evaluation).value().distance_m;
  };
  // A degree of MongoDB's sphere; of the ellipsoid it would be 110,580 m.
  EXPECT_NEAR(distance_m(kInside), 111'318.845, 0.001);
  EXPECT_NEAR(distance_m(R"({"at": {"lng": 6, "lat": 6}})"), 110'709.013, 0.001);
  EXPECT_EQ(distance_m(R"({"at": {"type": "Polygon",
      "coordinates": [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]}})"),
            0);
  EXPECT_FALSE(nearest_place(*near->near(), from_ejson("{}"), evaluation));
  EXPECT_EQ(
      code_of(
          R"({"$or": [{"at": {"$near": {"$geometry": {"type": "Point", "coordinates": [5, 6]}}}}]})"),
      kBadValue);
}

TEST(Match, PlacesOfASphereIndex) {
  const auto code_at = [](std::string_view place) {
    const auto checked =
        check_place(from_ejson(std::string(R"({"a": {"b": )") + std::string(place) + "}}"), "a.b");
    return checked ? 0 : checked.error().code;
  };
  for (const std::string_view place :
       {R"({"type": "Point", "coordinates": [1, 2]})", "[1, 2]", R"({"x": 1, "y": 2})", "null",
        "[]", "{}", R"({"type": "Polygon", "coordinates": [[[0, 0], [0, 1], [1, 1], [0, 0]]]})"}) {
    EXPECT_EQ(code_at(place), 0) << place;
  }
  for (
      const std::string_view place :
      {"1", R"("x")", "[1]", "[181, 0]", R"({"type": "Point", "coordinates": [0, 91]})",
       R"([{"type": "Point", "coordinates": [1, 2]}])",
       R"({"type": "Spot", "coordinates": [0, 0]})",
       R"({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]})",
       R"({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0], [0, 1], [0, 0]]]})"}) {
    EXPECT_EQ(code_at(place), 16755) << place;
  }
  EXPECT_EQ(code_at(R"({"type": "GeometryCollection", "geometries": []})"), kNotImplemented);
  EXPECT_TRUE(check_place(from_ejson(R"({"a": [{"b": [1, 2]}, {}, 5]})"), "a.b"));
  EXPECT_FALSE(check_place(from_ejson(R"({"a": [{"b": [1, 2]}, {"b": 5}]})"), "a.b"));
}

TEST(Match, WhatIsNotOffered) {
  EXPECT_EQ(code_of(R"({"$where": "true"})"), kNotImplemented);
  EXPECT_EQ(code_of(R"({"$text": {"$search": "x"}})"), kNotImplemented);
}

TEST(Match, NestingIsBounded) {
  Value filter = from_ejson(R"({"a": 1})");
  for (int i = 0; i < 150; ++i) {
    filter = Value::make_object({field("$and", Value::make_array({filter}))});
  }
  const Answer<Matcher> matcher = Matcher::parse(filter);
  ASSERT_FALSE(matcher);
  EXPECT_EQ(matcher.error().code, kBadValue);
}

TEST(Match, WorkIsBoundedByTheBudget) {
  Budget budget;
  budget.start({.steps = 10});
  Evaluation evaluation(budget);
  std::string array = R"({"a": [0)";
  for (int i = 0; i < 100; ++i) array += ", 0";
  const Answer<Matcher> matcher = Matcher::parse(from_ejson(R"({"a": 1})"));
  const Answer<bool> answer = matcher->matches(from_ejson(array + "]}"), evaluation);
  EXPECT_FALSE(answer);
}

TEST(Match, StringsByACollation) {
  MatchOptions options;
  options.collation = Collation::parse(from_ejson(R"({"locale": "en", "strength": 2})")).value();
  EXPECT_TRUE(ask(R"({"a": "CAT"})", R"({"a": "cat"})", options).is_match);
  EXPECT_TRUE(ask(R"({"a": {"$in": [["CAT"]]}})", R"({"a": ["cat"]})", options).is_match);
  EXPECT_FALSE(ask(R"({"a": {"$regex": "CAT"}})", R"({"a": "cat"})", options).is_match);
}

TEST(Match, Expressions) {
  EXPECT_TRUE(matches(R"({"$expr": {"$gt": ["$a", "$b"]}})", R"({"a": 2, "b": 1})"));
  EXPECT_EQ(code_of(R"({"a": {"$elemMatch": {"$expr": true}}})"), kBadValue);
}

bool takes(std::string_view condition, std::string_view value) {
  Budget budget;
  Evaluation evaluation(budget);
  const Value wrapped = from_ejson(value);
  return ValueMatcher::parse(from_ejson(condition).find("c"))
      .value()
      .matches(wrapped.find("v"), evaluation)
      .value();
}

TEST(ValueMatch, OperatorsDocumentsAndEquality) {
  EXPECT_TRUE(takes(R"({"c": {"$gte": 5}})", R"({"v": 6})"));
  EXPECT_TRUE(takes(R"({"c": {"$gte": 5}})", R"({"v": [6]})"));
  EXPECT_TRUE(takes(R"({"c": {"b": 2}})", R"({"v": {"b": 2, "c": 3}})"));
  EXPECT_FALSE(takes(R"({"c": {"b": 2}})", R"({"v": [{"b": 2}]})"));
  EXPECT_TRUE(takes(R"({"c": [1]})", R"({"v": [1]})"));
  EXPECT_FALSE(takes(R"({"c": 1})", R"({"v": [1]})"));
}

TEST(ValueMatch, ArrayFilters) {
  Budget budget;
  Evaluation evaluation(budget);
  const Answer<ValueMatcher> filter =
      ValueMatcher::parse_array_filter(from_ejson(R"({"x.a": {"$gt": 1}, "x.b": 2})"));
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->name(), "x");
  EXPECT_TRUE(filter->matches(from_ejson(R"({"a": 2, "b": 2})"), evaluation).value());
  EXPECT_FALSE(filter->matches(from_ejson(R"({"a": 1, "b": 2})"), evaluation).value());
  EXPECT_EQ(ValueMatcher::parse_array_filter(from_ejson(R"({"x": 1, "y": 1})")).error().code,
            kFailedToParse);
  EXPECT_EQ(ValueMatcher::parse_array_filter(from_ejson(R"({})")).error().code, kFailedToParse);
  EXPECT_EQ(ValueMatcher::parse_array_filter(from_ejson(R"({"X": 1})")).error().code, kBadValue);
}

}  // namespace
}  // namespace orrery::mongo
