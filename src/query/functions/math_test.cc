// Mathematical, integer, type, conditional and item functions, and the registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "query/functions/evaluator_fixture.h"

namespace orrery::query {
namespace {

TEST(MathFunctions, DocumentedValues) {
  Evaluator call;
  EXPECT_EQ(call("ABS", "[-1]"), "1");
  EXPECT_EQ(call("ACOS", "[-1]"), "3.141592653589793");
  EXPECT_EQ(call("ASIN", "[-1]"), "-1.5707963267948966");
  EXPECT_EQ(call("ATAN", "[-45.01]"), "-1.5485826962062663");
  EXPECT_EQ(call("ATN2", "[35.175643,129.44]"), "0.265344532064832");
  EXPECT_EQ(call("CEILING", "[-45.72]"), "-45");
  EXPECT_EQ(call("COS", "[14.78]"), "-0.5994654261946543");
  EXPECT_EQ(call("COT", "[124.1332]"), "-0.040311998371148884");
  EXPECT_EQ(call("DEGREES", "[4.71238898038469]"), "270");
  EXPECT_EQ(call("EXP", "[10]"), "22026.465794806718");
  EXPECT_EQ(call("FLOOR", "[-145.12]"), "-146");
  EXPECT_EQ(call("LOG", "[5]"), "1.6094379124341003");
  EXPECT_EQ(call("LOG", "[2,10]"), "0.3010299956639812");
  EXPECT_EQ(call("LOG", "[8,2]"), "3");
  EXPECT_EQ(call("LOG10", "[100]"), "2");
  EXPECT_EQ(call("PI", "[]"), "3.141592653589793");
  EXPECT_EQ(call("POWER", "[2.5,3]"), "15.625");
  EXPECT_EQ(call("RADIANS", "[197.1099392]"), "3.4402174274458375");
  EXPECT_EQ(call("RADIANS", "[0.1472738]"), "0.002570412711923625");
  EXPECT_EQ(call("ROUND", "[2.5]"), "3");
  EXPECT_EQ(call("ROUND", "[-6.5]"), "-7");
  EXPECT_EQ(call("SIGN", "[-2]"), "-1");
  EXPECT_EQ(call("SIGN", "[0]"), "0");
  EXPECT_EQ(call("SIN", "[45.175643]"), "0.929607286611012");
  EXPECT_EQ(call("SQRT", "[17]"), "4.123105625617661");
  EXPECT_EQ(call("SQUARE", "[3]"), "9");
  EXPECT_EQ(call("TAN", "[124.1332]"), "-24.80651023035602");
  EXPECT_EQ(call("TRUNC", "[-2.78]"), "-2");
  EXPECT_EQ(call("NUMBERBIN", "[37.752,-100]"), "100");
  EXPECT_EQ(call("NUMBERBIN", "[37.752,10]"), "30");
  EXPECT_EQ(call("NUMBERBIN", "[37.752]"), "37");
  EXPECT_EQ(call("NUMBERBIN", "[37.752,0]"), "undefined");
  EXPECT_EQ(call("NUMBERBIN", "[37.752,0.1]"), "37.7");
  EXPECT_EQ(call("NUMBERBIN", "[37.752,0.01]"), "37.75");
}

TEST(MathFunctions, TakeNumbersOnly) {
  Evaluator call;
  for (const std::string_view name :
       {"ABS",     "ACOS", "ASIN",  "ATAN", "CEILING", "COS",       "COT",
        "DEGREES", "EXP",  "FLOOR", "LOG",  "LOG10",   "NUMBERBIN", "RADIANS",
        "ROUND",   "SIGN", "SIN",   "SQRT", "SQUARE",  "TAN",       "TRUNC"}) {
    for (const std::string_view wrong :
         {R"(["1"])", "[null]", "[true]", "[[1]]", "[{}]", R"(["undefined"])"}) {
      EXPECT_EQ(call(name, wrong), "undefined") << name << wrong;
    }
  }
  EXPECT_EQ(call("POWER", "[null,3]"), "undefined");
  EXPECT_EQ(call("ATN2", "[1,null]"), "undefined");
}

TEST(MathFunctions, RandIsSeededAndBelowOne) {
  Evaluator call;
  call.context.random.seed(7);
  const std::string first = call("RAND", "[]");
  for (int i = 0; i < 100; ++i) {
    const Value drawn = find_function("rand")->call({}, call.context);
    EXPECT_GE(drawn.number(), 0);
    EXPECT_LT(drawn.number(), 1);
  }
  call.context.random.seed(7);
  EXPECT_EQ(call("RAND", "[]"), first);
  EXPECT_EQ(find_function("RAND")->depends, Depends::row);
}

TEST(IntegerFunctions, Work) {
  Evaluator call;
  EXPECT_EQ(call("INTADD", "[20,10]"), "30");
  EXPECT_EQ(call("INTADD", "[20,0.10]"), "undefined");
  EXPECT_EQ(call("INTBITAND", "[15,25]"), "9");
  EXPECT_EQ(call("INTBITLEFTSHIFT", "[16,4]"), "256");
  EXPECT_EQ(call("INTBITLEFTSHIFT", "[1,40]"), "1099511627776");
  EXPECT_EQ(call("INTBITNOT", "[65]"), "-66");
  EXPECT_EQ(call("INTBITNOT", "[0.1]"), "undefined");
  EXPECT_EQ(call("INTBITOR", "[56,100]"), "124");
  EXPECT_EQ(call("INTBITRIGHTSHIFT", "[16,4]"), "1");
  EXPECT_EQ(call("INTBITXOR", "[56,100]"), "92");
  EXPECT_EQ(call("INTDIV", "[-10,-2]"), "5");
  EXPECT_EQ(call("INTDIV", "[7,-2]"), "-3");
  EXPECT_EQ(call("INTDIV", "[10,0]"), "undefined");
  EXPECT_EQ(call("INTDIV", "[-9223372036854775808,-1]"), "-9223372036854776000");
  EXPECT_EQ(call("INTMOD", "[12,-5]"), "2");
  EXPECT_EQ(call("INTMOD", "[-12,-5]"), "-2");
  EXPECT_EQ(call("INTMOD", "[12,0]"), "undefined");
  EXPECT_EQ(call("INTMOD", "[-9223372036854775808,-1]"), "0");
  EXPECT_EQ(call("INTMUL", "[5,-2]"), "-10");
  EXPECT_EQ(call("INTSUB", "[25,50]"), "-25");
  EXPECT_EQ(call("INTSUB", R"([25,"1"])"), "undefined");
  EXPECT_EQ(call("INTADD", "[1e300,1]"), "undefined");
}

TEST(TypeFunctions, AnswerForEveryType) {
  Evaluator call;
  const std::string_view values[] = {R"(["undefined"])", "[null]", "[true]", "[1]",
                                     R"(["x"])",         "[[]]",   "[{}]"};
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"IS_DEFINED", "0111111"},       {"IS_NULL", "0100000"},    {"IS_BOOL", "0010000"},
      {"IS_BOOLEAN", "0010000"},       {"IS_NUMBER", "0001000"},  {"IS_STRING", "0000100"},
      {"IS_ARRAY", "0000010"},         {"IS_OBJECT", "0000001"},  {"IS_PRIMITIVE", "0111100"},
      {"IS_FINITE_NUMBER", "0001000"}, {"IS_INTEGER", "0001000"}, {"IS_DATETIME", "0000000"},
  };
  for (const auto& [name, answers] : expected) {
    for (size_t i = 0; i < std::size(values); ++i) {
      EXPECT_EQ(call(name, values[i]), answers[i] == '1' ? "true" : "false") << name << values[i];
    }
  }
  EXPECT_EQ(call("IS_INTEGER", "[3454.123]"), "false");
  EXPECT_EQ(call("IS_INTEGER", "[-9223372036854775808]"), "true");
  EXPECT_EQ(call("IS_INTEGER", "[9223372036854775807]"), "true");
  EXPECT_EQ(call("IS_INTEGER", "[18446744073709551615]"), "false");
  const Value odd[] = {Value::make_number(std::numeric_limits<double>::infinity()),
                       Value::make_number(std::nan(""))};
  EXPECT_TRUE(find_function("IS_FINITE_NUMBER")->call({odd, 1}, call.context).is_false());
  EXPECT_TRUE(find_function("IS_FINITE_NUMBER")->call({odd + 1, 1}, call.context).is_false());
  EXPECT_TRUE(find_function("IS_INTEGER")->call({odd + 1, 1}, call.context).is_false());
}

TEST(ConditionalFunctions, Choose) {
  Evaluator call;
  EXPECT_EQ(call("IIF", "[true,123,456]"), "123");
  EXPECT_EQ(call("IIF", R"(["ABC",123,456])"), "456");
  EXPECT_EQ(call("IIF", R"(["undefined",123,456])"), "456");
  EXPECT_EQ(call("IIF", R"([true,"undefined",456])"), "undefined");
  EXPECT_EQ(call("CHOOSE", R"([1,"a","b"])"), R"("a")");
  EXPECT_EQ(call("CHOOSE", R"([0,"a","b"])"), "undefined");
  EXPECT_EQ(call("CHOOSE", R"([3,"a","b"])"), "undefined");
  EXPECT_EQ(call("CHOOSE", R"([1.5,"a","b"])"), "undefined");
  EXPECT_EQ(call("CHOOSE", R"([2,"undefined","b"])"), R"("b")");
}

TEST(ItemFunctions, Work) {
  Evaluator call;
  EXPECT_EQ(call("OBJECTTOARRAY", R"([{"a":"1","b":2}])"),
            R"([{"k":"a","v":"1"},{"k":"b","v":2}])");
  EXPECT_EQ(call("OBJECTTOARRAY", R"([{"a":null},"key","value"])"),
            R"([{"key":"a","value":null}])");
  EXPECT_EQ(call("OBJECTTOARRAY", R"([{},"key","value"])"), "[]");
  EXPECT_EQ(call("OBJECTTOARRAY", "[[1]]"), "undefined");
  EXPECT_EQ(call("DOCUMENTID", "[{}]"), "undefined");
  call.context.item_number = [](const Value& item) {
    return item.size() == 0 ? std::nullopt : std::optional<double>(13);
  };
  EXPECT_EQ(call("DOCUMENTID", R"([{"a":1}])"), "13");
  EXPECT_EQ(call("DOCUMENTID", "[{}]"), "undefined");
  EXPECT_EQ(call("DOCUMENTID", "[[1]]"), "undefined");
}

TEST(Registry, KnowsTheNames) {
  const auto all = all_functions();
  EXPECT_TRUE(std::ranges::is_sorted(all, std::ranges::less(), &Function::name));
  EXPECT_TRUE(std::ranges::adjacent_find(all, {}, &Function::name) == all.end());
  EXPECT_EQ(find_function("aBs"), find_function("ABS"));
  EXPECT_EQ(find_function("NOPE"), nullptr);
  EXPECT_EQ(find_function("COUNT"), nullptr);
  EXPECT_TRUE(is_rank_function("FullTextScore"));
  EXPECT_TRUE(is_rank_function("rrf"));
  EXPECT_FALSE(is_rank_function("ABS"));
}

TEST(Registry, SaysWhatIsWrong) {
  Evaluator call;
  EXPECT_EQ(call("Nope", "[]"), "'Nope' is not a recognized built-in function name.");
  EXPECT_EQ(call("abs", "[]"), "The ABS function requires 1 argument(s).");
  EXPECT_EQ(call("contains", R"(["a"])"), "The CONTAINS function requires 2 to 3 argument(s).");
  EXPECT_EQ(call("concat", R"(["a"])"), "The CONCAT function requires at least 2 argument(s).");
}

// No function may fail, whatever it is given.
TEST(Registry, EveryFunctionTakesEveryType) {
  Context context;
  const Value odd[] = {Value(),
                       Value::make_null(),
                       Value::make_bool(true),
                       Value::make_number(0),
                       Value::make_number(-1),
                       Value::make_number(1e308),
                       Value::make_number(std::nan("")),
                       Value::make_number(std::numeric_limits<double>::infinity()),
                       Value::borrow_string(""),
                       Value::borrow_string("é"),
                       Value::borrow_string("2024-02-29T23:59:59.9999999Z"),
                       Value::borrow_string("yyyy"),
                       parse("[]"),
                       parse("[1,[2],{}]"),
                       parse("{}"),
                       parse(R"({"type":"Point","coordinates":[0,90]})"),
                       parse(R"({"type":"Polygon","coordinates":[[[0,0],[0,0],[0,0],[0,0]]]})")};
  constexpr size_t kCount = std::size(odd);
  for (const Function& function : all_functions()) {
    for (size_t count = function.min_arguments;
         count <= std::min<size_t>(function.max_arguments, 4); ++count) {
      for (size_t i = 0; i < kCount * kCount; ++i) {
        std::vector<Value> arguments;
        for (size_t j = 0; j < count; ++j) {
          arguments.push_back(odd[(j % 2 == 0 ? i / kCount : i) % kCount]);
        }
        const Value result = function.call(arguments, context);
        EXPECT_EQ(result, result.to_owned()) << function.name;
      }
    }
  }
}

}  // namespace
}  // namespace orrery::query
