// Operators over all types, and LIKE.
#include "query/functions/operators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "query/functions/evaluator_fixture.h"
#include "query/functions/like.h"

namespace orrery::query {
namespace {

// Over JSON; "undefined" is undefined.
std::string binary(Binary operation, std::string_view left, std::string_view right) {
  const auto read = [](std::string_view text) {
    return text == "undefined" ? Value() : parse(text);
  };
  return show(apply(operation, read(left), read(right)));
}

TEST(Operators, Arithmetic) {
  EXPECT_EQ(binary(Binary::add, "1", "2"), "3");
  EXPECT_EQ(binary(Binary::subtract, "1", "2"), "-1");
  EXPECT_EQ(binary(Binary::multiply, "24.5", "0.55"), "13.475000000000001");
  EXPECT_EQ(binary(Binary::divide, "7", "2"), "3.5");
  EXPECT_EQ(binary(Binary::modulo, "11", "7"), "4");
  EXPECT_EQ(binary(Binary::modulo, "-11", "7"), "-4");
  EXPECT_EQ(binary(Binary::modulo, "5.5", "2"), "1.5");
  EXPECT_EQ(binary(Binary::add, "9007199254740992", "1"), "9007199254740992");
  EXPECT_TRUE(
      std::isinf(apply(Binary::divide, Value::make_number(8.9), Value::make_number(0)).number()));
  for (const std::string_view wrong : {"null", "true", "\"1\"", "[1]", "{}", "undefined"}) {
    EXPECT_EQ(binary(Binary::add, "1", wrong), "undefined") << wrong;
    EXPECT_EQ(binary(Binary::add, wrong, "1"), "undefined") << wrong;
    EXPECT_EQ(binary(Binary::bit_and, wrong, "1"), "undefined") << wrong;
  }
}

TEST(Operators, Bits) {
  EXPECT_EQ(binary(Binary::shift_right, "100", "2"), "25");
  EXPECT_EQ(binary(Binary::shift_left, "100", "2"), "400");
  EXPECT_EQ(binary(Binary::shift_right_unsigned, "100", "0"), "100");
  EXPECT_EQ(binary(Binary::shift_right_unsigned, "-1", "0"), "4294967295");
  EXPECT_EQ(binary(Binary::shift_right, "-8", "1"), "-4");
  EXPECT_EQ(binary(Binary::shift_left, "1", "31"), "-2147483648");
  EXPECT_EQ(binary(Binary::shift_left, "1", "32"), "1");
  EXPECT_EQ(binary(Binary::bit_and, "100", "1000"), "96");
  EXPECT_EQ(binary(Binary::bit_or, "100", "1000"), "1004");
  EXPECT_EQ(binary(Binary::bit_xor, "100", "1000"), "908");
  EXPECT_EQ(binary(Binary::bit_or, "4294967296.9", "1"), "1");
  EXPECT_EQ(binary(Binary::bit_or, "1e300", "0"), "0");
  EXPECT_EQ(binary(Binary::bit_or, "2147483648", "0"), "-2147483648");
  EXPECT_EQ(show(apply(Unary::bit_not, Value::make_number(65))), "-66");
}

TEST(Operators, Unary) {
  EXPECT_EQ(show(apply(Unary::minus, Value::make_number(5))), "-5");
  EXPECT_EQ(show(apply(Unary::plus, Value::make_number(5))), "5");
  EXPECT_EQ(show(apply(Unary::minus, parse("\"5\""))), "undefined");
  EXPECT_EQ(show(apply(Unary::logical_not, Value::make_bool(true))), "false");
  EXPECT_EQ(show(apply(Unary::logical_not, Value::make_number(0))), "undefined");
  EXPECT_EQ(show(apply(Unary::logical_not, Value())), "undefined");
}

TEST(Operators, Equality) {
  EXPECT_EQ(binary(Binary::equal, "1", "1.0"), "true");
  EXPECT_EQ(binary(Binary::equal, "null", "null"), "true");
  EXPECT_EQ(binary(Binary::equal, "1", "\"1\""), "false");
  EXPECT_EQ(binary(Binary::not_equal, "\"a\"", "null"), "true");
  EXPECT_EQ(binary(Binary::equal, "undefined", "undefined"), "undefined");
  EXPECT_EQ(binary(Binary::not_equal, "1", "undefined"), "undefined");
  EXPECT_EQ(binary(Binary::equal, R"({"a":[1],"b":2})", R"({"b":2,"a":[1]})"), "true");
  EXPECT_EQ(binary(Binary::equal, "[1,2]", "[2,1]"), "false");
  EXPECT_EQ(binary(Binary::not_equal, "[1,2]", "[2,1]"), "true");
}

TEST(Operators, Order) {
  EXPECT_EQ(binary(Binary::less, "1", "2"), "true");
  EXPECT_EQ(binary(Binary::greater_or_equal, "\"b\"", "\"a\""), "true");
  EXPECT_EQ(binary(Binary::less, "false", "true"), "true");
  EXPECT_EQ(binary(Binary::less_or_equal, "null", "null"), "true");
  EXPECT_EQ(binary(Binary::less, "1", "\"2\""), "undefined");
  EXPECT_EQ(binary(Binary::less, "null", "1"), "undefined");
  EXPECT_EQ(binary(Binary::less, "[1]", "[2]"), "undefined");
  EXPECT_EQ(binary(Binary::greater, "{}", "{}"), "undefined");
  EXPECT_EQ(binary(Binary::greater, "undefined", "1"), "undefined");
  const Value nan = Value::make_number(std::nan(""));
  EXPECT_EQ(show(apply(Binary::less, nan, Value::make_number(1))), "false");
  EXPECT_EQ(show(apply(Binary::greater_or_equal, nan, nan)), "false");
}

TEST(Operators, LogicIsThreeValued) {
  const std::string_view operands[] = {"true", "false", "undefined"};
  const std::string_view expected_or[] = {"true",      "true", "true",      "true",     "false",
                                          "undefined", "true", "undefined", "undefined"};
  const std::string_view expected_and[] = {"true",  "false",     "undefined", "false",    "false",
                                           "false", "undefined", "false",     "undefined"};
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(binary(Binary::logical_or, operands[i / 3], operands[i % 3]), expected_or[i]) << i;
    EXPECT_EQ(binary(Binary::logical_and, operands[i / 3], operands[i % 3]), expected_and[i]) << i;
  }
  EXPECT_EQ(binary(Binary::logical_and, "true", "1"), "undefined");
  EXPECT_EQ(binary(Binary::logical_or, "null", "true"), "true");
}

TEST(Operators, TheRest) {
  EXPECT_EQ(binary(Binary::concat, "\"a\"", "\"b\""), "\"ab\"");
  EXPECT_EQ(binary(Binary::concat, "\"a\"", "1"), "undefined");
  EXPECT_EQ(binary(Binary::coalesce, "undefined", "1"), "1");
  EXPECT_EQ(binary(Binary::coalesce, "null", "1"), "null");
  EXPECT_EQ(show(is_between(parse("5"), parse("0"), parse("5"))), "true");
  EXPECT_EQ(show(is_between(parse("6"), parse("0"), parse("5"))), "false");
  EXPECT_EQ(show(is_between(parse("\"b\""), parse("\"a\""), parse("\"c\""))), "true");
  EXPECT_EQ(show(is_between(parse("5"), parse("\"a\""), parse("9"))), "undefined");
  EXPECT_EQ(show(is_between(Value(), parse("0"), parse("5"))), "undefined");
  const Value yes = parse("1");
  const Value no = parse("2");
  EXPECT_EQ(choose(Value::make_bool(true), yes, no), yes);
  EXPECT_EQ(choose(Value(), yes, no), no);
  EXPECT_EQ(choose(yes, yes, no), no);
}

bool like(std::string_view text, std::string_view pattern, std::string_view escape = "") {
  Budget budget;
  return LikePattern::compile(pattern, escape).value().matches(text, budget);
}

TEST(Like, Wildcards) {
  EXPECT_TRUE(like("fruit salad", "fruit%"));
  EXPECT_FALSE(like("a fruit", "fruit%"));
  EXPECT_TRUE(like("Open Road", "%Road"));
  EXPECT_TRUE(like("screwdriver set", "%driver%"));
  EXPECT_TRUE(like("SOxPS", "%SO_PS%"));
  EXPECT_FALSE(like("SOPS", "%SO_PS%"));
  EXPECT_TRUE(like("SOaaPS", "%SO%PS%"));
  EXPECT_TRUE(like("SOuPS", "%SO[t-z]PS%"));
  EXPECT_FALSE(like("SOaPS", "%SO[t-z]PS%"));
  EXPECT_TRUE(like("SOdPS", "%SO[^abc]PS%"));
  EXPECT_FALSE(like("SObPS", "%SO[^abc]PS%"));
  EXPECT_FALSE(like("abc", "ABC"));
  EXPECT_TRUE(like("", ""));
  EXPECT_TRUE(like("", "%"));
  EXPECT_FALSE(like("", "_"));
  EXPECT_TRUE(like("é😀", "__"));
  EXPECT_TRUE(like("aXbXc", "a%X%c"));
  EXPECT_FALSE(like("ab", "ab%b"));
  EXPECT_TRUE(like("abab", "ab%ab"));
}

TEST(Like, LiteralsAndEscapes) {
  EXPECT_TRUE(like("save 20% now", "%20^%%", "^"));
  EXPECT_FALSE(like("save 20 now", "%20^%%", "^"));
  EXPECT_TRUE(like("20-30%", "20-30[%]"));
  EXPECT_FALSE(like("20-30x", "20-30[%]"));
  EXPECT_TRUE(like("_n", "[_]n"));
  EXPECT_TRUE(like("[", "[[]"));
  EXPECT_TRUE(like("[", "[ [ ]"));
  EXPECT_TRUE(like("]", "]"));
  EXPECT_TRUE(like("a[b", "a[b"));
  EXPECT_TRUE(like("]", "[]]"));
  EXPECT_TRUE(like("-", "[a-]"));
  EXPECT_TRUE(like("^", "!^", "!"));
  EXPECT_TRUE(like("!", "!!", "!"));
  EXPECT_FALSE(LikePattern::compile("a", "ab").has_value());
}

TEST(Like, TellsWhatAnIndexCanUse) {
  const LikePattern prefix = *LikePattern::compile("abc%", "");
  EXPECT_EQ(prefix.prefix(), "abc");
  EXPECT_TRUE(prefix.is_prefix_only());
  EXPECT_FALSE(prefix.is_exact());
  const LikePattern exact = *LikePattern::compile("a!%c", "!");
  EXPECT_EQ(exact.prefix(), "a%c");
  EXPECT_TRUE(exact.is_exact());
  const LikePattern open = *LikePattern::compile("ab_d%", "");
  EXPECT_EQ(open.prefix(), "ab");
  EXPECT_FALSE(open.is_prefix_only());
  EXPECT_EQ(LikePattern::compile("%x", "")->prefix(), "");
}

TEST(Like, DoesNotBlowUp) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "%a";
  EXPECT_FALSE(like(std::string(20000, 'a') + "b", pattern + "%c"));
  EXPECT_TRUE(like(std::string(20000, 'a'), pattern));
}

}  // namespace
}  // namespace orrery::query
