// Query plans: what is rewritten, what is refused.
#include "api/cosmos/query/gateway_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/cosmos/query/gateway_plan_test.h"

namespace orrery::cosmos {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

TEST_F(GatewayPlanTest, APlainQueryStaysAsItIs) {
  const QueryInfo info = this->info("SELECT c.id FROM c WHERE c.age > 3");
  EXPECT_EQ(info.rewritten_query, "");
  EXPECT_EQ(info.distinct, DistinctType::none);
  EXPECT_FALSE(info.top || info.offset || info.limit);
  EXPECT_FALSE(info.has_select_value);
}

TEST_F(GatewayPlanTest, SelectValueIsSaid) {
  EXPECT_TRUE(info("SELECT VALUE c.id FROM c").has_select_value);
}

TEST_F(GatewayPlanTest, RangesComeFromTheKey) {
  EXPECT_TRUE(plan("SELECT * FROM c").ranges.at(0).is_everything());
  EXPECT_TRUE(plan("SELECT * FROM c WHERE c.pk = 1").ranges.at(0).is_point());
  EXPECT_THAT(plan("SELECT * FROM c WHERE c.pk = 1 AND c.pk = 2").ranges, IsEmpty());
}

// ORDER BY

TEST_F(GatewayPlanTest, OrderByShowsWhatItSortsBy) {
  const QueryInfo info = this->info("SELECT * FROM c ORDER BY c.age DESC");
  EXPECT_THAT(info.order_by, ElementsAre(SortOrder::descending));
  EXPECT_THAT(info.order_by_expressions, ElementsAre("c.age"));
  EXPECT_FALSE(info.has_non_streaming_order_by);
  EXPECT_EQ(info.rewritten_query,
            "SELECT c._rid, [{\"item\": c.age}] AS orderByItems, c AS payload\n"
            "FROM c\n"
            "WHERE ({documentdb-formattableorderbyquery-filter})\n"
            "ORDER BY c.age DESC");
}

TEST_F(GatewayPlanTest, OrderByKeepsTheFilterAndTheAlias) {
  EXPECT_EQ(rewritten("SELECT p.name, p.price AS cost, 1 FROM products p WHERE p.sold = true OR "
                      "p.old ORDER BY p.price, p.name ASC"),
            "SELECT p._rid, [{\"item\": p.price}, {\"item\": p.name}] AS orderByItems, "
            "{\"name\": p.name, \"cost\": p.price, \"$1\": 1} AS payload\n"
            "FROM products AS p\n"
            "WHERE (((p.sold = true) OR p.old) AND ({documentdb-formattableorderbyquery-filter}))\n"
            "ORDER BY p.price, p.name ASC");
}

TEST_F(GatewayPlanTest, OrderByOfAValueLeavesOutRowsWithoutOne) {
  EXPECT_THAT(rewritten("SELECT VALUE c.a FROM c ORDER BY c.b"),
              HasSubstr("c.a AS payload\nFROM c\nWHERE (({documentdb-formattableorderbyquery-"
                        "filter}) AND IS_DEFINED(c.a))"));
}

TEST_F(GatewayPlanTest, OrderByKeepsTop) {
  const QueryInfo info = this->info("SELECT TOP 3 * FROM c ORDER BY c.a");
  EXPECT_EQ(info.top, 3);
  EXPECT_THAT(info.rewritten_query, StartsWith("SELECT TOP 3 c._rid"));
}

TEST_F(GatewayPlanTest, OrderByGivesTheRowsThatAreSkippedToo) {
  const QueryInfo info = this->info("SELECT * FROM c ORDER BY c.a OFFSET 20 LIMIT 10");
  EXPECT_EQ(info.offset, 20);
  EXPECT_EQ(info.limit, 10);
  EXPECT_THAT(info.rewritten_query, testing::EndsWith("ORDER BY c.a\nOFFSET 0 LIMIT 30"));
}

TEST_F(GatewayPlanTest, OrderByNeedsPaths) {
  EXPECT_EQ(refusal("SELECT * FROM c ORDER BY LOWER(c.a)"),
            "{\"errors\":[{\"severity\":\"Error\",\"code\":2206,\"message\":\"Unsupported ORDER BY "
            "clause. ORDER BY item expression could not be mapped to a document path.\"}]}");
  EXPECT_EQ(info("SELECT * FROM c ORDER BY c['a b'].c[0]").order_by_expressions.at(0),
            "c[\"a b\"].c[0]");
}

TEST_F(GatewayPlanTest, DistancesSortTheNearestFirst) {
  const std::string query = "SELECT TOP 5 c.id FROM c ORDER BY VectorDistance(c.v, [1, 2])";
  EXPECT_THAT(info(query).order_by, ElementsAre(SortOrder::descending));
  EXPECT_TRUE(info(query).has_non_streaming_order_by);
  context_.vectors = {{*value::parse_property_path("/v"), query::VectorMetric::euclidean}};
  EXPECT_THAT(info(query).order_by, ElementsAre(SortOrder::ascending));
  context_.vectors[0].metric = query::VectorMetric::dot_product;
  EXPECT_THAT(info(query).order_by, ElementsAre(SortOrder::descending));
  EXPECT_THAT(info("SELECT c.id FROM c ORDER BY VectorDistance(c.v, [1], false, "
                   "{'distanceFunction': 'euclidean'})")
                  .order_by,
              ElementsAre(SortOrder::ascending));
}

// TOP, OFFSET and LIMIT

TEST_F(GatewayPlanTest, TopAlone) {
  EXPECT_EQ(info("SELECT TOP 7 * FROM c").top, 7);
  EXPECT_EQ(rewritten("SELECT TOP 7 * FROM c"), "");
  EXPECT_FALSE(info("SELECT TOP 7 1").top);
}

TEST_F(GatewayPlanTest, OffsetOverPartitions) {
  const QueryInfo info = this->info("SELECT c.id FROM c WHERE c.a = 1 OFFSET 5 LIMIT 2");
  EXPECT_EQ(info.offset, 5);
  EXPECT_EQ(info.limit, 2);
  EXPECT_EQ(info.rewritten_query, "SELECT c.id\nFROM c\nWHERE (c.a = 1)\nOFFSET 0 LIMIT 7");
}

TEST_F(GatewayPlanTest, OffsetWithinOneKeyIsThePartitionsOwn) {
  const QueryInfo info = this->info("SELECT c.id FROM c WHERE c.pk = 1 OFFSET 5 LIMIT 2");
  EXPECT_FALSE(info.offset || info.limit);
  EXPECT_EQ(info.rewritten_query, "");
}

TEST_F(GatewayPlanTest, CountsFromParameters) {
  parameters_["@skip"] = value::Value::make_number(4);
  parameters_["@take"] = value::Value::make_number(6);
  EXPECT_EQ(rewritten("SELECT * FROM c OFFSET @skip LIMIT @take"),
            "SELECT *\nFROM c\nOFFSET 0 LIMIT 10");
  EXPECT_EQ(info("SELECT TOP @take * FROM c").top, 6);
  parameters_["@take"] = value::Value::make_number(1.5);
  EXPECT_EQ(refusal("SELECT TOP @take * FROM c"),
            "{\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":11,\"end\":16},\"code\":"
            "\"SC2060\",\"message\":\"The count value provided for a TOP clause must be an "
            "integer.\"}]}");
  parameters_["@take"] = value::Value::make_number(4'294'967'296.0);
  EXPECT_THAT(refusal("SELECT * FROM c OFFSET 0 LIMIT @take"), HasSubstr("SC2061"));
  EXPECT_THAT(refusal("SELECT * FROM c OFFSET @take LIMIT 0"), HasSubstr("SC2062"));
  EXPECT_THAT(refusal("SELECT TOP @unknown * FROM c"), HasSubstr("SC2060"));
}

// DISTINCT

TEST_F(GatewayPlanTest, DistinctIsUnorderedUnlessSorted) {
  EXPECT_EQ(info("SELECT DISTINCT c.a FROM c").distinct, DistinctType::unordered);
  EXPECT_EQ(rewritten("SELECT DISTINCT c.a FROM c"), "");
  EXPECT_EQ(info("SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a").distinct, DistinctType::ordered);
  EXPECT_EQ(info("SELECT DISTINCT c.a, c.b FROM c ORDER BY c.b, c.a, c.x").distinct,
            DistinctType::ordered);
  EXPECT_EQ(info("SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a").distinct, DistinctType::unordered);
  EXPECT_EQ(info("SELECT DISTINCT c.a FROM c ORDER BY c.x, c.a").distinct, DistinctType::unordered);
  EXPECT_EQ(info("SELECT DISTINCT * FROM c ORDER BY c.a").distinct, DistinctType::unordered);
}

TEST_F(GatewayPlanTest, DistinctRowsAreCountedAfterMerging) {
  EXPECT_EQ(rewritten("SELECT DISTINCT TOP 5 VALUE c.a FROM c"),
            "SELECT DISTINCT VALUE c.a\nFROM c");
  const QueryInfo info = this->info("SELECT DISTINCT c.a FROM c WHERE c.pk = 1 OFFSET 1 LIMIT 2");
  EXPECT_EQ(info.offset, 1);
  EXPECT_EQ(info.rewritten_query, "SELECT DISTINCT c.a\nFROM c\nWHERE (c.pk = 1)");
  EXPECT_THAT(rewritten("SELECT DISTINCT TOP 5 VALUE c.a FROM c ORDER BY c.a"),
              StartsWith("SELECT c._rid"));
}

TEST_F(GatewayPlanTest, CountOfDistinctRows) {
  const QueryInfo info =
      this->info("SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.a FROM c WHERE c.b > 2)");
  EXPECT_EQ(info.distinct_count_alias, "n");
  EXPECT_EQ(info.distinct, DistinctType::unordered);
  EXPECT_THAT(info.aggregates, IsEmpty());
  EXPECT_EQ(info.rewritten_query, "SELECT DISTINCT c.a\nFROM c\nWHERE (c.b > 2)");
  EXPECT_EQ(this->info("SELECT VALUE COUNT(d) FROM (SELECT DISTINCT c.a FROM c) AS d")
                .distinct_count_alias,
            "");
  EXPECT_FALSE(
      this->info("SELECT VALUE COUNT(1) FROM (SELECT c.a FROM c) AS d").distinct_count_alias);
}

// Aggregates and GROUP BY

TEST_F(GatewayPlanTest, AggregatesOfAValue) {
  const QueryInfo info = this->info("SELECT VALUE COUNT(1) FROM c WHERE c.a = 1");
  EXPECT_THAT(info.aggregates, ElementsAre(query::Aggregate::count));
  EXPECT_THAT(info.group_by_aliases, IsEmpty());
  EXPECT_EQ(info.rewritten_query, "SELECT VALUE [{\"item\": COUNT(1)}]\nFROM c\nWHERE (c.a = 1)");
}

TEST_F(GatewayPlanTest, AveragesTravelAsSumAndCount) {
  EXPECT_EQ(rewritten("SELECT VALUE avg(c.a) FROM c"),
            "SELECT VALUE [{\"item\": {\"sum\": SUM(c.a), \"count\": COUNT(c.a)}}]\nFROM c");
}

TEST_F(GatewayPlanTest, ExtremesTravelWithTheirCount) {
  EXPECT_EQ(rewritten("SELECT VALUE MAX(c.a) FROM c"),
            "SELECT VALUE [{\"item\": MAX(c.a), \"item2\": {\"max\": MAX(c.a), \"count\": "
            "COUNT(c.a)}}]\nFROM c");
}

TEST_F(GatewayPlanTest, AggregatesInAList) {
  const QueryInfo info = this->info("SELECT MAKESET(c.a), COUNTIF(c.b) AS n, 5 FROM c");
  EXPECT_THAT(info.group_by_aliases, ElementsAre("$1", "n", "$2"));
  EXPECT_THAT(info.group_by_aggregates,
              ElementsAre(Pair("$1", query::Aggregate::make_set),
                          Pair("n", query::Aggregate::count_if), Pair("$2", std::nullopt)));
  EXPECT_THAT(info.aggregates, IsEmpty());
  EXPECT_EQ(info.rewritten_query,
            "SELECT {\"$1\": {\"item\": MAKESET(c.a)}, \"n\": {\"item\": COUNTIF(c.b)}, \"$2\": 5} "
            "AS payload\nFROM c");
}

TEST_F(GatewayPlanTest, GroupBy) {
  const QueryInfo info =
      this->info("SELECT TOP 3 c.team, SUM(c.points) AS points FROM c GROUP BY c.team, UPPER(c.x)");
  EXPECT_EQ(info.top, 3);
  EXPECT_THAT(info.group_by_expressions, ElementsAre("c.team", "UPPER(c.x)"));
  EXPECT_THAT(info.group_by_aliases, ElementsAre("team", "points"));
  EXPECT_EQ(info.rewritten_query,
            "SELECT [{\"item\": c.team}, {\"item\": UPPER(c.x)}] AS groupByItems, {\"team\": "
            "c.team, \"points\": {\"item\": SUM(c.points)}} AS payload\n"
            "FROM c\nGROUP BY c.team, UPPER(c.x)");
}

TEST_F(GatewayPlanTest, GroupByOfAValue) {
  EXPECT_EQ(rewritten("SELECT VALUE c.team FROM c GROUP BY c.team OFFSET 1 LIMIT 1"),
            "SELECT [{\"item\": c.team}] AS groupByItems, c.team AS payload\nFROM c\nGROUP BY "
            "c.team");
}

TEST_F(GatewayPlanTest, AggregatesInsideSubqueriesAreTheirOwn) {
  const QueryInfo info =
      this->info("SELECT c.id, (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c");
  EXPECT_EQ(info.rewritten_query, "");
  EXPECT_THAT(info.group_by_aliases, IsEmpty());
}

TEST_F(GatewayPlanTest, CompositionsOfAggregatesCannotBeMerged) {
  for (const char* query :
       {"SELECT VALUE FLOOR(AVG(c.a)) FROM c", "SELECT SUM(c.a) / 2 FROM c",
        "SELECT VALUE {'n': COUNT(1)} FROM c", "SELECT c.a, ABS(MIN(c.b)) FROM c GROUP BY c.a"}) {
    EXPECT_EQ(refusal(query),
              "{\"Errors\":[\"Compositions of aggregates and other expressions are not "
              "allowed.\"]}")
        << query;
  }
}

TEST_F(GatewayPlanTest, AggregatesOfAggregates) {
  EXPECT_EQ(refusal("SELECT VALUE MAX(MIN(c.a)) FROM c"),
            "{\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":13,\"end\":26},\"code\":"
            "\"SC2101\",\"message\":\"Cannot perform an aggregate function on an expression "
            "containing an aggregate or a subquery.\"}]}");
}

TEST_F(GatewayPlanTest, AllUngroupedPropertiesAreNamed) {
  const std::string message = refusal("SELECT c.a, c.b.x, COUNT(1) FROM c GROUP BY c.g");
  EXPECT_THAT(message, HasSubstr("\"location\":{\"start\":7,\"end\":10},\"code\":\"SC2102\""));
  EXPECT_THAT(message, HasSubstr("Property reference 'c.a' is invalid"));
  EXPECT_THAT(message, HasSubstr("Property reference 'c.b.x' is invalid"));
  EXPECT_THAT(refusal("SELECT c.a, COUNT(1) FROM c"), HasSubstr("SC2102"));
  EXPECT_TRUE(try_plan("SELECT c.b.x, UPPER(c.b.y), COUNT(1) FROM c GROUP BY c.b"));
}

TEST_F(GatewayPlanTest, GroupsAreNotSorted) {
  EXPECT_THAT(refusal("SELECT c.a FROM c GROUP BY c.a ORDER BY c.a"), HasSubstr("GROUP BY"));
}

// Names and functions

TEST_F(GatewayPlanTest, UnknownNames) {
  EXPECT_EQ(refusal("SELECT d.a FROM c"),
            "{\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":7,\"end\":8},\"code\":"
            "\"SC2001\",\"message\":\"Identifier 'd' could not be resolved.\"}]}");
  EXPECT_THAT(refusal("SELECT c.a FROM root r WHERE r.b"), HasSubstr("SC2001"));
  EXPECT_THAT(refusal("SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 FROM t IN c.x WHERE u = 1)"),
              HasSubstr("'u'"));
  EXPECT_THAT(refusal("SELECT t FROM c JOIN t IN d.tags"), HasSubstr("'d'"));
  EXPECT_THAT(refusal("SELECT t.x, (SELECT VALUE s FROM s IN c.x) FROM c"), HasSubstr("'t'"));
}

TEST_F(GatewayPlanTest, KnownNames) {
  for (const char* query : {"SELECT a.b FROM c.a", "SELECT t.b, c.id FROM c JOIN t IN c.tags",
                            "SELECT VALUE t FROM t IN c.tags",
                            "SELECT s, c.x FROM c JOIN (SELECT VALUE t FROM t IN c.tags) s",
                            "SELECT * FROM c WHERE ARRAY(SELECT VALUE t.x FROM t IN c.t) = c.y",
                            "SELECT udf.any(c.x) FROM c"}) {
    EXPECT_TRUE(try_plan(query)) << query;
  }
}

TEST_F(GatewayPlanTest, Functions) {
  EXPECT_EQ(refusal("SELECT NOPE(c.a) FROM c"),
            "{\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":7,\"end\":11},\"code\":"
            "\"SC2005\",\"message\":\"'NOPE' is not a recognized built-in function name.\"}]}");
  EXPECT_THAT(refusal("SELECT VALUE ABS(1, 2) FROM c"),
              HasSubstr("\"location\":{\"start\":13,\"end\":22},\"code\":\"SC2050\""));
  EXPECT_THAT(refusal("SELECT VALUE COUNT() FROM c"), HasSubstr("SC2050"));
}

TEST_F(GatewayPlanTest, Stars) {
  EXPECT_THAT(refusal("SELECT * FROM c JOIN t IN c.tags"),
              HasSubstr("'SELECT *' is only valid with a single input set."));
  EXPECT_THAT(refusal("SELECT *"), HasSubstr("'SELECT *' is not valid if FROM clause is omitted."));
  EXPECT_THAT(refusal("SELECT * FROM c GROUP BY c.a"),
              HasSubstr("\"SC2041\",\"message\":\"'SELECT *' is not allowed with GROUP BY.\""));
}

TEST_F(GatewayPlanTest, AggregatesStandInTheSelectList) {
  EXPECT_THAT(refusal("SELECT c.a FROM c WHERE COUNT(1) > 2"), HasSubstr("WHERE"));
}

// Clients send the rewritten text back with the placeholders filled in.
TEST_F(GatewayPlanTest, RewrittenQueriesCanBeParsed) {
  const auto fill = [](std::string text) {
    for (size_t at = text.find("{documentdb-"); at != std::string::npos;
         at = text.find("{documentdb-")) {
      text.replace(at, text.find('}', at) + 1 - at, "1");
    }
    return text;
  };
  for (const char* query :
       {"SELECT c['a b'], \"x\\\"y\" FROM c WHERE c.z LIKE 'q%' ORDER BY c['order'] DESC",
        "SELECT VALUE {'n': c.n} FROM root AS c WHERE NOT c.x ORDER BY c.a OFFSET 1 LIMIT 2",
        "SELECT c.g, AVG(c.a + 1), MIN(c['x y']) AS m FROM c GROUP BY c.g",
        "SELECT VALUE COUNT(1) FROM c JOIN (SELECT VALUE t FROM t IN c.t WHERE t > 1) s",
        "SELECT DISTINCT TOP 3 c.a FROM c"}) {
    EXPECT_TRUE(query::parse_query(fill(rewritten(query)))) << rewritten(query);
  }
  const auto hybrid = plan(
                          "SELECT TOP 9 c.a FROM c ORDER BY RANK RRF(FullTextScore(c.a, 'x'), "
                          "VectorDistance(c.v, [0.5]))")
                          .hybrid;
  EXPECT_TRUE(query::parse_query(hybrid->statistics_query));
  for (const QueryInfo& component : hybrid->components) {
    EXPECT_TRUE(query::parse_query(fill(component.rewritten_query))) << component.rewritten_query;
  }
}

}  // namespace
}  // namespace orrery::cosmos
