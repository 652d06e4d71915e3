// Which index entries a filter asks for.
#include "query/plan/index_plan.h"

#include <gtest/gtest.h>

#include "query/bind/bind.h"
#include "query/parse/parser.h"

namespace orrery::query {
namespace {

std::string plan_of(const std::string& where,
                    const value::IndexPolicy& policy = value::IndexPolicy::everything(),
                    const std::string& from = "c") {
  const auto query = parse_query("SELECT VALUE 1 FROM " + from + " WHERE " + where);
  EXPECT_TRUE(query) << where;
  const auto bound = bind_query(*query, {});
  EXPECT_TRUE(bound) << where;
  Context context;
  const IndexPlan plan = plan_index_use(**bound, policy, context);
  return to_string(plan) + (plan.filter.is_exact ? "" : " +");
}

TEST(IndexPlanTest, ComparisonsWithConstants) {
  EXPECT_EQ(plan_of("c.a = 1"), "/a/? point");
  EXPECT_EQ(plan_of("1 = c.a"), "/a/? point");
  EXPECT_EQ(plan_of("c.a.b[\"d e\"] = 1"), "/a/b/\"d e\"/? point");
  EXPECT_EQ(plan_of("c.a != 1"), "/a/? range");
  EXPECT_EQ(plan_of("c.a > 1"), "/a/? range");
  EXPECT_EQ(plan_of("c.a >= 1 AND c.a < 5"), "/a/? range");
  EXPECT_EQ(plan_of("c.a > 5 AND c.a < 5"), "nothing");
  EXPECT_EQ(plan_of("c.a > 5 AND c.a < \"x\""), "nothing");
  EXPECT_EQ(plan_of("c.a = undefined"), "nothing");
  EXPECT_EQ(plan_of("c.a = [1]"), "/a/? point +");
  EXPECT_EQ(plan_of("c.a = c.b"), "none +");
  EXPECT_EQ(plan_of("c.a"), "/a/? point");
  EXPECT_EQ(plan_of("NOT c.a"), "/a/? point");
  EXPECT_EQ(plan_of("c.a IN (1, \"x\", null)"), "/a/? point");
  EXPECT_EQ(plan_of("c.a NOT IN (1, 2)"), "/a/? range");
  EXPECT_EQ(plan_of("c.a BETWEEN 1 AND 3"), "/a/? range");
  EXPECT_EQ(plan_of("c.a NOT BETWEEN 1 AND 3"), "/a/? range");
}

TEST(IndexPlanTest, Logic) {
  EXPECT_EQ(plan_of("c.a = 1 AND c.b = 2"), "/a/? point and /b/? point");
  EXPECT_EQ(plan_of("c.a = 1 OR c.b = 2"), "/a/? point or /b/? point");
  EXPECT_EQ(plan_of("c.a = 1 OR c.a = 2"), "/a/? point");
  EXPECT_EQ(plan_of("NOT (c.a = 1 OR c.b = 2)"), "/a/? range and /b/? range");
  EXPECT_EQ(plan_of("c.a = 1 AND (c.b = 2 OR c.d > 3)"),
            "/a/? point and (/b/? point or /d/? range)");
  EXPECT_EQ(plan_of("c.a = 1 AND c.b = c.d"), "/a/? point +");
  EXPECT_EQ(plan_of("c.a = 1 OR c.b = c.d"), "none +");
  EXPECT_EQ(plan_of("true"), "none");
  EXPECT_EQ(plan_of("false OR c.a = 1"), "/a/? point");
}

TEST(IndexPlanTest, Text) {
  EXPECT_EQ(plan_of("STARTSWITH(c.a, \"x\")"), "/a/? range");
  EXPECT_EQ(plan_of("NOT STARTSWITH(c.a, \"x\")"), "/a/? range");
  EXPECT_EQ(plan_of("STARTSWITH(c.a, \"x\", true)"), "/a/? scan");
  EXPECT_EQ(plan_of("STRINGEQUALS(c.a, \"x\")"), "/a/? point");
  EXPECT_EQ(plan_of("CONTAINS(c.a, \"x\")"), "/a/? scan");
  EXPECT_EQ(plan_of("NOT ENDSWITH(c.a, \"x\")"), "/a/? scan");
  EXPECT_EQ(plan_of("REGEXMATCH(c.a, \"x\")"), "/a/? scan");
  EXPECT_EQ(plan_of("c.a LIKE \"x%\""), "/a/? range");
  EXPECT_EQ(plan_of("c.a LIKE \"x\""), "/a/? point");
  EXPECT_EQ(plan_of("c.a LIKE \"x%y\""), "/a/? scan");
  EXPECT_EQ(plan_of("c.a NOT LIKE \"x%y\""), "/a/? scan");
  EXPECT_EQ(plan_of("LOWER(c.a) = \"x\""), "/a/? scan");
  EXPECT_EQ(plan_of("STARTSWITH(c.a, \"x\") AND CONTAINS(c.a, \"y\")"), "/a/? scan");
}

TEST(IndexPlanTest, Types) {
  EXPECT_EQ(plan_of("IS_DEFINED(c.a)"), "/a/? range");
  EXPECT_EQ(plan_of("NOT IS_DEFINED(c.a)"), "/a/? missing");
  EXPECT_EQ(plan_of("IS_NULL(c.a)"), "/a/? point");
  EXPECT_EQ(plan_of("NOT IS_NULL(c.a)"), "/a/? range or /a/? missing");
  EXPECT_EQ(plan_of("IS_PRIMITIVE(c.a)"), "/a/? range");
  EXPECT_EQ(plan_of("IS_INTEGER(c.a)"), "/a/? scan");
  EXPECT_EQ(plan_of("(c.a ?? 1) = 1"), "/a/? scan or /a/? missing");
}

TEST(IndexPlanTest, Elements) {
  EXPECT_EQ(plan_of("ARRAY_CONTAINS(c.a, 1)"), "/a/[]/? point");
  EXPECT_EQ(plan_of("ARRAY_CONTAINS(c.a, 1) AND ARRAY_CONTAINS(c.a, 2)"),
            "/a/[]/? point and /a/[]/? point");
  EXPECT_EQ(plan_of("NOT ARRAY_CONTAINS(c.a, 1)"), "none +");
  EXPECT_EQ(plan_of("ARRAY_CONTAINS(c.a, {\"b\": 1}, true)"), "/a/[]/b/? point +");
  EXPECT_EQ(plan_of("ARRAY_CONTAINS([1, 2], c.a)"), "/a/? point");
  EXPECT_EQ(plan_of("c.a[0] = 1"), "/a/[]/? point +");
  EXPECT_EQ(plan_of("c.a[0] = 1 AND c.a[1] = 2"), "/a/[]/? point and /a/[]/? point +");
  EXPECT_EQ(plan_of("EXISTS(SELECT VALUE e FROM e IN c.a WHERE e.b = 1)"), "/a/[]/b/? point");
  EXPECT_EQ(plan_of("EXISTS(SELECT VALUE e FROM e IN c.a WHERE e.b = 1 AND e.d = 2)"),
            "/a/[]/b/? point and /a/[]/d/? point +");
  EXPECT_EQ(plan_of("EXISTS(SELECT VALUE e FROM e IN c.a WHERE e > 1 AND e < 3)"), "/a/[]/? range");
  EXPECT_EQ(plan_of("EXISTS(SELECT VALUE e FROM e IN c.a)"), "/a/[]/? range");
  EXPECT_EQ(plan_of("NOT EXISTS(SELECT VALUE e FROM e IN c.a)"), "none +");
  const auto all = value::IndexPolicy::everything();
  EXPECT_EQ(plan_of("e.b = 1", all, "c JOIN e IN c.a"), "/a/[]/b/? point +");
  EXPECT_EQ(plan_of("e.b != 1 AND c.x = 1", all, "c JOIN e IN c.a"),
            "/a/[]/b/? range and /x/? point +");
  EXPECT_EQ(plan_of("e.b = 1", all, "e IN c.a"), "/a/[]/b/? point +");
  EXPECT_EQ(plan_of("x = 1", all, "c JOIN (SELECT VALUE e FROM e IN c.a WHERE e != 3) x"),
            "/a/[]/? range and /a/[]/? point +");
}

TEST(IndexPlanTest, Shapes) {
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.spatial.push_back(value::parse_index_path("/at/*").value());
  const value::IndexPolicy policy(definition);
  const std::string here = "{\"type\": \"Point\", \"coordinates\": [8.5, 47.3]}";
  EXPECT_EQ(plan_of("ST_DISTANCE(c.at, " + here + ") < 1000", policy), "/at/? cells +");
  EXPECT_EQ(plan_of("1000 >= ST_DISTANCE(" + here + ", c.at)", policy), "/at/? cells +");
  EXPECT_EQ(plan_of("NOT (ST_DISTANCE(c.at, " + here + ") > 1000)", policy), "/at/? cells +");
  EXPECT_EQ(plan_of("ST_INTERSECTS(c.at, " + here + ") AND c.a = 1", policy),
            "/at/? cells and /a/? point +");
  EXPECT_EQ(plan_of("ST_WITHIN(c.at, " + here + ") AND ST_WITHIN(c.at, " + here + ")", policy),
            "/at/? cells and /at/? cells +");
  EXPECT_EQ(plan_of("ST_DISTANCE(c.other, " + here + ") < 1000", policy), "none +");
  EXPECT_EQ(plan_of("ST_WITHIN(c.at, {\"type\": \"Nothing\"})", policy), "nothing");
}

std::string order_of(const std::string& rest) {
  value::IndexDefinition definition;  // of nothing but composites
  const auto path = [](const char* text) { return value::parse_property_path(text).value(); };
  definition.composites = {{{{path("/a"), false}, {path("/b"), true}}},
                           {{{path("/a"), false}, {path("/d"), false}, {path("/b"), true}}}};
  const auto bound = bind_query(parse_query("SELECT * FROM c " + rest).value(), {}).value();
  Context context;
  return to_string(plan_index_use(*bound, value::IndexPolicy(definition), context));
}

TEST(IndexPlanTest, OrdersOfComposites) {
  const std::string two = "none by (/a ASC, /b DESC)";
  const std::string three = "none by (/a ASC, /d ASC, /b DESC)";
  EXPECT_EQ(order_of("ORDER BY c.a, c.b DESC"), two);
  EXPECT_EQ(order_of("ORDER BY c.a DESC, c.b"), two);
  EXPECT_EQ(order_of("ORDER BY c.a, c.b"), "none");
  EXPECT_EQ(order_of("ORDER BY c.b DESC, c.a"), "none");
  EXPECT_EQ(order_of("ORDER BY c.a"), "none");
  EXPECT_EQ(order_of("ORDER BY c.b"), "none");
  EXPECT_EQ(order_of("WHERE c.a = 1 ORDER BY c.b"), two);
  EXPECT_EQ(order_of("WHERE c.a = 1 ORDER BY c.a, c.b DESC"), two);
  EXPECT_EQ(order_of("WHERE c.a > 1 ORDER BY c.b"), "none");
  EXPECT_EQ(order_of("WHERE c.a = 1 OR c.x = 1 ORDER BY c.b"), "none");
  EXPECT_EQ(order_of("WHERE c.a = [1] ORDER BY c.b"), "none");
  EXPECT_EQ(order_of("WHERE c.x > 1 AND 'u' = c.d AND c.a = null ORDER BY c.b"), three);
  EXPECT_EQ(order_of("WHERE c.a = 1 ORDER BY c.d, c.b DESC"), three);
  EXPECT_EQ(order_of("ORDER BY c.a, c.d"), "none");
}

TEST(IndexPlanTest, PathsWithoutEntriesAreNotUsed) {
  const value::IndexPolicy policy(
      {.rules = {{value::parse_index_path("/a/*").value(), true}}, .always = {}});
  EXPECT_EQ(plan_of("c.a = 1 AND c.b = 1", policy), "/a/? point +");
  EXPECT_EQ(plan_of("c.b = 1", policy), "none +");
  EXPECT_EQ(plan_of("NOT IS_DEFINED(c.b)", policy), "none +");
}

}  // namespace
}  // namespace orrery::query
