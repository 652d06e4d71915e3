// $jsonSchema: each keyword, and what is refused.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {
namespace {

bool is_valid(std::string_view schema, std::string_view document) {
  const Answer<Matcher> matcher =
      Matcher::parse(from_ejson(fmt::format(R"({{"$jsonSchema": {}}})", schema)));
  EXPECT_TRUE(matcher) << schema << ": " << matcher.error().message;
  Budget budget;
  Evaluation evaluation(budget);
  return matcher && matcher->matches(from_ejson(document), evaluation).value();
}

int32_t schema_code(std::string_view schema) {
  const Answer<Matcher> matcher =
      Matcher::parse(from_ejson(fmt::format(R"({{"$jsonSchema": {}}})", schema)));
  return matcher ? 0 : matcher.error().code;
}

TEST(JsonSchema, Types) {
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"type": "number"}}})", R"({"a": 1})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"type": "string"}}})", R"({"a": 1})"));
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"bsonType": ["int", "string"]}}})", R"({"a": 1})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"bsonType": "long"}}})", R"({"a": 1})"));
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"bsonType": "long"}}})", R"({})"));
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"enum": [1, "x"]}}})", R"({"a": "x"})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"enum": [1, "x"]}}})", R"({"a": "y"})"));
}

TEST(JsonSchema, Numbers) {
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"minimum": 1, "maximum": 3}}})", R"({"a": 3})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"maximum": 3, "exclusiveMaximum": true}}})",
                        R"({"a": 3})"));
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"multipleOf": 1.5}}})", R"({"a": 3})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"multipleOf": 2}}})", R"({"a": 3})"));
}

TEST(JsonSchema, Strings) {
  EXPECT_TRUE(
      is_valid(R"({"properties": {"a": {"minLength": 2, "maxLength": 2}}})", R"({"a": "äö"})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"pattern": "^x"}}})", R"({"a": "y"})"));
  EXPECT_TRUE(is_valid(R"({"properties": {"a": {"pattern": "^x"}}})", R"({"a": 1})"));
}

TEST(JsonSchema, Arrays) {
  EXPECT_TRUE(is_valid(
      R"({"properties": {"a": {"items": {"type": "number"}, "minItems": 1, "maxItems": 2}}})",
      R"({"a": [1, 2]})"));
  EXPECT_FALSE(
      is_valid(R"({"properties": {"a": {"items": {"type": "number"}}}})", R"({"a": [1, "x"]})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {"uniqueItems": true}}})",
                        R"({"a": [1, {"$numberDouble": "1.0"}]})"));
  EXPECT_FALSE(is_valid(
      R"({"properties": {"a": {"items": [{"type": "number"}], "additionalItems": false}}})",
      R"({"a": [1, 2]})"));
  EXPECT_TRUE(
      is_valid(R"({"properties": {"a": {"items": [{}], "additionalItems": {"type": "string"}}}})",
               R"({"a": [1, "x"]})"));
}

TEST(JsonSchema, Objects) {
  EXPECT_FALSE(is_valid(R"({"required": ["a", "b"]})", R"({"a": 1})"));
  EXPECT_TRUE(
      is_valid(R"({"required": ["a"], "minProperties": 1, "maxProperties": 2})", R"({"a": 1})"));
  EXPECT_FALSE(is_valid(R"({"patternProperties": {"^n": {"type": "number"}}})", R"({"n1": "x"})"));
  EXPECT_FALSE(is_valid(R"({"properties": {"a": {}}, "additionalProperties": false})",
                        R"({"a": 1, "b": 1})"));
  EXPECT_TRUE(is_valid(
      R"({"patternProperties": {"^b": {}}, "properties": {"a": {}}, "additionalProperties": false})",
      R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(is_valid(R"({"dependencies": {"a": ["b"]}})", R"({"a": 1})"));
  EXPECT_TRUE(is_valid(R"({"dependencies": {"a": {"required": ["b"]}}})", R"({"c": 1})"));
}

TEST(JsonSchema, Combinations) {
  EXPECT_TRUE(
      is_valid(R"({"allOf": [{"required": ["a"]}, {"required": ["b"]}]})", R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(is_valid(R"({"allOf": [{"required": ["a"]}, {"required": ["b"]}]})", R"({"a": 1})"));
  EXPECT_TRUE(is_valid(R"({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]})", R"({"b": 1})"));
  EXPECT_FALSE(
      is_valid(R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})", R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(is_valid(R"({"not": {"required": ["a"]}})", R"({"a": 1})"));
}

TEST(JsonSchema, Errors) {
  EXPECT_EQ(schema_code(R"({"nope": 1})"), kFailedToParse);
  EXPECT_EQ(schema_code(R"({"$ref": "x"})"), kFailedToParse);
  EXPECT_EQ(schema_code(R"({"type": 1})"), kTypeMismatch);
  EXPECT_EQ(schema_code(R"({"type": "integer"})"), kFailedToParse);
  EXPECT_EQ(schema_code(R"({"required": []})"), kFailedToParse);
  EXPECT_EQ(schema_code(R"({"minimum": "1"})"), kTypeMismatch);
  EXPECT_EQ(schema_code(R"({"exclusiveMinimum": true})"), kFailedToParse);
  EXPECT_EQ(schema_code("1"), kTypeMismatch);
}

}  // namespace
}  // namespace orrery::mongo
