// Which queries are refused because the vendor's service refuses them, and in which words.
#include "api/cosmos/query/service_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "query/parse/parser.h"

namespace orrery::cosmos {
namespace {

using testing::HasSubstr;

// The message; empty: it is not refused.
std::string refusal(std::string_view text) {
  auto query = query::parse_query(text);
  EXPECT_TRUE(query) << text;
  if (!query) return "?";
  const auto refused = refused_by_service(*query);
  EXPECT_TRUE(!refused || refused->code == Code::invalid);
  return refused ? refused->message : "";
}

TEST(ServiceRulesTest, ClausesInSubqueries) {
  EXPECT_EQ(refusal("SELECT VALUE r FROM (SELECT TOP 10 VALUE c FROM c) AS r"),
            R"({"errors":[{"severity":"Error","location":{"start":32,"end":34},"code":"SC2203",)"
            R"("message":"'TOP' is not supported in subqueries."}]})");
  EXPECT_THAT(refusal("SELECT VALUE r FROM (SELECT VALUE c FROM c ORDER BY c.a) AS r"),
              HasSubstr("\"SC2202\",\"message\":\"'ORDER BY' is not supported in subqueries.\""));
  EXPECT_THAT(refusal("SELECT VALUE r FROM (SELECT VALUE c FROM c OFFSET 1 LIMIT 2) AS r"),
              HasSubstr("SC2204"));
  EXPECT_THAT(refusal("SELECT VALUE r FROM "
                      "(SELECT VALUE c FROM c ORDER BY RANK FullTextScore(c.a, 'x')) AS r"),
              HasSubstr("SC2228"));
  // Wherever it stands, and all of them.
  const std::string several = refusal(
      "SELECT ARRAY(SELECT TOP 1 VALUE t FROM t IN c.t) FROM c JOIN (SELECT VALUE x FROM x IN c.x "
      "ORDER BY x OFFSET 1 LIMIT 1) AS x WHERE EXISTS(SELECT TOP 2 VALUE t FROM t IN c.t)");
  for (const char* code : {"SC2202", "SC2203", "SC2204"}) EXPECT_THAT(several, HasSubstr(code));
  for (const char* fine : {"SELECT TOP 1 * FROM c ORDER BY c.a", "SELECT * FROM c OFFSET 1 LIMIT 1",
                           "SELECT TOP 3 VALUE r FROM (SELECT DISTINCT VALUE c.a FROM c) AS r",
                           "SELECT ARRAY(SELECT VALUE t FROM t IN c.t) FROM c"}) {
    EXPECT_EQ(refusal(fine), "") << fine;
  }
}

TEST(ServiceRulesTest, WhatCanBeSortedBy) {
  for (const char* fine : {
           "SELECT * FROM c ORDER BY c.a",
           "SELECT * FROM c ORDER BY c.a.b DESC, c[\"x\"]",
           "SELECT * FROM c ORDER BY c",
           "SELECT c.id, t FROM c JOIN t IN c.tags ORDER BY c.id",
           "SELECT VALUE r FROM (SELECT VALUE c FROM c) AS r ORDER BY r.a",
           "SELECT VALUE r FROM (SELECT VALUE {\"a\": c.x, \"n\": 1} FROM c) AS r ORDER BY r.a",
           "SELECT VALUE r FROM (SELECT c.x, c.y AS z FROM c) AS r ORDER BY r.x",
           "SELECT VALUE r FROM (SELECT c.x, c.y AS z FROM c) AS r ORDER BY r.z",
           "SELECT VALUE r FROM (SELECT * FROM c) AS r ORDER BY r.z",
           "SELECT * FROM c JOIN (SELECT VALUE c.a) AS v ORDER BY v",
           "SELECT TOP 5 * FROM c ORDER BY VectorDistance(c.v, [1, 2])",
           "SELECT TOP 5 c._rid FROM c ORDER BY _FullTextScore(c.t, [\"x\"], 1, 1, [1])",
           "SELECT VALUE AVG(c.x) FROM c ORDER BY c.x",
           "SELECT VALUE AVG(t.x) FROM c JOIN t IN c.t ORDER BY t.x",
       }) {
    EXPECT_EQ(refusal(fine), "") << fine;
  }
  for (const char* text : {
           "SELECT * FROM c ORDER BY LOWER(c.a)",
           "SELECT * FROM c ORDER BY c.a + 1",
           "SELECT * FROM c ORDER BY c.a, LENGTH(c.b)",
           "SELECT * FROM c ORDER BY NOT IS_DEFINED(c.a)",
           "SELECT VALUE r FROM (SELECT VALUE {\"a\": c.x + 1} FROM c) AS r ORDER BY r.a",
           "SELECT VALUE r FROM (SELECT VALUE {\"a\": c.x} FROM c) AS r ORDER BY r.b",
           "SELECT VALUE c FROM c JOIN (SELECT VALUE COUNT(1) FROM t IN c.t) AS v ORDER BY v",
           "SELECT VALUE c FROM c JOIN (SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.t)) AS v "
           "ORDER BY v[0]",
       }) {
    EXPECT_THAT(refusal(text), HasSubstr("\"code\":2206,\"message\":\"Unsupported ORDER BY"))
        << text;
  }
  for (const char* text : {
           "SELECT VALUE t FROM c JOIN t IN c.t ORDER BY t.a",
           "SELECT VALUE t FROM t IN c.t ORDER BY t.a",
           "SELECT VALUE v FROM c JOIN (SELECT DISTINCT VALUE t FROM c JOIN t IN c.t) AS v "
           "ORDER BY v.a",
       }) {
    EXPECT_THAT(refusal(text), HasSubstr("Order-by over correlated collections")) << text;
  }
  EXPECT_THAT(refusal("SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g ORDER BY c.g"),
              HasSubstr("'GROUP BY'"));
}

TEST(ServiceRulesTest, TheRest) {
  EXPECT_THAT(refusal("SELECT VALUE [1, 2, 3][c.x] FROM c"), HasSubstr("SC2990"));
  EXPECT_EQ(refusal("SELECT c.a[0], c[\"b\"], c.a[@i] FROM c"), "");
  EXPECT_THAT(refusal("SELECT c.id FROM c JOIN t IN c.t ORDER BY RANK FullTextScore(c.a, 'x')"),
              HasSubstr("SC2224"));
  EXPECT_THAT(refusal("SELECT t FROM t IN c.t ORDER BY RANK FullTextScore(t.a, 'x')"),
              HasSubstr("SC2223"));
  EXPECT_THAT(refusal("SELECT VALUE r FROM (SELECT VALUE c FROM c) AS r ORDER BY RANK "
                      "FullTextScore(r.a, 'x')"),
              HasSubstr("SC2225"));
  const std::string distance =
      "SELECT VALUE VectorDistance(c.v, [1], true, {\"searchListSizeMultiplier\": ";
  EXPECT_THAT(refusal(distance + "-100}) FROM c"), HasSubstr("value -100 specified"));
  EXPECT_THAT(refusal(distance + "101}) FROM c"), HasSubstr("SC2213"));
  EXPECT_EQ(refusal(distance + "100}) FROM c"), "");
}

// What names stand for is shared, not copied: this would be 2^40 members.
TEST(ServiceRulesTest, ManyNamesTakeNoTime) {
  std::string text = "SELECT VALUE v40 FROM c JOIN (SELECT VALUE {\"a\": c, \"b\": c}) AS v0 ";
  for (int i = 1; i <= 40; ++i) {
    const std::string inner = "v" + std::to_string(i - 1);
    text += "JOIN (SELECT VALUE {\"a\": " + inner + ", \"b\": " + inner + "}) AS v" +
            std::to_string(i) + " ";
  }
  auto query = query::parse_query(text + "ORDER BY v40.a.b");
  if (query) EXPECT_TRUE(refused_by_service(*query));
}

Status indexed(std::string_view text, const value::IndexDefinition& definition,
               const query::ComputedProperties& computed = {}) {
  return check_order_is_indexed(query::parse_query(text).value(), value::IndexPolicy(definition),
                                computed);
}

TEST(ServiceRulesTest, OrdersThatTheIndexHas) {
  const auto path = [](std::string_view text) { return value::parse_property_path(text).value(); };
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.rules.push_back({value::parse_index_path("/secret/*").value(), false});
  definition.composites.push_back({{{path("/a"), false}, {path("/b"), true}}});
  for (const char* fine :
       {"SELECT * FROM c", "SELECT * FROM c ORDER BY c.a", "SELECT * FROM c ORDER BY c",
        "SELECT * FROM c ORDER BY c.a, c.b DESC", "SELECT * FROM c ORDER BY c.a DESC, c.b ASC",
        "SELECT VALUE r FROM (SELECT c.a AS x, c.b AS y FROM c) AS r ORDER BY r.x, r.y DESC",
        "SELECT * FROM c ORDER BY RANK FullTextScore(c.secret, 'x')",
        "SELECT VALUE COUNT(1) FROM c ORDER BY c.a, c.secret"}) {
    EXPECT_TRUE(indexed(fine, definition)) << fine;
  }
  for (const char* text :
       {"SELECT * FROM c ORDER BY c.a, c.b", "SELECT * FROM c ORDER BY c.b DESC, c.a",
        "SELECT * FROM c ORDER BY c.a, c.b DESC, c.d", "SELECT * FROM c ORDER BY c.a, c.a"}) {
    const Status status = indexed(text, definition);
    ASSERT_FALSE(status) << text;
    EXPECT_THAT(status.error().message, HasSubstr("corresponding composite index"));
  }
  const Status excluded = indexed("SELECT * FROM c ORDER BY c.secret.x", definition);
  ASSERT_FALSE(excluded);
  EXPECT_THAT(excluded.error().message, HasSubstr("order-by item is excluded"));
  query::ComputedProperties computed;
  computed.emplace("secret", query::parse_query("SELECT VALUE LOWER(c.a) FROM c").value());
  EXPECT_TRUE(indexed("SELECT * FROM c ORDER BY c.secret", definition, computed));
}

}  // namespace
}  // namespace orrery::cosmos
