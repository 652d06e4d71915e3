// Plans of ORDER BY RANK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/cosmos/query/gateway_plan_test.h"

namespace orrery::cosmos {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(GatewayPlanTest, RankByOneScore) {
  const auto hybrid =
      plan("SELECT TOP 100 c.id FROM c WHERE c.a = 1 ORDER BY RANK FullTextScore(c.text, 'b', 'd')")
          .hybrid;
  ASSERT_TRUE(hybrid);
  EXPECT_TRUE(hybrid->needs_statistics);
  EXPECT_EQ(hybrid->take, 100);
  EXPECT_FALSE(hybrid->skip);
  EXPECT_EQ(hybrid->statistics_query,
            "SELECT COUNT(1) AS documentCount, [{\"totalWordCount\": "
            "SUM(_FullTextWordCount(c.text)), \"hitCounts\": [COUNTIF(FullTextContains(c.text, "
            "\"b\")), COUNTIF(FullTextContains(c.text, \"d\"))]}] AS fullTextStatistics\nFROM c");
  ASSERT_EQ(hybrid->components.size(), 1);
  const QueryInfo& component = hybrid->components[0];
  EXPECT_EQ(component.top, 200);
  EXPECT_TRUE(component.has_non_streaming_order_by);
  EXPECT_THAT(component.order_by, ElementsAre(SortOrder::descending));
  const std::string score =
      "_FullTextScore(c.text, [\"b\", \"d\"], "
      "{documentdb-formattablehybridsearchquery-totaldocumentcount}, "
      "{documentdb-formattablehybridsearchquery-totalwordcount-0}, "
      "{documentdb-formattablehybridsearchquery-hitcountsarray-0})";
  EXPECT_THAT(component.order_by_expressions, ElementsAre(score));
  EXPECT_EQ(component.rewritten_query,
            "SELECT TOP 200 c._rid, [{\"item\": " + score +
                "}] AS orderByItems, {\"payload\": {\"id\": c.id}, \"componentScores\": [(" +
                score +
                " ?? -1)]} AS payload\nFROM c\nWHERE ((c.a = 1) AND "
                "({documentdb-formattableorderbyquery-filter}))\nORDER BY " +
                score + " DESC");
}

TEST_F(GatewayPlanTest, RankByFusion) {
  context_.vectors = {{*value::parse_property_path("/v"), query::VectorMetric::euclidean}};
  const auto hybrid = plan(
                          "SELECT * FROM c ORDER BY RANK RRF(VectorDistance(c.v, [1, 2]), "
                          "FullTextScore(c.a, 'x'), FullTextScore(c.b, ['y', 'z']), [1, 2, -3]) "
                          "OFFSET 5 LIMIT 10")
                          .hybrid;
  ASSERT_TRUE(hybrid);
  EXPECT_THAT(hybrid->weights, ElementsAre(1, 2, -3));
  EXPECT_EQ(hybrid->skip, 5);
  EXPECT_EQ(hybrid->take, 10);
  ASSERT_EQ(hybrid->components.size(), 3);
  EXPECT_THAT(hybrid->components[0].order_by, ElementsAre(SortOrder::ascending));
  EXPECT_THAT(hybrid->components[1].order_by, ElementsAre(SortOrder::descending));
  for (const QueryInfo& component : hybrid->components) {
    EXPECT_EQ(component.offset, 0);
    EXPECT_EQ(component.limit, 120);  // at least
    EXPECT_THAT(component.rewritten_query, HasSubstr("totalwordcount-0}"));
    EXPECT_THAT(component.rewritten_query, HasSubstr("hitcountsarray-1}"));
    EXPECT_THAT(component.rewritten_query, HasSubstr("\"payload\": c,"));
    EXPECT_THAT(component.rewritten_query, testing::EndsWith("OFFSET 0 LIMIT 120"));
  }
  EXPECT_THAT(hybrid->components[0].rewritten_query,
              HasSubstr("ORDER BY VectorDistance(c.v, [1, 2]) ASC"));
}

TEST_F(GatewayPlanTest, RankByVectorsNeedsNoStatistics) {
  const auto hybrid = plan(
                          "SELECT TOP 1 * FROM c ORDER BY RANK RRF(VectorDistance(c.v, [1]), "
                          "VectorDistance(c.w, [1]))")
                          .hybrid;
  ASSERT_TRUE(hybrid);
  EXPECT_FALSE(hybrid->needs_statistics);
  EXPECT_EQ(hybrid->statistics_query, "");
}

TEST_F(GatewayPlanTest, RankTermsFromParameters) {
  parameters_["@terms"] =
      value::Value::make_array({value::Value::make_string("x"), value::Value::make_string("y")});
  EXPECT_THAT(
      plan("SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.a, @terms)")
          .hybrid->statistics_query,
      HasSubstr("[COUNTIF(FullTextContains(c.a, \"x\")), COUNTIF(FullTextContains(c.a, \"y\"))]"));
  EXPECT_THAT(
      plan("SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.a, @one)").hybrid->statistics_query,
      HasSubstr("FullTextContains(c.a, @one)"));
}

// Not every client sends its parameters with the queries of such a plan.
TEST_F(GatewayPlanTest, RankHasTheValuesOfParameters) {
  parameters_["@n"] = value::Value::make_number(7);
  parameters_["@term"] = value::Value::make_string("x");
  parameters_["@v"] = value::Value::make_array({value::Value::make_number(0.5)});
  parameters_["@weights"] =
      value::Value::make_array({value::Value::make_number(2), value::Value::make_number(-1)});
  const auto hybrid =
      plan(
          "SELECT TOP 1 c.id, @n AS n FROM c JOIN t IN (SELECT VALUE s FROM s IN c.s WHERE s = @n) "
          "WHERE c.n = @n ORDER BY RANK RRF(FullTextScore(c.a, @term), VectorDistance(c.v, @v), "
          "@weights)")
          .hybrid;
  ASSERT_TRUE(hybrid);
  EXPECT_THAT(hybrid->weights, ElementsAre(2, -1));
  EXPECT_THAT(hybrid->statistics_query, HasSubstr("FullTextContains(c.a, \"x\")"));
  for (const QueryInfo& component : hybrid->components) {
    EXPECT_THAT(component.rewritten_query, testing::Not(HasSubstr("@")));
    EXPECT_THAT(component.rewritten_query, HasSubstr("VectorDistance(c.v, [0.5])"));
  }
}

TEST_F(GatewayPlanTest, RankCountsDoNotOverflow) {
  const auto hybrid = plan(
                          "SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'x') OFFSET 10 LIMIT "
                          "2147483647")
                          .hybrid;
  EXPECT_EQ(hybrid->components.at(0).limit, 4'294'967'295);
}

TEST_F(GatewayPlanTest, WrongRanks) {
  for (const char* query :
       {"SELECT * FROM c ORDER BY RANK UPPER(c.a)",
        "SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, 'x'))",
        "SELECT * FROM c ORDER BY RANK FullTextScore(c.a)",
        "SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.a, 'x'), FullTextScore(c.b, 'x'), [1])",
        "SELECT DISTINCT c.a FROM c ORDER BY RANK FullTextScore(c.a, 'x')"}) {
    EXPECT_THAT(refusal(query), StartsWith("{\"Errors\":[\"")) << query;
  }
}

}  // namespace
}  // namespace orrery::cosmos
