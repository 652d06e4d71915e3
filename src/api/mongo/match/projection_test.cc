// Projections of find, in Extended JSON.
#include "api/mongo/match/projection.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/test_ejson.h"

namespace orrery::mongo {
namespace {

// The projected document, or the number of the error.
std::string projected(std::string_view spec, std::string_view document,
                      std::optional<size_t> position = std::nullopt) {
  const Answer<Projection> projection = Projection::parse(from_ejson(spec));
  if (!projection) return std::to_string(projection.error().code);
  Budget budget;
  Evaluation evaluation(budget);
  const Answer<Value> value = projection->apply(from_ejson(document), position, evaluation);
  return value ? to_ejson(*value) : std::to_string(value.error().code);
}

// As Extended JSON writes it.
std::string kept_as_is(std::string_view json) {
  return to_ejson(from_ejson(json));
}

TEST(Projection, Inclusion) {
  constexpr std::string_view kDocument =
      R"({"_id": 1, "a": {"b": 1, "c": 2}, "d": [{"b": 1, "c": 2}, 5, [{"b": 3}]], "e": 5})";
  EXPECT_EQ(projected("{}", kDocument), kept_as_is(kDocument));
  EXPECT_EQ(projected(R"({"e": 1})", kDocument), kept_as_is(R"({"_id": 1, "e": 5})"));
  EXPECT_EQ(projected(R"({"e": true, "_id": 0})", kDocument), kept_as_is(R"({"e": 5})"));
  EXPECT_EQ(projected(R"({"_id": 1})", kDocument), kept_as_is(R"({"_id": 1})"));
  EXPECT_EQ(projected(R"({"a.b": 1, "d.b": 1})", kDocument),
            kept_as_is(R"({"_id": 1, "a": {"b": 1}, "d": [{"b": 1}, [{"b": 3}]]})"));
  EXPECT_EQ(projected(R"({"a": {"c": 1}, "_id": 0})", kDocument), kept_as_is(R"({"a": {"c": 2}})"));
  EXPECT_EQ(projected(R"({"e.x": 1})", kDocument), kept_as_is(R"({"_id": 1})"));
}

TEST(Projection, Exclusion) {
  constexpr std::string_view kDocument =
      R"({"_id": 1, "a": {"b": 1, "c": 2}, "d": [{"b": 1, "c": 2}, 5]})";
  EXPECT_EQ(projected(R"({"_id": 0})", kDocument),
            kept_as_is(R"({"a": {"b": 1, "c": 2}, "d": [{"b": 1, "c": 2}, 5]})"));
  EXPECT_EQ(projected(R"({"a.b": 0, "d.c": 0})", kDocument),
            kept_as_is(R"({"_id": 1, "a": {"c": 2}, "d": [{"b": 1}, 5]})"));
  EXPECT_EQ(projected(R"({"a": 0, "_id": 1})", kDocument),
            kept_as_is(R"({"_id": 1, "d": [{"b": 1, "c": 2}, 5]})"));
}

TEST(Projection, Slice) {
  constexpr std::string_view kDocument = R"({"_id": 1, "a": [1, 2, 3, 4], "b": 5})";
  EXPECT_EQ(projected(R"({"a": {"$slice": 2}})", kDocument),
            kept_as_is(R"({"_id": 1, "a": [1, 2], "b": 5})"));
  EXPECT_EQ(projected(R"({"a": {"$slice": -1}})", kDocument),
            kept_as_is(R"({"_id": 1, "a": [4], "b": 5})"));
  EXPECT_EQ(projected(R"({"a": {"$slice": [1, 2]}, "_id": 1})", kDocument),
            kept_as_is(R"({"_id": 1, "a": [2, 3]})"));
  EXPECT_EQ(projected(R"({"a": {"$slice": [-9, 1]}, "b": 1})", kDocument),
            kept_as_is(R"({"_id": 1, "a": [1], "b": 5})"));
  EXPECT_EQ(projected(R"({"a": {"$slice": [1, 0]}})", kDocument), "28724");
}

TEST(Projection, ElementsThatMatch) {
  constexpr std::string_view kDocument =
      R"({"_id": 1, "a": [{"x": 1}, {"x": 2}, {"x": 2, "y": 1}], "b": 5})";
  EXPECT_EQ(projected(R"({"a": {"$elemMatch": {"x": 2}}})", kDocument),
            kept_as_is(R"({"_id": 1, "a": [{"x": 2}]})"));
  EXPECT_EQ(projected(R"({"a": {"$elemMatch": {"x": 2}}, "b": 1})", kDocument),
            kept_as_is(R"({"_id": 1, "b": 5, "a": [{"x": 2}]})"));
  EXPECT_EQ(projected(R"({"a": {"$elemMatch": {"x": 9}}})", kDocument),
            kept_as_is(R"({"_id": 1})"));
  EXPECT_EQ(projected(R"({"a.b": {"$elemMatch": {"x": 9}}})", kDocument), "31275");
}

TEST(Projection, ThePositionalOperator) {
  constexpr std::string_view kDocument = R"({"_id": 1, "a": [1, 2, 3], "b": [{"c": 1}, {"c": 2}]})";
  EXPECT_EQ(projected(R"({"a.$": 1})", kDocument, 1), kept_as_is(R"({"_id": 1, "a": [2]})"));
  EXPECT_EQ(projected(R"({"a.$": 1})", kDocument), "51246");
  EXPECT_EQ(projected(R"({"a.$": 1})", kDocument, 9), "51247");
  EXPECT_EQ(projected(R"({"b.c.$": 1})", kDocument, 1),
            kept_as_is(R"({"_id": 1, "b": [{"c": 2}]})"));
  EXPECT_EQ(projected(R"({"a.$": 1, "b.$": 1})", kDocument, 1), "31276");
  EXPECT_EQ(projected(R"({"a.$.x": 1})", kDocument, 1), "31394");
  EXPECT_EQ(projected(R"({"a.$": 0})", kDocument, 1), "31395");
}

TEST(Projection, Expressions) {
  constexpr std::string_view kDocument = R"({"_id": 1, "a": 2, "b": {"c": 3}})";
  EXPECT_EQ(projected(R"({"x": "$b.c"})", kDocument), kept_as_is(R"({"_id": 1, "x": 3})"));
  EXPECT_EQ(projected(R"({"a": 1, "x": {"$add": ["$a", 1]}})", kDocument),
            kept_as_is(R"({"_id": 1, "a": 2, "x": 3})"));
  EXPECT_EQ(projected(R"({"b": {"d": "$a"}})", kDocument),
            kept_as_is(R"({"_id": 1, "b": {"d": 2}})"));
  EXPECT_EQ(projected(R"({"x": "text"})", kDocument), kept_as_is(R"({"_id": 1, "x": "text"})"));
  EXPECT_EQ(projected(R"({"x": "$nope"})", kDocument), kept_as_is(R"({"_id": 1})"));
}

TEST(Projection, Errors) {
  EXPECT_EQ(projected(R"({"a": 1, "b": 0})", "{}"), "31254");
  EXPECT_EQ(projected(R"({"a": 0, "b": 1})", "{}"), "31253");
  EXPECT_EQ(projected(R"({"a": 1, "a.b": 1})", "{}"), "31249");
  EXPECT_EQ(projected(R"({"a.b": 1, "a": 1})", "{}"), "31250");
  EXPECT_EQ(projected(R"({"a": {}})", "{}"), "51270");
  EXPECT_EQ(projected(R"({"a.": 1})", "{}"), "40353");
  EXPECT_EQ(projected(R"({"": 1})", "{}"), "40352");
  EXPECT_EQ(projected(R"({"a": 0, "x": "$y"})", "{}"), "31252");
}

}  // namespace
}  // namespace orrery::mongo
