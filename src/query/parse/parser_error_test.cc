// What is refused: its kind, the place, and what the message says was expected.
#include "query/parse/parser_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/parse/parser.h"

namespace orrery::query {
namespace {

using testing::HasSubstr;

struct ErrorCase {
  std::string_view text;
  uint32_t start;
  uint32_t end;
  std::string_view says;
};

void check(const ErrorCase& c, QueryFault fault = QueryFault::syntax) {
  const auto query = parse_query(c.text);
  ASSERT_FALSE(query) << c.text;
  const SyntaxError& error = query.error();
  EXPECT_EQ(error.fault, fault) << c.text;
  EXPECT_EQ(error.start, c.start) << c.text << ": " << error.message;
  EXPECT_EQ(error.end, c.end) << c.text << ": " << error.message;
  EXPECT_THAT(error.message, HasSubstr(c.says)) << c.text;
}

TEST(ParserError, SaysWhatIsNotExpectedWhere) {
  for (const ErrorCase& c : std::initializer_list<ErrorCase>{
           {"", 0, 0, "near the end of the query. Expected SELECT"},
           {"SELEC *", 0, 5, "near 'SELEC'. Expected SELECT"},
           {"SELECT", 6, 6, "Expected an expression"},
           {"SELECT FROM c", 7, 11, "near 'FROM'"},
           {"SELECT *, 1", 8, 9, "near ','"},
           {"SELECT VALUE *", 13, 14, "near '*'"},
           {"SELECT VALUE 1, 2", 14, 15, "near ','"},
           {"SELECT 1,", 9, 9, "Expected an expression"},
           {"SELECT TOP *", 11, 12, "a number or a parameter after TOP"},
           {"SELECT TOP -1 *", 11, 12, "near '-'"},
           {"SELECT TOP 'a' *", 11, 14, "a number or a parameter"},
           {"SELECT TOP 1 DISTINCT *", 13, 21, "near 'DISTINCT'"},
           {"SELECT 1 AS", 11, 11, "Expected an alias"},
           {"SELECT 1 AS order", 12, 17, "order is a reserved word"},
           {"SELECT 1 AS 'a'", 12, 15, "Expected an alias"},
           {"SELECT * FROM", 13, 13, "Expected a source"},
           {"SELECT * FROM 1", 14, 15, "Expected a source"},
           {"SELECT * FROM c JOIN", 20, 20, "Expected a source"},
           {"SELECT * FROM x IN", 18, 18, "Expected a source"},
           {"SELECT * FROM x IN @p", 19, 21, "Expected a source"},
           {"SELECT * FROM c[@p]", 16, 18, "only a string or a number"},
           {"SELECT * FROM ARRAY(SELECT 1)", 14, 19, "Expected a source"},
           {"SELECT * FROM c d e", 18, 19, "near 'e'"},
           {"SELECT * FROM c, d", 15, 16, "near ','"},
           {"SELECT * FROM c WHERE", 21, 21, "Expected an expression"},
           {"SELECT * FROM c WHERE c.a c.b", 26, 27, "near 'c'. Expected the end of the query"},
           {"SELECT * FROM c WHERE 1 WHERE 2", 24, 29, "near 'WHERE'"},
           {"SELECT * GROUP c.a", 15, 16, "Expected BY"},
           {"SELECT c.a FROM c GROUP BY c.a HAVING 1", 31, 37, "near 'HAVING'"},
           {"SELECT * ORDER BY", 17, 17, "Expected an expression"},
           {"SELECT * ORDER BY 1,", 20, 20, "Expected an expression"},
           {"SELECT * ORDER BY RANK 1", 23, 24, "near '1'"},
           {"SELECT * ORDER BY RANK c.a", 23, 26, "Expected a function call"},
           {"SELECT * ORDER BY RANK f(1), 2", 29, 30, "Expected a function call"},
           {"SELECT * OFFSET 1", 17, 17, "Expected LIMIT"},
           {"SELECT * LIMIT 1", 9, 14, "near 'LIMIT'"},
           {"SELECT * OFFSET 1 LIMIT 'a'", 24, 27, "after LIMIT"},
           {"SELECT c.order", 9, 14, "write [\"order\"]"},
           {"SELECT c.", 9, 9, "a property's name"},
           {"SELECT c.1", 8, 10, "near '.1'"},
           {"SELECT c[]", 9, 10, "Expected an expression"},
           {"SELECT c[1", 10, 10, "Expected ']'"},
           {"SELECT c.f(1)", 10, 11, "near '('"},
           {"SELECT (1", 9, 9, "Expected ')'"},
           {"SELECT 1)", 8, 9, "near ')'"},
           {"SELECT f(1,)", 11, 12, "Expected an expression"},
           {"SELECT f(SELECT 1)", 9, 15, "near 'SELECT'"},
           {"SELECT [1,]", 10, 11, "Expected an expression"},
           {"SELECT [1 2]", 10, 11, "Expected ',' or ']'"},
           {"SELECT {a}", 9, 10, "Expected ':'"},
           {"SELECT {1: 2}", 8, 9, "a property's name"},
           {"SELECT {a: 1,}", 13, 14, "a property's name"},
           {"SELECT a ? b", 12, 12, "Expected ':'"},
           {"SELECT a NOT b", 13, 14, "Expected IN, BETWEEN or LIKE"},
           {"SELECT a IN ()", 13, 14, "Expected an expression"},
           {"SELECT a IN (1", 14, 14, "Expected ',' or ')'"},
           {"SELECT a IN 1", 12, 13, "the list of IN"},
           {"SELECT a IN (1) = true", 16, 17, "near '='"},
           {"SELECT a BETWEEN 1", 18, 18, "Expected AND"},
           {"SELECT a BETWEEN 1 AND 2 BETWEEN 3 AND 4", 25, 32, "near 'BETWEEN'"},
           {"SELECT a BETWEEN b ?? 1 AND 2", 19, 21, "Expected AND"},
           {"SELECT a LIKE 'b' ESCAPE 1", 25, 26, "the escape character"},
           {"SELECT EXISTS(1)", 14, 15, "Expected SELECT"},
           {"SELECT ARRAY(c.a)", 13, 14, "Expected SELECT"},
           {"SELECT a AND", 12, 12, "Expected an expression"},
           {"SELECT * /* no */", 9, 10, "near '/'"},
       }) {
    check(c);
  }
}

TEST(ParserError, BrokenTokensHaveTheirOwnCodes) {
  check({"SELECT * FROM c;", 15, 16, "invalid token ';'"}, QueryFault::invalid_token);
  check({"SELECT 1 # 2", 9, 10, "invalid token '#'"}, QueryFault::invalid_token);
  check({"SELECT 12a", 7, 10, "'12a'"}, QueryFault::invalid_number);
  check({"SELECT 'abc", 7, 11, "closing quote"}, QueryFault::invalid_string);
}

TEST(ParserError, TheFirstMistakeIsTheOneReported) {
  check({"SELECT FROM c WHERE 'abc", 7, 11, "near 'FROM'"});
  check({"SELECT 1 2 ;", 9, 10, "near '2'"});
}

TEST(ParserError, CountsAreIntegers) {
  check({"SELECT TOP 1.5 *", 11, 14, "a TOP clause must be an integer"},
        QueryFault::count_not_integer);
  check({"SELECT TOP 4294967296 *", 11, 21, "a TOP clause must be an integer"},
        QueryFault::count_not_integer);
  check({"SELECT * OFFSET 0.5 LIMIT 1", 16, 19, "an integer"}, QueryFault::count_not_integer);
  EXPECT_TRUE(parse_query("SELECT TOP 4294967295 *"));
  EXPECT_TRUE(parse_query("SELECT TOP 1e3 *"));
}

TEST(ParserError, LinesAndColumnsStartAtOne) {
  const auto query = parse_query("SELECT *\nFROM c\n  WHERE =");
  ASSERT_FALSE(query);
  EXPECT_EQ(query.error().line, 3U);
  EXPECT_EQ(query.error().column, 9U);
  EXPECT_THAT(query.error().message, HasSubstr("at line 3, column 9"));
}

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ParserError, NestingIsLimited) {
  constexpr size_t kDeep = 100'000;
  for (const std::string& text :
       {"SELECT " + repeat("(", kDeep), "SELECT " + repeat("[", kDeep),
        "SELECT " + repeat("{a:", kDeep), "SELECT " + repeat("NOT ", kDeep) + "1",
        "SELECT " + repeat("- ", kDeep) + "1", "SELECT " + repeat("f(", kDeep),
        "SELECT " + repeat("(SELECT ", kDeep / 4), repeat("SELECT * FROM (", kDeep / 4),
        "SELECT " + repeat("a ? ", kDeep), "SELECT " + repeat("a ? b : ", kDeep / 4),
        "SELECT a" + repeat("[a", kDeep), "SELECT a" + repeat(".a", kDeep),
        "SELECT a" + repeat("[0]", kDeep), "SELECT a" + repeat(" + a", kDeep),
        "SELECT a" + repeat(" ?? a", kDeep / 2), "SELECT " + repeat("a IN (", kDeep / 2),
        "SELECT " + repeat("a OR b AND c = d < e + f * (", kDeep / 8),
        "SELECT " + repeat("EXISTS(SELECT ", kDeep / 8)}) {
    const auto query = parse_query(text);
    ASSERT_FALSE(query) << text.substr(0, 40);
    EXPECT_EQ(query.error().fault, QueryFault::too_complex)
        << text.substr(0, 40) << query.error().message;
  }
  EXPECT_TRUE(parse_query("SELECT " + repeat("(", 500) + "1" + repeat(")", 500)));
  EXPECT_TRUE(parse_query("SELECT a" + repeat(" + a", 200)));
}

TEST(ParserError, JoinsAndListsAreLimited) {
  EXPECT_TRUE(parse_query("SELECT * FROM c" + repeat(" JOIN t IN c.t", kMaxJoins)));
  const auto joins = parse_query("SELECT * FROM c" + repeat(" JOIN t IN c.t", kMaxJoins + 1));
  ASSERT_FALSE(joins);
  EXPECT_EQ(joins.error().fault, QueryFault::too_complex);
  EXPECT_TRUE(parse_query("SELECT a IN (1" + repeat(",1", kMaxInItems - 1) + ")"));
  EXPECT_FALSE(parse_query("SELECT a IN (1" + repeat(",1", kMaxInItems) + ")"));
}

}  // namespace
}  // namespace orrery::query
