// What counts as a query, and what is said of what does not.
#include "api/cosmos/query_request.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(QueryRequestTest, TextAndParameters) {
  auto request = parse_query_request(
      R"({"query":"SELECT * FROM c WHERE c.a = @a","parameters":[{"name":"@a","value":[1,{}]}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->text, "SELECT * FROM c WHERE c.a = @a");
  EXPECT_EQ(request->parameters.at("@a").to_json(), "[1,{}]");
}

TEST(QueryRequestTest, BareText) {
  auto request = parse_query_request("SELECT * FROM c");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->text, "SELECT * FROM c");
}

TEST(QueryRequestTest, TheHashTellsQueriesApart) {
  auto one = parse_query_request(R"({"query":"SELECT 1","parameters":[{"name":"@a","value":1}]})");
  auto two = parse_query_request(R"({"query":"SELECT 1","parameters":[{"name":"@a","value":2}]})");
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->hash, two->hash);
}

TEST(QueryRequestTest, WhatIsNone) {
  for (const char* body : {"", " ", "{", "{}", R"({"query":5})", "SELECT", "[]", "\"SELECT 1\"",
                           R"({"query":"SELECT 1","parameters":[5]})",
                           R"({"query":"SELECT 1","parameters":[{"name":"a","value":1}]})"}) {
    auto request = parse_query_request(body);
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().code, Code::invalid) << body;
  }
}

}  // namespace
}  // namespace orrery::cosmos
