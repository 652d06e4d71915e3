// Aggregates: their rules, and that parts put together give what the whole gives.
#include "query/functions/aggregate.h"

#include <gtest/gtest.h>

#include "query/functions/evaluator_fixture.h"

namespace orrery::query {
namespace {

std::string aggregate(Aggregate kind, std::string_view values) {
  const std::vector<Value> all = parse_arguments(values);
  Accumulator whole(kind);
  for (const Value& value : all) whole.add(value);
  // Every way of cutting it in two, with one half through its state.
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    Accumulator first(kind);
    Accumulator second(kind);
    for (size_t i = 0; i < all.size(); ++i) (i < cut ? first : second).add(all[i]);
    const Value state = parse(second.state().to_json());
    first.merge(Accumulator::from_state(kind, state).value());
    EXPECT_EQ(show(first.result()), show(whole.result())) << values << cut;
  }
  return show(whole.result());
}

TEST(Aggregates, Count) {
  EXPECT_EQ(aggregate(Aggregate::count, R"([1,null,"undefined",{}])"), "3");
  EXPECT_EQ(aggregate(Aggregate::count, "[]"), "0");
  EXPECT_EQ(aggregate(Aggregate::count_if, R"([true,false,1,"undefined",true])"), "2");
}

TEST(Aggregates, SumAndAverage) {
  EXPECT_EQ(aggregate(Aggregate::sum, "[0,230,14,232,141]"), "617");
  EXPECT_EQ(aggregate(Aggregate::sum, R"([1,"undefined",2])"), "3");
  EXPECT_EQ(aggregate(Aggregate::sum, R"([1,"x",2])"), "undefined");
  EXPECT_EQ(aggregate(Aggregate::sum, "[1,null]"), "undefined");
  EXPECT_EQ(aggregate(Aggregate::sum, "[]"), "0");
  EXPECT_EQ(aggregate(Aggregate::sum, "[0.1,0.2,0.3]"), "0.6");
  EXPECT_EQ(aggregate(Aggregate::sum, "[1e16,1,-1e16]"), "1");
  EXPECT_EQ(aggregate(Aggregate::average, "[98,105]"), "101.5");
  EXPECT_EQ(aggregate(Aggregate::average, R"(["undefined"])"), "undefined");
  EXPECT_EQ(aggregate(Aggregate::average, "[1,true]"), "undefined");
}

TEST(Aggregates, MinAndMax) {
  EXPECT_EQ(aggregate(Aggregate::min, R"([3,"a",true,null,1])"), "null");
  EXPECT_EQ(aggregate(Aggregate::max, R"([3,"a",true,null,1])"), R"("a")");
  EXPECT_EQ(aggregate(Aggregate::max, R"([3,7,"undefined"])"), "7");
  EXPECT_EQ(aggregate(Aggregate::min, "[1,[1]]"), "undefined");
  EXPECT_EQ(aggregate(Aggregate::max, "[]"), "undefined");
}

TEST(Aggregates, Lists) {
  EXPECT_EQ(aggregate(Aggregate::make_list, R"([1,"a",1,"undefined",[1]])"), R"([1,"a",1,[1]])");
  EXPECT_EQ(aggregate(Aggregate::make_set, R"([1,"a",1.0,{"a":1,"b":2},{"b":2,"a":1}])"),
            R"([1,"a",{"a":1,"b":2}])");
  EXPECT_EQ(aggregate(Aggregate::make_list, "[]"), "[]");
}

TEST(Aggregates, NamesAndStates) {
  EXPECT_EQ(find_aggregate("avg"), Aggregate::average);
  EXPECT_EQ(find_aggregate("MakeSet"), Aggregate::make_set);
  EXPECT_EQ(find_aggregate("ABS"), std::nullopt);
  EXPECT_EQ(name_of(Aggregate::make_list), "MAKELIST");
  for (const std::string_view bad :
       {"1", "[]", "{}", R"({"count":-1})", R"({"count":1e300})", R"({"count":"x"})"}) {
    EXPECT_FALSE(Accumulator::from_state(Aggregate::sum, parse(bad)).has_value()) << bad;
  }
  EXPECT_FALSE(Accumulator::from_state(Aggregate::make_list, parse("{}")).has_value());
  Accumulator list(Aggregate::make_list);
  const size_t before = list.memory();
  list.add(parse("\"some text\""));
  EXPECT_GT(list.memory(), before);
}

}  // namespace
}  // namespace orrery::query
