// The binder: names, aggregates, groups, counts, and what it refuses.
#include "query/bind/bind.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "query/parse/parser.h"

namespace orrery::query {
namespace {

using value::Value;

std::expected<std::shared_ptr<const BoundQuery>, SyntaxError> bind(
    std::string_view text, const Parameters& parameters = {}) {
  auto query = parse_query(text);
  if (!query) return std::unexpected(query.error());
  return bind_query(*query, parameters);
}

std::optional<QueryFault> refusal(std::string_view text) {
  auto bound = bind(text);
  if (bound) return std::nullopt;
  return bound.error().fault;
}

TEST(BindTest, TheFirstNameIsTheContainer) {
  auto bound = bind("SELECT * FROM whatever");
  ASSERT_TRUE(bound);
  ASSERT_EQ((*bound)->sources.size(), 1U);
  EXPECT_EQ((*bound)->sources[0].kind, BoundSource::Kind::document);
  EXPECT_EQ((*bound)->document_slot, (*bound)->sources[0].slot);
  EXPECT_TRUE((*bound)->streams());
}

TEST(BindTest, AQueryWithoutFromReadsNothing) {
  auto bound = bind("SELECT VALUE 1");
  ASSERT_TRUE(bound);
  EXPECT_FALSE((*bound)->document_slot);
}

TEST(BindTest, ConstantsAreComputedOnce) {
  auto bound = bind("SELECT VALUE CONCAT('a', @b) FROM c", {{"@b", Value::make_string("b")}});
  ASSERT_TRUE(bound);
  const BoundExpr& shown = (*bound)->items[0].second;
  ASSERT_TRUE(shown.is_constant());
  EXPECT_EQ(shown.constant, Value::make_string("ab"));
}

TEST(BindTest, WhatChangesFromRowToRowIsNoConstant) {
  auto bound = bind("SELECT VALUE RAND() FROM c");
  ASSERT_TRUE(bound);
  EXPECT_FALSE((*bound)->items[0].second.is_constant());
}

TEST(BindTest, QueriesThatHaveToSeeAllRows) {
  for (const char* text : {"SELECT VALUE COUNT(1) FROM c", "SELECT c.a FROM c GROUP BY c.a",
                           "SELECT DISTINCT c.a FROM c", "SELECT * FROM c ORDER BY c.a",
                           "SELECT VALUE x FROM (SELECT DISTINCT VALUE c.a FROM c) AS x",
                           "SELECT VALUE x FROM (SELECT TOP 2 VALUE c.a FROM c) AS x"}) {
    auto bound = bind(text);
    ASSERT_TRUE(bound) << text;
    EXPECT_FALSE((*bound)->streams()) << text;
  }
  auto bound = bind("SELECT VALUE x.a FROM (SELECT c.a FROM c WHERE c.b > 1) AS x");
  ASSERT_TRUE(bound);
  EXPECT_TRUE((*bound)->streams());
}

TEST(BindTest, AggregatesOfASubqueryAreItsOwn) {
  auto bound = bind("SELECT c.id, (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c");
  ASSERT_TRUE(bound);
  EXPECT_FALSE((*bound)->grouped());
}

TEST(BindTest, Refusals) {
  EXPECT_EQ(refusal("SELECT VALUE d.x FROM c"), QueryFault::unknown_name);
  EXPECT_EQ(refusal("SELECT VALUE @p FROM c"), QueryFault::unknown_name);
  EXPECT_EQ(refusal("SELECT VALUE NOSUCH(c.x) FROM c"), QueryFault::unknown_function);
  EXPECT_EQ(refusal("SELECT VALUE udf.f(c.x) FROM c"),
            QueryFault::unknown_function);  // nobody has defined it
  EXPECT_EQ(refusal("SELECT VALUE ABS(1, 2) FROM c"), QueryFault::argument_count);
  EXPECT_EQ(refusal("SELECT * FROM c GROUP BY c.x"), QueryFault::star_with_group_by);
  EXPECT_EQ(refusal("SELECT TOP 1.5 * FROM c"), QueryFault::count_not_integer);
  EXPECT_EQ(refusal("SELECT c.y FROM c GROUP BY c.x"), QueryFault::not_grouped);
}

// A group has no row of its own: what reads one would read what is gone.
TEST(BindTest, GroupsReadNoRows) {
  EXPECT_EQ(refusal("SELECT c.x, COUNT(1) FROM c"), QueryFault::not_grouped);
  EXPECT_EQ(refusal("SELECT COUNT(1), (SELECT VALUE c.x) AS x FROM c"), QueryFault::not_grouped);
  EXPECT_EQ(refusal("SELECT c.x, ARRAY(SELECT VALUE t FROM t IN c.l) AS l FROM c GROUP BY c.x"),
            QueryFault::not_grouped);
  EXPECT_TRUE(bind("SELECT COUNT(1) FROM c ORDER BY c.x"));  // one row
  EXPECT_EQ(refusal("SELECT COUNT(1) FROM c ORDER BY d.x"), QueryFault::unknown_name);
  EXPECT_EQ(refusal("SELECT c.x FROM c GROUP BY c.x ORDER BY c.y"), QueryFault::not_grouped);
  EXPECT_TRUE(bind("SELECT c.x, (SELECT VALUE 1) AS one FROM c GROUP BY c.x ORDER BY c.x"));
}

TEST(BindTest, ErrorsSayWhere) {
  auto bound = bind("SELECT *\nFROM c WHERE nope.x = 1");
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().line, 2U);
  EXPECT_EQ(bound.error().start, 22U);
}

}  // namespace
}  // namespace orrery::query
