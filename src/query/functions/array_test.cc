// Array and set functions.
#include <gtest/gtest.h>

#include "query/functions/evaluator_fixture.h"

namespace orrery::query {
namespace {

TEST(ArrayFunctions, Contains) {
  Evaluator call;
  EXPECT_EQ(call("array_contains", R"([["coats","jackets"],"coats"])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([["coats","jackets"],"hoodies"])"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[{"a":1,"b":2}],{"b":2,"a":1}])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[{"a":1,"b":2}],{"a":1}])"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[{"a":1,"b":2}],{"a":1},true])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[{"a":1,"b":2}],{"a":2,"b":2},true])"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[{"a":{"x":1,"y":2}}],{"a":{"x":1}},true])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[5],{"a":1},true])"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[null],null])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[1],"1"])"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"(["abc","a"])"), "undefined");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"(["undefined",1])"), "undefined");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[1],"undefined"])"), "undefined");
  EXPECT_EQ(call("ARRAY_CONTAINS", R"([[1],1,"yes"])"), "undefined");
}

TEST(ArrayFunctions, ContainsAllAndAny) {
  Evaluator call;
  EXPECT_EQ(call("ARRAY_CONTAINS_ALL", R"([[1,true,"3",[1,2,3]],1,true,"3",[1,2,3]])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS_ALL", "[[1,2,3,4],2,3,4,5]"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS_ALL", R"([[1,2],1,"undefined"])"), "undefined");
  EXPECT_EQ(call("ARRAY_CONTAINS_ALL", R"([[1,2],5,"undefined"])"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS_ALL", "[[],1,2]"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS_ALL", "[null,1]"), "undefined");
  EXPECT_EQ(call("ARRAY_CONTAINS_ANY", "[[1,2,3,4],2,5]"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS_ANY", R"([[1,2],1,"undefined"])"), "true");
  EXPECT_EQ(call("ARRAY_CONTAINS_ANY", R"([[1,2],5,"undefined"])"), "undefined");
  EXPECT_EQ(call("ARRAY_CONTAINS_ANY", "[[],1,2]"), "false");
  EXPECT_EQ(call("ARRAY_CONTAINS_ANY", R"(["text",1])"), "undefined");
}

TEST(ArrayFunctions, ConcatLengthSlice) {
  Evaluator call;
  EXPECT_EQ(call("ARRAY_CONCAT", R"([["a"],["b","c"],[]])"), R"(["a","b","c"])");
  EXPECT_EQ(call("ARRAY_CONCAT", R"([["a"],"b"])"), "undefined");
  EXPECT_EQ(call("ARRAY_LENGTH", "[[70,86,92]]"), "3");
  EXPECT_EQ(call("ARRAY_LENGTH", "[[]]"), "0");
  EXPECT_EQ(call("ARRAY_LENGTH", "[null]"), "undefined");
  EXPECT_EQ(call("ARRAY_LENGTH", R"(["abc"])"), "undefined");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],1]"), "[2,3]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],-2]"), "[2,3]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],-2,1]"), "[2]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],-9,2]"), "[1,2]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],1,0]"), "[]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],1,1000]"), "[2,3]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],1,-100]"), "[]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],7]"), "[]");
  EXPECT_EQ(call("ARRAY_SLICE", "[[1,2,3],1e300,1e300]"), "[]");
  EXPECT_EQ(call("ARRAY_SLICE", R"([[1],"0"])"), "undefined");
}

TEST(ArrayFunctions, Aggregates) {
  Evaluator call;
  EXPECT_EQ(call("ARRAY_AVG", "[[1,2,3,4]]"), "2.5");
  EXPECT_EQ(call("ARRAY_AVG", "[[1,-2.7,3,-4]]"), "-0.675");
  EXPECT_EQ(call("ARRAY_AVG", R"([[12,"abc"]])"), "undefined");
  EXPECT_EQ(call("ARRAY_AVG", "[[]]"), "undefined");
  EXPECT_EQ(call("ARRAY_SUM", "[[1,2,3,4]]"), "10");
  EXPECT_EQ(call("ARRAY_SUM", "[[]]"), "0");
  EXPECT_EQ(call("ARRAY_SUM", R"([["a"]])"), "undefined");
  EXPECT_EQ(call("ARRAY_SUM", "[5]"), "undefined");
  EXPECT_EQ(call("ARRAY_MEDIAN", "[[4,1,3,2]]"), "2.5");
  EXPECT_EQ(call("ARRAY_MEDIAN", "[[1,2,3.3,4.7,7.8]]"), "3.3");
  EXPECT_EQ(call("ARRAY_MEDIAN", "[[1,-2.7,3,-4]]"), "-0.8500000000000001");
  EXPECT_EQ(call("ARRAY_MEDIAN", "[[]]"), "undefined");
  EXPECT_EQ(call("ARRAY_MAX", R"([["abc","ABC","aBc"]])"), R"("abc")");
  EXPECT_EQ(call("ARRAY_MAX", R"([[12,"abc",true,false,null]])"), R"("abc")");
  EXPECT_EQ(call("ARRAY_MAX", "[[1,[2]]]"), "undefined");
  EXPECT_EQ(call("ARRAY_MAX", "[[]]"), "undefined");
  EXPECT_EQ(call("ARRAY_MIN", R"([[12,"abc",true,false,null]])"), "null");
  EXPECT_EQ(call("ARRAY_MIN", "[[true,false]]"), "false");
  EXPECT_EQ(call("ARRAY_MIN", R"(["text"])"), "undefined");
}

TEST(SetFunctions, KeepNoDuplicates) {
  Evaluator call;
  EXPECT_EQ(call("SETINTERSECT", "[[1,2,3,4],[3,4,5,6]]"), "[3,4]");
  EXPECT_EQ(call("SETINTERSECT", "[[1,2,3,4],[]]"), "[]");
  EXPECT_EQ(call("SETINTERSECT", "[[1,2,3,4],[1,1,1,1]]"), "[1]");
  EXPECT_EQ(call("SETINTERSECT", R"([[1,2,"A","B"],["A",1]])"), R"(["A",1])");
  EXPECT_EQ(call("SETINTERSECT", R"([[{"a":1,"b":2}],[{"b":2,"a":1}]])"), R"([{"b":2,"a":1}])");
  EXPECT_EQ(call("SETINTERSECT", "[1,[1]]"), "undefined");
  EXPECT_EQ(call("SETUNION", "[[1,2,3,4],[3,4,5,6]]"), "[1,2,3,4,5,6]");
  EXPECT_EQ(call("SETUNION", R"([[1,2,"A","B"],["A",1]])"), R"([1,2,"A","B"])");
  EXPECT_EQ(call("SETDIFFERENCE", "[[1,2,3],[1,2,6,7]]"), "[3]");
  EXPECT_EQ(call("SETDIFFERENCE", "[[1,1,1,1],[2,3,4]]"), "[1]");
  EXPECT_EQ(call("SETDIFFERENCE", "[[],[1]]"), "[]");
  EXPECT_EQ(call("SETEQUAL", "[[1,2,3,3],[1,2,2,3,1,2]]"), "true");
  EXPECT_EQ(call("SETEQUAL", R"([[1,true,"abc"],[true,1,"abc"]])"), "true");
  EXPECT_EQ(call("SETEQUAL", "[[],[1]]"), "false");
  EXPECT_EQ(call("SETEQUAL", "[[],null]"), "undefined");
}

}  // namespace
}  // namespace orrery::query
