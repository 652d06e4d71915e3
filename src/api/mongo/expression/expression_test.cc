// Expressions as they are written, and what they give for a document.
#include "api/mongo/expression/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/mongo/bson/test_ejson.h"

namespace orrery::mongo {
namespace {

struct Case {
  std::string expression;
  std::string result;  // in Extended JSON, or "error N"
};

constexpr std::string_view kDocument =
    R"({"_id": 1, "n": 5, "d": {"$numberDouble": "2.5"}, "l": {"$numberLong": "7"},
        "s": "Grüße", "a": [3, 1, 2], "o": {"x": 1, "y": [{"z": 4}, {"z": 5}, 6]},
        "t": {"$date": {"$numberLong": "1700000000123"}}, "nil": null})";

std::string evaluate(std::string_view text) {
  Budget budget;
  Evaluation evaluation(budget);
  const auto expression = Expression::parse(from_ejson(text), {});
  if (!expression) return "error " + std::to_string(expression.error().code);
  const auto value = expression->evaluate(evaluation, from_ejson(kDocument));
  return value ? to_ejson(*value) : "error " + std::to_string(value.error().code);
}

void expect_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(evaluate(one.expression), one.result) << one.expression;
}

std::string i(int n) {
  return R"({"$numberInt":")" + std::to_string(n) + "\"}";
}
std::string l(int64_t n) {
  return R"({"$numberLong":")" + std::to_string(n) + "\"}";
}
std::string d(const std::string& n) {
  return R"({"$numberDouble":")" + n + "\"}";
}
std::string dec(const std::string& n) {
  return R"({"$numberDecimal":")" + n + "\"}";
}

TEST(ExpressionTest, paths_and_literals) {
  expect_all({
      {R"("$n")", i(5)},
      {R"("$o.y.z")", "[" + i(4) + "," + i(5) + "]"},
      {R"("$none.x")", "MISSING"},
      {R"(["$none", "$n"])", "[null," + i(5) + "]"},
      {R"({"p": "$none", "q": "$n"})", "{\"q\":" + i(5) + "}"},
      {R"({"$literal": "$n"})", "\"$n\""},
      {R"("$$ROOT.n")", i(5)},
      {R"("$$REMOVE")", "MISSING"},
      {R"("$$nobody")", "error 17276"},
      {R"("$a..b")", "error 15998"},
      {R"({"$nonsense": 1})", "error 168"},
      {R"({"$add": [1, 2], "$sum": 1})", "error 15983"},
      {R"({"$function": {}})", "error 238"},
  });
}

TEST(ExpressionTest, numbers_keep_the_widest_kind) {
  expect_all({
      {R"({"$add": ["$n", 1]})", i(6)},
      {R"({"$add": ["$n", "$l"]})", l(12)},
      {R"({"$add": ["$n", "$d"]})", d("7.5")},
      {R"({"$add": [2147483647, 1]})", l(2147483648)},
      {R"({"$add": [{"$numberLong": "9223372036854775807"}, 1]})", d("9.223372036854776e+18")},
      {R"({"$multiply": [{"$numberDecimal": "1.10"}, 3]})", dec("3.30")},
      {R"({"$divide": [1, 3]})", d("0.3333333333333333")},
      {R"({"$divide": [{"$numberDecimal": "1"}, 3]})", dec("0.3333333333333333333333333333333333")},
      {R"({"$divide": [1, 0]})", "error 2"},
      {R"({"$mod": [-7, 3]})", i(-1)},
      {R"({"$pow": [2, 40]})", l(int64_t{1} << 40)},
      {R"({"$round": [{"$numberDouble": "2.5"}]})", d("2.0")},
      {R"({"$round": [1234, -2]})", i(1200)},
      {R"({"$trunc": [{"$numberDecimal": "-1.987"}, 1]})", dec("-1.9")},
      {R"({"$subtract": ["$t", 123]})", R"({"$date":{"$numberLong":"1700000000000"}})"},
      {R"({"$add": ["$n", "$nil"]})", "null"},
      {R"({"$add": ["$n", "$s"]})", "error 16554"},
      {R"({"$sqrt": -1})", "error 28714"},
      {R"({"$bitAnd": [12, 10]})", i(8)},
      {R"({"$sin": {"$numberDouble": "Infinity"}})", "error 50989"},
  });
}

TEST(ExpressionTest, strings_count_code_points_or_bytes) {
  expect_all({
      {R"({"$strLenCP": "$s"})", i(5)},
      {R"({"$strLenBytes": "$s"})", i(7)},
      {R"({"$substrCP": ["$s", 2, 2]})", "\"üß\""},
      {R"({"$substrBytes": ["$s", 3, 1]})", "error 28656"},
      {R"({"$indexOfCP": ["$s", "e"]})", i(4)},
      {R"({"$split": ["a,b,,c", ","]})", R"(["a","b","","c"])"},
      {R"({"$trim": {"input": "  x\t"}})", "\"x\""},
      {R"({"$replaceAll": {"input": "aXbX", "find": "X", "replacement": "-"}})", "\"a-b-\""},
      {R"~({"$regexFind": {"input": "line 42", "regex": "([a-z]+) (\\d+)"}})~",
       R"({"match":"line 42","idx":)" + i(0) + R"(,"captures":["line","42"]})"},
      {R"({"$regexMatch": {"input": "ABC", "regex": "b", "options": "i"}})", "true"},
      {R"~({"$regexMatch": {"input": "x", "regex": "("}})~", "error 51091"},
      {R"({"$concat": ["a", "$none"]})", "null"},
      {R"({"$toUpper": "$s"})", "\"GRüßE\""},
  });
}

TEST(ExpressionTest, arrays_and_loops) {
  expect_all({
      {R"({"$map": {"input": "$a", "as": "x", "in": {"$multiply": ["$$x", "$n"]}}})",
       "[" + i(15) + "," + i(5) + "," + i(10) + "]"},
      {R"({"$filter": {"input": "$a", "cond": {"$gt": ["$$this", 1]}, "limit": 1}})",
       "[" + i(3) + "]"},
      {R"({"$reduce": {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}})",
       i(6)},
      {R"({"$sortArray": {"input": "$a", "sortBy": -1}})",
       "[" + i(3) + "," + i(2) + "," + i(1) + "]"},
      {R"({"$arrayElemAt": ["$a", -1]})", i(2)},
      {R"({"$arrayElemAt": ["$a", 9]})", "MISSING"},
      {R"({"$slice": ["$a", -2]})", "[" + i(1) + "," + i(2) + "]"},
      {R"({"$range": [0, 6, 2]})", "[" + i(0) + "," + i(2) + "," + i(4) + "]"},
      {R"({"$range": [0, 6, 0]})", "error 34449"},
      {R"({"$in": [2, "$a"]})", "true"},
      {R"({"$zip": {"inputs": [[1], [2, 3]], "useLongestLength": true, "defaults": [0, 0]}})",
       "[[" + i(1) + "," + i(2) + "],[" + i(0) + "," + i(3) + "]]"},
      {R"({"$setUnion": [[2, 1], [1]]})", "[" + i(1) + "," + i(2) + "]"},
      {R"({"$sum": "$a"})", i(6)},
      {R"({"$avg": ["$n", "$d"]})", d("3.75")},
      {R"({"$let": {"vars": {"x": 1}, "in": {"$add": ["$$x", "$n"]}}})", i(6)},
      {R"({"$objectToArray": {"k1": 1}})", R"([{"k":"k1","v":)" + i(1) + "}]"},
  });
}

TEST(ExpressionTest, dates_in_time_zones) {
  expect_all({
      {R"({"$year": "$t"})", i(2023)},
      {R"({"$hour": {"date": "$t", "timezone": "America/New_York"}})", i(17)},
      {R"({"$dateToString": {"date": "$t", "format": "%Y-%m-%d %H:%M %z", "timezone": "+05:30"}})",
       "\"2023-11-15 03:43 +0530\""},
      {R"({"$dateFromString": {"dateString": "2021-01-11T12:53:12.506+01:00"}})",
       R"({"$date":{"$numberLong":"1610365992506"}})"},
      {R"({"$dateFromString": {"dateString": "2024 001", "format": "%Y %j"}})",
       R"({"$date":{"$numberLong":"1704153600000"}})"},
      {R"({"$dateAdd": {"startDate": {"$date": {"$numberLong": "1706659200000"}}, "unit": "month",
                        "amount": 1}})",
       R"({"$date":{"$numberLong":"1709164800000"}})"},
      {R"({"$dateTrunc": {"date": "$t", "unit": "week", "startOfWeek": "monday"}})",
       R"({"$date":{"$numberLong":"1699833600000"}})"},
      {R"({"$dateDiff": {"startDate": {"$date": {"$numberLong": "0"}}, "endDate": "$t",
                         "unit": "year"}})",
       l(53)},
      {R"({"$dateFromParts": {"year": 2020, "month": 14, "day": 1}})",
       R"({"$date":{"$numberLong":"1612137600000"}})"},
      {R"({"$year": {"date": {"$date": {"$numberLong": "9223372036854775807"}}, "timezone": "+23"}})",
       i(292278994)},
      {R"({"$dateTrunc": {"date": {"$date": {"$numberLong": "-9223372036854775808"}}, "unit": "year",
                          "binSize": 1000000}})",
       "error 5976500"},
      {R"({"$year": "$n"})", "error 16006"},
      {R"({"$hour": {"date": "$t", "timezone": "Nowhere/Else"}})", "error 40485"},
  });
}

TEST(ExpressionTest, conversions) {
  expect_all({
      {R"({"$toInt": "42"})", i(42)},
      {R"({"$toInt": "4 2"})", "error 241"},
      {R"({"$toDecimal": {"$numberDouble": "2.5"}})", dec("2.50000000000000")},
      {R"({"$toLong": "$t"})", l(1700000000123)},
      {R"({"$toString": "$t"})", "\"2023-11-14T22:13:20.123Z\""},
      {R"({"$convert": {"input": "x", "to": "int", "onError": "bad"}})", "\"bad\""},
      {R"({"$convert": {"input": null, "to": "int", "onNull": 0}})", i(0)},
      {R"({"$convert": {"input": {"$convert": {"input": "4a6F", "to": "binData", "format": "hex"}},
                        "to": "string", "format": "hex"}})",
       "\"4A6F\""},
      {R"({"$type": "$none"})", "\"missing\""},
      {R"({"$type": "$l"})", "\"long\""},
  });
}

TEST(ExpressionTest, conditions_stop_early) {
  expect_all({
      {R"({"$and": [false, {"$divide": ["$n", 0]}]})", "false"},
      {R"({"$cond": [{"$gt": ["$n", 3]}, "big", {"$divide": ["$n", 0]}]})", "\"big\""},
      {R"({"$switch": {"branches": [{"case": false, "then": 1}]}})", "error 40066"},
      {R"({"$ifNull": ["$none", "$nil", "x"]})", "\"x\""},
  });
}

TEST(ExpressionTest, nesting_is_bounded) {
  std::string text = "1";
  for (int depth = 0; depth < 60; ++depth) text = R"({"$abs": [)" + text + "]}";
  EXPECT_EQ(evaluate(text), i(1));
  Value deep = make_int32(1);
  for (int depth = 0; depth < 120; ++depth) {
    std::vector<Value::Field> fields;
    fields.push_back(field("$abs", deep));
    deep = Value::make_object(std::move(fields));
  }
  const auto refused = Expression::parse(deep, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, kOverflow);
}

// Each level has its inner one twice: 2^40 elements in a few bytes.
TEST(ExpressionTest, what_is_made_is_bounded) {
  std::string text = R"([1, 2])";
  for (int depth = 0; depth < 20; ++depth) {
    text = R"({"$let": {"vars": {"x": )" + text + R"(}, "in": [["$$x", "$$x"], ["$$x", "$$x"]]}})";
  }
  EXPECT_EQ(evaluate(text), "error 292");
}

TEST(ExpressionTest, a_budget_ends_the_work) {
  Budget budget;
  budget.start({.steps = 10'000});
  Evaluation evaluation(budget);
  const auto expression = Expression::parse(
      from_ejson(R"({"$reduce": {"input": {"$range": [0, 1000000]}, "initialValue": 0,
                                 "in": {"$add": ["$$value", "$$this"]}}})"),
      {});
  ASSERT_TRUE(expression.has_value());
  const auto value = expression->evaluate(evaluation, Value::make_object({}));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code, kMaxTimeMsExpired);
}

}  // namespace
}  // namespace orrery::mongo
