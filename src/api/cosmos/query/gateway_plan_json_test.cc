// Plans on the wire, as client libraries read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/cosmos/query/gateway_plan_test.h"
#include "base/bytes.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(GatewayPlanTest, JsonOfAPlainQuery) {
  EXPECT_EQ(
      plan_json(plan("SELECT * FROM c")),
      R"({"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None",)"
      R"("top":null,"offset":null,"limit":null,"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],)"
      R"("aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"",)"
      R"("hasSelectValue":false,"dCountInfo":null,"hasNonStreamingOrderBy":false},"queryRanges":[{"min":"",)"
      R"("max":"FF","isMinInclusive":true,"isMaxInclusive":false}]})");
}

TEST_F(GatewayPlanTest, JsonOfRanges) {
  const std::string placement = value::place(
      context_.key, {{.type = value::Type::number, .boolean = false, .number = 1, .text = ""}});
  const std::string one = to_hex_upper(value::effective_key(context_.key, placement));
  EXPECT_THAT(plan_json(plan("SELECT * FROM c WHERE c.pk = 1")),
              HasSubstr("\"queryRanges\":[{\"min\":\"" + one + "\",\"max\":\"" + one +
                        "\",\"isMinInclusive\":true,\"isMaxInclusive\":true}]"));
  EXPECT_THAT(plan_json(plan("SELECT VALUE 1")),
              HasSubstr(R"("queryRanges":[{"min":"","max":"","isMinInclusive":true,)"
                        R"("isMaxInclusive":true}])"));
}

TEST_F(GatewayPlanTest, JsonOfEverythingElse) {
  const std::string groups =
      plan_json(plan("SELECT TOP 4 c.g, AVG(c.a) AS mean FROM c GROUP BY c.g"));
  EXPECT_THAT(groups, HasSubstr("\"top\":4"));
  EXPECT_THAT(groups, HasSubstr("\"groupByAliases\":[\"g\",\"mean\"]"));
  EXPECT_THAT(groups,
              HasSubstr("\"groupByAliasToAggregateType\":{\"g\":null,\"mean\":\"Average\"}"));
  const std::string count = plan_json(plan("SELECT COUNT(1) FROM (SELECT DISTINCT c.a FROM c)"));
  EXPECT_THAT(count, HasSubstr("\"dCountInfo\":{\"dCountAlias\":\"$1\"}"));
  const std::string sorted =
      plan_json(plan("SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a DESC OFFSET 1 LIMIT 2"));
  EXPECT_THAT(
      sorted,
      HasSubstr("\"distinctType\":\"Ordered\",\"top\":null,\"offset\":1,\"limit\":2,\"orderBy\":"
                "[\"Descending\"],\"orderByExpressions\":[\"c.a\"]"));
  const std::string ranked =
      plan_json(plan("SELECT TOP 2 * FROM c ORDER BY RANK FullTextScore(c.a, 'x')"));
  EXPECT_THAT(ranked, StartsWith("{\"partitionedQueryExecutionInfoVersion\":2,"
                                 "\"hybridSearchQueryInfo\":{\"globalStatisticsQuery\":\"SELECT"));
  EXPECT_THAT(ranked, HasSubstr("\"componentWeights\":[],\"skip\":0,\"take\":2,"
                                "\"requiresGlobalStatistics\":true}"));
  const std::string all = plan_json(plan("SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'x')"));
  EXPECT_THAT(all, HasSubstr("\"skip\":0,\"take\":null,"));
  for (const std::string& json : {groups, count, sorted, ranked, all}) {
    EXPECT_TRUE(value::JsonDocument::parse(json)) << json;
  }
}

TEST_F(GatewayPlanTest, WhichQueriesNeedAPlan) {
  for (const char* query : {"SELECT * FROM c", "SELECT c.a FROM c JOIN t IN c.t WHERE c.b > 1",
                            "SELECT (SELECT VALUE MAX(t) FROM t IN c.t) FROM c",
                            "SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.t)"}) {
    EXPECT_TRUE(can_concatenate(*query::parse_query(query))) << query;
  }
  for (const char* query :
       {"SELECT TOP 1 * FROM c", "SELECT DISTINCT c.a FROM c", "SELECT COUNT(1) FROM c",
        "SELECT VALUE 1 + SUM(c.a) FROM c", "SELECT c.a FROM c GROUP BY c.a",
        "SELECT * FROM c ORDER BY c.a", "SELECT * FROM c OFFSET 1 LIMIT 1", "SELECT 1",
        "SELECT * FROM (SELECT DISTINCT c.a FROM c) AS d"}) {
    EXPECT_FALSE(can_concatenate(*query::parse_query(query))) << query;
  }
}

TEST_F(GatewayPlanTest, TheAnswerThatSendsClientsToThePlan) {
  const GatewayPlan made = plan("SELECT VALUE COUNT(1) FROM c");
  const auto body = value::JsonDocument::parse(cross_partition_error(made));
  ASSERT_TRUE(body);
  EXPECT_EQ(body->root().find("code")->text, "BadRequest");
  EXPECT_THAT(std::string(body->root().find("message")->text),
              StartsWith("Cross partition query only supports"));
  EXPECT_EQ(body->root().find("additionalErrorInfo")->text, plan_json(made));
}

TEST_F(GatewayPlanTest, FeaturesOfTheClient) {
  const GatewayPlan made = plan("SELECT c.g, SUM(c.a), COUNTIF(c.b) FROM c GROUP BY c.g");
  EXPECT_TRUE(
      check_features(made, "NonValueAggregate, Aggregate,GroupBy, MultipleAggregates , CountIf"));
  const Status lacking =
      check_features(made, "NonValueAggregate, Aggregate, GroupBy, MultipleAggregates");
  ASSERT_FALSE(lacking);
  EXPECT_THAT(lacking.error().message,
              testing::EndsWith("\nQuery contained CountIf, which the calling client does not "
                                "support."));
  EXPECT_TRUE(check_features(plan("SELECT * FROM c"), ""));
  EXPECT_FALSE(
      check_features(plan("SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'x')"), "OrderBy"));
}

}  // namespace
}  // namespace orrery::cosmos
