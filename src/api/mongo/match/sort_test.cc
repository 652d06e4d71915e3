// Sort keys of documents, and what a sort may not be.
#include "api/mongo/match/sort.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/test_ejson.h"

namespace orrery::mongo {
namespace {

bool is_before(std::string_view spec, std::string_view a, std::string_view b) {
  return Sort::parse(from_ejson(spec)).value().compare_documents(from_ejson(a), from_ejson(b)) < 0;
}

int32_t sort_code(std::string_view spec) {
  const Answer<Sort> sort = Sort::parse(from_ejson(spec));
  return sort ? 0 : sort.error().code;
}

TEST(Sort, ByTypesAndValues) {
  EXPECT_TRUE(is_before(R"({"a": 1})", R"({"a": 1})", R"({"a": 2})"));
  EXPECT_TRUE(is_before(R"({"a": -1})", R"({"a": 2})", R"({"a": 1})"));
  EXPECT_TRUE(is_before(R"({"a": 1})", R"({"a": 100})", R"({"a": "a"})"));
  EXPECT_TRUE(is_before(R"({"a": 1, "b": -1})", R"({"a": 1, "b": 2})", R"({"a": 1, "b": 1})"));
}

TEST(Sort, MissingIsNull) {
  EXPECT_TRUE(is_before(R"({"a": 1})", R"({})", R"({"a": 1})"));
  EXPECT_FALSE(is_before(R"({"a": 1})", R"({})", R"({"a": null})"));
  EXPECT_FALSE(is_before(R"({"a": 1})", R"({"a": null})", R"({})"));
  EXPECT_TRUE(is_before(R"({"a": 1})", R"({"a": []})", R"({"a": null})"));
}

TEST(Sort, OfArraysTheLeastOrTheGreatest) {
  EXPECT_TRUE(is_before(R"({"a": 1})", R"({"a": [9, 1]})", R"({"a": 2})"));
  EXPECT_TRUE(is_before(R"({"a": -1})", R"({"a": [9, 1]})", R"({"a": 8})"));
  EXPECT_TRUE(is_before(R"({"a.b": 1})", R"({"a": [{"b": 9}, {"b": 1}]})", R"({"a": {"b": 2}})"));
}

TEST(Sort, StringsByACollation) {
  const auto collation =
      Collation::parse(from_ejson(R"({"locale": "en", "numericOrdering": true})")).value();
  const Sort sort = Sort::parse(from_ejson(R"({"a": 1})"), collation).value();
  EXPECT_TRUE(sort.compare_documents(from_ejson(R"({"a": "9"})"), from_ejson(R"({"a": "10"})")) <
              0);
}

TEST(Sort, Errors) {
  EXPECT_EQ(sort_code(R"({"a": 2})"), 15975);
  EXPECT_EQ(sort_code(R"({"a": "x"})"), 15974);
  EXPECT_EQ(sort_code(R"({"a.": 1})"), 40353);
  EXPECT_EQ(sort_code(R"({"": 1})"), 40352);
  EXPECT_TRUE(Sort::parse(from_ejson(R"({"$natural": -1})")).value().is_reverse_natural());
}

}  // namespace
}  // namespace orrery::mongo
