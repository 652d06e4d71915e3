// What parses, and to which tree: each text with its normalised form, which shows the tree.
#include "query/parse/parser.h"

#include <gtest/gtest.h>

#include "query/parse/printer.h"

namespace orrery::query {
namespace {

struct Case {
  std::string_view text;
  std::string_view printed;
};

void check_expression(const Case& c) {
  const auto expr = parse_expression(c.text);
  ASSERT_TRUE(expr) << c.text << ": " << expr.error().message;
  EXPECT_EQ(to_text(**expr), c.printed) << c.text;
}

void check_query(const Case& c) {
  const auto query = parse_query(c.text);
  ASSERT_TRUE(query) << c.text << ": " << query.error().message;
  EXPECT_EQ(to_text(*query), c.printed) << c.text;
}

TEST(Parser, Literals) {
  for (const Case& c : std::initializer_list<Case>{
           {"null", "null"},
           {"NULL", "null"},
           {"true", "true"},
           {"False", "false"},
           {"undefined", "undefined"},
           {"12", "12"},
           {"-12", "-12"},
           {"+12", "12"},
           {"- 12", "(- 12)"},
           {"1e3", "1000"},
           {"0x10", "16"},
           {".25", "0.25"},
           {"NaN", "NaN"},
           {"Infinity", "Infinity"},
           {"-Infinity", "-Infinity"},
           {"1e400", "Infinity"},
           {"'single'", "\"single\""},
           {R"('it\'s "so"')", R"("it's \"so\"")"},
           {R"("tab\tline\nend")", R"("tab\tline\nend")"},
           {R"('\u00e9')", "\"é\""},
       }) {
    check_expression(c);
  }
}

TEST(Parser, NamesPathsAndSubscripts) {
  for (const Case& c : std::initializer_list<Case>{
           {"c", "c"},
           {"c.a.b", "c.a.b"},
           {"c . a", "c.a"},
           {"c['a b']", "c[\"a b\"]"},
           {"c[\"a\"].b", "c[\"a\"].b"},
           {"c[('a')]", "c[\"a\"]"},
           {"c[0]", "c[0]"},
           {"c[-1]", "c[-1]"},
           {"c[i + 1][j]", "c[(i + 1)][j]"},
           {"c[@p]", "c[@p]"},
           {"@p", "@p"},
           {"@p.a[1]", "@p.a[1]"},
           {"@1", "@1"},
           {"{a: 1}.a", "{\"a\": 1}.a"},
           {"[1, 2][0]", "[1, 2][0]"},
           {"'abc'[0]", "\"abc\"[0]"},
           {"(2).x", "(2).x"},
           {"-2[0]", "(-2)[0]"},
           {"f(x).y", "f(x).y"},
           {"(a + b).c", "(a + b).c"},
           {"c._at", "c._at"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, KeywordsThatMayBeNames) {
  for (const Case& c : std::initializer_list<Case>{
           {"c.all", "c.all"},
           {"c.First", "c.First"},
           {"c.last.array", "c.last.array"},
           {"c.rank", "c.rank"},
           {"c.offset + c.limit", "(c.offset + c.limit)"},
           {"c.exists", "c.exists"},
           {"c.escape", "c.escape"},
           {"c.udf", "c.udf"},
           {"udf.x", "udf.x"},
           {"left(s, 1)", "left(s, 1)"},
           {"RIGHT(s, 1)", "RIGHT(s, 1)"},
           {"all(1, 2)", "all(1, 2)"},
           {"{order: 1, 'value': 2, select: 3}", "{\"order\": 1, \"value\": 2, \"select\": 3}"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, CallsAndConstructors) {
  for (const Case& c : std::initializer_list<Case>{
           {"PI()", "PI()"},
           {"Abs ( -1 )", "Abs(-1)"},
           {"f(1, g(2), [3])", "f(1, g(2), [3])"},
           {"udf.tax(c.price)", "udf.tax(c.price)"},
           {"UDF.tax()", "udf.tax()"},
           {"[]", "[]"},
           {"[1, [2], {}]", "[1, [2], {}]"},
           {"{}", "{}"},
           {"{\"a\": 1, b : 'x'}", "{\"a\": 1, \"b\": \"x\"}"},
           {"{'a \"b\"': c}", "{\"a \\\"b\\\"\": c}"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, EveryLevelBindsTighterThanTheOneBefore) {
  // Loosest first. Written as `a LOOSE b TIGHT c` and `a TIGHT b LOOSE c`, the tight pair must
  // come out in its own parentheses.
  const std::vector<std::vector<std::string>> levels = {{"??"},
                                                        {"OR"},
                                                        {"AND"},
                                                        {"||"},
                                                        {"|"},
                                                        {"^"},
                                                        {"&"},
                                                        {"=", "!="},
                                                        {"<", "<=", ">", ">="},
                                                        {"<<", ">>", ">>>"},
                                                        {"+", "-"},
                                                        {"*", "/", "%"}};
  for (size_t loose = 0; loose < levels.size(); ++loose) {
    for (size_t tight = loose + 1; tight < levels.size(); ++tight) {
      for (const auto& l : levels[loose]) {
        for (const auto& t : levels[tight]) {
          const std::string first = "a " + l + " b " + t + " c";
          const std::string first_printed = "(a " + l + " (b " + t + " c))";
          check_expression({first, first_printed});
          const std::string second = "a " + t + " b " + l + " c";
          const std::string second_printed = "((a " + t + " b) " + l + " c)";
          check_expression({second, second_printed});
        }
      }
    }
  }
}

TEST(Parser, EqualLevelsGoFromLeftToRight) {
  for (const Case& c : std::initializer_list<Case>{
           {"a - b + c - d", "(((a - b) + c) - d)"},
           {"a / b * c % d", "(((a / b) * c) % d)"},
           {"a < b >= c", "((a < b) >= c)"},
           {"a = b <> c", "((a = b) != c)"},
           {"a << b >>> c >> d", "(((a << b) >>> c) >> d)"},
           {"a || b || c", "((a || b) || c)"},
           {"a ?? b ?? c", "((a ?? b) ?? c)"},
           {"a AND b AND c", "((a AND b) AND c)"},
           {"a or b or c or d", "(((a OR b) OR c) OR d)"},
           {"a AND (b AND c)", "(a AND (b AND c))"},
           {"a - (b - c)", "(a - (b - c))"},
           {"(((a)))", "a"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, UnaryOperatorsBindTightest) {
  for (const Case& c : std::initializer_list<Case>{
           {"NOT a", "(NOT a)"},
           {"NOT a.b[0]", "(NOT a.b[0])"},
           {"NOT a = b", "((NOT a) = b)"},
           {"NOT a AND b", "((NOT a) AND b)"},
           {"not (a and b)", "(NOT (a AND b))"},
           {"NOT NOT a", "(NOT (NOT a))"},
           {"~a & b", "((~ a) & b)"},
           {"-a * b", "((- a) * b)"},
           {"- -1", "(- -1)"},
           {"+a", "(+ a)"},
           {"a-1", "(a - 1)"},
           {"a -1", "(a - 1)"},
           {"a - -1", "(a - -1)"},
           {"1-2", "(1 - 2)"},
           {"NOT -1", "(NOT -1)"},
           {"~-x", "(~ (- x))"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, Predicates) {
  for (const Case& c : std::initializer_list<Case>{
           {"a IN (1)", "(a IN (1))"},
           {"a in(1, 'b', c.d)", "(a IN (1, \"b\", c.d))"},
           {"a NOT IN (1, 2)", "(a NOT IN (1, 2))"},
           {"a + 1 IN (2)", "((a + 1) IN (2))"},
           {"a = b IN (true)", "((a = b) IN (true))"},
           {"a IN (x ? 1 : 2, b OR c)", "(a IN ((x ? 1 : 2), (b OR c)))"},
           {"a BETWEEN 1 AND 2", "(a BETWEEN 1 AND 2)"},
           {"a NOT BETWEEN 1 AND 2", "(a NOT BETWEEN 1 AND 2)"},
           {"a BETWEEN 1 AND 2 AND b", "((a BETWEEN 1 AND 2) AND b)"},
           {"x OR a BETWEEN 1 + 1 AND 2 * 3", "(x OR (a BETWEEN (1 + 1) AND (2 * 3)))"},
           {"a BETWEEN (b AND c) AND d", "(a BETWEEN (b AND c) AND d)"},
           {"a LIKE 'x%'", "(a LIKE \"x%\")"},
           {"a NOT LIKE @p", "(a NOT LIKE @p)"},
           {"a LIKE '%!%' ESCAPE '!'", "(a LIKE \"%!%\" ESCAPE \"!\")"},
           {"a LIKE b || '%' AND c", "((a LIKE (b || \"%\")) AND c)"},
           {"NOT a IN (1)", "((NOT a) IN (1))"},
           {"(a IN (1)) = true", "((a IN (1)) = true)"},
           {"a IN (1) ?? b", "((a IN (1)) ?? b)"},
           {"a IN (1) ? b : c", "((a IN (1)) ? b : c)"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, Conditionals) {
  for (const Case& c : std::initializer_list<Case>{
           {"a ? b : c", "(a ? b : c)"},
           {"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
           {"a ? b ? c : d : e", "(a ? (b ? c : d) : e)"},
           {"a ?? b ? c : d ?? e", "((a ?? b) ? c : (d ?? e))"},
           {"a OR b ? c AND d : e", "((a OR b) ? (c AND d) : e)"},
           {"(a ? b : c) + 1", "((a ? b : c) + 1)"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, Subqueries) {
  for (const Case& c : std::initializer_list<Case>{
           {"(SELECT VALUE 1)", "(SELECT VALUE 1)"},
           {"1 + (select value 1)", "(1 + (SELECT VALUE 1))"},
           {"exists (SELECT * FROM c)", "EXISTS(SELECT * FROM c)"},
           {"NOT EXISTS(SELECT * FROM c)", "(NOT EXISTS(SELECT * FROM c))"},
           {"array(SELECT VALUE t FROM t IN c.t)", "ARRAY(SELECT VALUE t FROM t IN c.t)"},
           {"ARRAY(SELECT * FROM c)[0].a", "ARRAY(SELECT * FROM c)[0].a"},
           {"all(SELECT VALUE 1)", "ALL(SELECT VALUE 1)"},
           {"first(SELECT VALUE 1)", "FIRST(SELECT VALUE 1)"},
           {"last(SELECT VALUE 1)", "LAST(SELECT VALUE 1)"},
           {"f((SELECT VALUE 1), 2)", "f((SELECT VALUE 1), 2)"},
           {"a IN ((SELECT VALUE 1))", "(a IN ((SELECT VALUE 1)))"},
       }) {
    check_expression(c);
  }
}

TEST(Parser, SelectClause) {
  for (const Case& c : std::initializer_list<Case>{
           {"select *", "SELECT *"},
           {"SELECT 1", "SELECT 1"},
           {"SELECT 1, 'a' AS b, c.d e", "SELECT 1, \"a\" AS b, c.d AS e"},
           {"SELECT VALUE c FROM c", "SELECT VALUE c FROM c"},
           {"SELECT VALUE c.a AS b FROM c", "SELECT VALUE c.a AS b FROM c"},
           {"SELECT DISTINCT c.a FROM c", "SELECT DISTINCT c.a FROM c"},
           {"SELECT DISTINCT TOP 5 VALUE c FROM c", "SELECT DISTINCT TOP 5 VALUE c FROM c"},
           {"SELECT TOP @n * FROM c", "SELECT TOP @n * FROM c"},
           {"SELECT TOP 0 *", "SELECT TOP 0 *"},
           {"SELECT c.a AS rank, c.b AS Limit FROM c", "SELECT c.a AS rank, c.b AS Limit FROM c"},
           {"SELECT -- all\n * -- of it\nFROM c", "SELECT * FROM c"},
           {"SELECT{a:1}FROM c", "SELECT {\"a\": 1} FROM c"},
       }) {
    check_query(c);
  }
}

TEST(Parser, FromClause) {
  for (const Case& c : std::initializer_list<Case>{
           {"SELECT * FROM c", "SELECT * FROM c"},
           {"SELECT * FROM root r", "SELECT * FROM root AS r"},
           {"SELECT * FROM Families AS f", "SELECT * FROM Families AS f"},
           {"SELECT * FROM c.children", "SELECT * FROM c.children"},
           {"SELECT * FROM c.children[0] k", "SELECT * FROM c.children[0] AS k"},
           {"SELECT * FROM c['a b'].d", "SELECT * FROM c[\"a b\"].d"},
           {"SELECT * FROM x IN c.children", "SELECT * FROM x IN c.children"},
           {"SELECT * FROM x in c", "SELECT * FROM x IN c"},
           {"SELECT * FROM x IN (SELECT VALUE [1, 2])", "SELECT * FROM x IN (SELECT VALUE [1, 2])"},
           {"SELECT * FROM (SELECT * FROM c) s", "SELECT * FROM (SELECT * FROM c) AS s"},
           {"SELECT * FROM (SELECT * FROM c)", "SELECT * FROM (SELECT * FROM c)"},
           {"SELECT * FROM c JOIN t IN c.tags", "SELECT * FROM c JOIN t IN c.tags"},
           {"SELECT * FROM c JOIN t IN c.tags JOIN (SELECT VALUE t.x) AS u",
            "SELECT * FROM c JOIN t IN c.tags JOIN (SELECT VALUE t.x) AS u"},
           {"SELECT * FROM c JOIN c.a b", "SELECT * FROM c JOIN c.a AS b"},
           {"SELECT * FROM c JOIN p IN ObjectToArray(c.m).x",
            "SELECT * FROM c JOIN p IN ObjectToArray(c.m).x"},
           {"SELECT * FROM x IN udf.split(c.a)", "SELECT * FROM x IN udf.split(c.a)"},
           {"SELECT * FROM all IN last.first", "SELECT * FROM all IN last.first"},
       }) {
    check_query(c);
  }
}

TEST(Parser, OtherClauses) {
  for (const Case& c : std::initializer_list<Case>{
           {"SELECT * WHERE true", "SELECT * WHERE true"},
           {"SELECT * FROM c WHERE c.a > @p AND c.b", "SELECT * FROM c WHERE ((c.a > @p) AND c.b)"},
           {"SELECT c.a FROM c GROUP BY c.a", "SELECT c.a FROM c GROUP BY c.a"},
           {"SELECT 1 FROM c GROUP BY c.a, LOWER(c.b)", "SELECT 1 FROM c GROUP BY c.a, LOWER(c.b)"},
           {"SELECT * FROM c ORDER BY c.a", "SELECT * FROM c ORDER BY c.a ASC"},
           {"SELECT * FROM c ORDER BY c.a desc, c.b asc, c.d",
            "SELECT * FROM c ORDER BY c.a DESC, c.b ASC, c.d ASC"},
           {"SELECT * FROM c ORDER BY RANK FullTextScore(c.t, 'x')",
            "SELECT * FROM c ORDER BY RANK FullTextScore(c.t, \"x\")"},
           {"SELECT * FROM c order by rank RRF(f(1), g(2)) desc",
            "SELECT * FROM c ORDER BY RANK RRF(f(1), g(2)) DESC"},
           {"SELECT * FROM rank ORDER BY rank.a", "SELECT * FROM rank ORDER BY rank.a ASC"},
           {"SELECT * FROM rank ORDER BY rank DESC", "SELECT * FROM rank ORDER BY rank DESC"},
           {"SELECT * FROM rank ORDER BY rank OFFSET 1 LIMIT 2",
            "SELECT * FROM rank ORDER BY rank ASC OFFSET 1 LIMIT 2"},
           {"SELECT * FROM c OFFSET 1 LIMIT 2", "SELECT * FROM c OFFSET 1 LIMIT 2"},
           {"SELECT * FROM c OFFSET @o LIMIT @l", "SELECT * FROM c OFFSET @o LIMIT @l"},
           {"SELECT c.a FROM c WHERE c.b GROUP BY c.a ORDER BY c.a OFFSET 0 LIMIT 10",
            "SELECT c.a FROM c WHERE c.b GROUP BY c.a ORDER BY c.a ASC OFFSET 0 LIMIT 10"},
       }) {
    check_query(c);
  }
}

TEST(Parser, NodesSayWhereTheyStood) {
  const auto query = parse_query("SELECT c.a +\n  f(@p)\nFROM c");
  ASSERT_TRUE(query);
  const Expr& sum = *query->select.items[0].expr;
  EXPECT_EQ(sum.span.start, 7U);
  EXPECT_EQ(sum.span.end, 20U);
  EXPECT_EQ(sum.span.column, 8U);
  const Expr& call = *sum.children[1];
  EXPECT_EQ(call.span.start, 15U);
  EXPECT_EQ(call.span.end, 20U);
  EXPECT_EQ(call.span.line, 2U);
  EXPECT_EQ(call.span.column, 3U);
  EXPECT_EQ(query->from->span.line, 3U);
  EXPECT_EQ(query->span.end, 27U);
  const auto udf = parse_expression("1 + udf.f(2)");
  ASSERT_TRUE(udf);
  EXPECT_EQ((*udf)->children[1]->span.start, 4U);
  EXPECT_EQ((*udf)->children[1]->span.end, 12U);
}

TEST(Parser, ListsOfConditionsAreOneNode) {
  std::string text = "a = 0";
  for (int i = 1; i < 5000; ++i) text += " OR a = " + std::to_string(i);
  const auto expr = parse_expression(text);
  ASSERT_TRUE(expr);
  EXPECT_EQ((*expr)->children.size(), 5000U);
  // The printed form is parsed by the next server in line.
  const auto again = parse_expression(to_text(**expr));
  ASSERT_TRUE(again);
  EXPECT_TRUE(same(**again, **expr));
}

}  // namespace
}  // namespace orrery::query
