// What counts as a query, and what is said of what does not.
#include "api/cosmos/query/query_request.h"

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

uint64_t identity_of(std::string_view text, std::string_view parameters = "[]") {
  const auto request = parse_query_request("{\"query\":\"" + std::string(text) +
                                           "\",\"parameters\":" + std::string(parameters) + "}");
  EXPECT_TRUE(request) << text;
  return request ? request->identity() : 0;
}

TEST(QueryRequestTest, AnOrderIsTheSameWithAnyFilter) {
  const uint64_t first = identity_of("SELECT c.a FROM c WHERE (true) ORDER BY c.x");
  EXPECT_EQ(identity_of("SELECT c.a FROM c WHERE (c.x >= 0) ORDER BY c.x"), first);
  EXPECT_EQ(identity_of("SELECT c.a FROM c  ORDER BY c.x ASC"), first);
  for (const char* other :
       {"SELECT c.a FROM c ORDER BY c.x DESC", "SELECT c.a FROM c ORDER BY c.x, c.y",
        "SELECT c.b FROM c ORDER BY c.x", "SELECT DISTINCT c.a FROM c ORDER BY c.x",
        "SELECT TOP 5 c.a FROM c ORDER BY c.x", "SELECT c.a FROM c JOIN d IN c.d ORDER BY c.x",
        "SELECT c.a FROM c ORDER BY c.x OFFSET 1 LIMIT 5", "SELECT c.a FROM c"}) {
    EXPECT_NE(identity_of(other), first) << other;
  }
  EXPECT_NE(identity_of("SELECT c.a FROM c ORDER BY c.x", R"([{"name":"@a","value":1}])"), first);
  EXPECT_NE(identity_of("SELECT * FROM c WHERE true"),
            identity_of("SELECT * FROM c WHERE c.x = 1"));
}

TEST(QueryRequestTest, WhereToResume) {
  const auto parse = [](const std::string& filter) {
    return parse_query_request(R"({"query":"SELECT * FROM c ORDER BY c.a, c.b","resumeFilter":)" +
                               filter + "}");
  };
  auto request = parse(R"({"value":["x",[]],"rid":"abc=","exclude":true})");
  ASSERT_TRUE(request && request->resume);
  ASSERT_EQ(request->resume->values.size(), 2U);
  EXPECT_EQ(request->resume->values[0].text(), "x");
  EXPECT_TRUE(request->resume->values[1].is_undefined());
  EXPECT_TRUE(request->resume->exclude);
  EXPECT_FALSE(parse(R"({"value":[1,null]})")->resume->exclude);
  EXPECT_FALSE(parse("null")->resume);
  for (const char* bad : {"{}", R"({"value":1})", R"({"value":[[1]]})",
                          R"({"value":[{"type":"object","low":1,"high":2}]})"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
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
