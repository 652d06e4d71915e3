// Rows of a query, and what ends them. What expressions mean is in tests/golden.
#include "query/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <string_view>

#include "query/bind/bind.h"
#include "query/parse/parser.h"

namespace orrery::query {
namespace {

using value::Value;

class EvaluateTest : public testing::Test {
 protected:
  std::shared_ptr<const BoundQuery> bind(std::string_view text) {
    auto query = parse_query(text);
    EXPECT_TRUE(query) << text;
    auto bound = bind_query(*query, {});
    EXPECT_TRUE(bound) << text;
    return *bound;
  }

  Context context_;
};

TEST_F(EvaluateTest, RowsAreCombinations) {
  auto query = bind(
      "SELECT VALUE [x, y] FROM x IN (SELECT VALUE [1, 2]) JOIN y IN (SELECT VALUE ['a', 'b'])");
  Frame frame(query->slots, context_);
  std::string rows;
  EXPECT_TRUE(each_row(*query, frame, [&] {
    rows += project(*query, frame).to_json();
    return true;
  }));
  EXPECT_EQ(rows, R"([1,"a"][1,"b"][2,"a"][2,"b"])");
}

TEST_F(EvaluateTest, ComputedPropertiesReadLikeProperties) {
  ComputedProperties computed;
  computed.emplace("lower", parse_query("SELECT VALUE LOWER(item.name) FROM item").value());
  computed.emplace("name", parse_query("SELECT VALUE 'hides it' FROM c").value());
  auto json = value::JsonDocument::parse(R"({"name":"ANN","nested":{"lower":1}})").value();
  auto run = [&](std::string_view text) {
    auto query = bind_query(parse_query(text).value(), {}, computed).value();
    Frame frame(query->slots, context_);
    frame.slots[*query->document_slot] = Value::from(json.root());
    std::string rows;
    each_row(*query, frame, [&] {
      rows += project(*query, frame).to_json();
      return true;
    });
    return rows;
  };
  EXPECT_EQ(run("SELECT VALUE c.lower FROM c"), R"("ann")");
  EXPECT_EQ(run("SELECT VALUE x['lower'] FROM x WHERE x.lower = 'ann'"), R"("ann")");
  EXPECT_EQ(run("SELECT c.name, c.nested.lower FROM c"), R"({"name":"hides it","lower":1})");
  EXPECT_EQ(run("SELECT * FROM c"), R"({"name":"ANN","nested":{"lower":1}})");
  EXPECT_EQ(run("SELECT VALUE n.lower FROM c JOIN n IN (SELECT VALUE [c.nested])"), "1");
  EXPECT_EQ(run("SELECT VALUE (SELECT VALUE c.lower) FROM c"), R"("ann")");
}

TEST_F(EvaluateTest, StopsWhenToldTo) {
  auto query = bind("SELECT VALUE x FROM x IN (SELECT VALUE [1, 2, 3])");
  Frame frame(query->slots, context_);
  int rows = 0;
  EXPECT_FALSE(each_row(*query, frame, [&] { return ++rows < 2; }));
  EXPECT_EQ(rows, 2);
}

// Joins that would take for ever end when time is up, wherever in the query they are.
TEST_F(EvaluateTest, LongJoinsEndWithTheirTime) {
  constexpr std::string_view kTen = "(SELECT VALUE [1,2,3,4,5,6,7,8,9,10])";
  std::string joins = "a IN " + std::string(kTen);
  for (char name = 'b'; name < 'k'; ++name) {
    joins += std::string(" JOIN ") + name + " IN " + std::string(kTen);
  }
  for (const std::string& text :
       {"SELECT VALUE 1 FROM " + joins, "SELECT VALUE 1 FROM " + joins + " JOIN z IN a.none",
        "SELECT VALUE (SELECT VALUE COUNT(1) FROM " + joins + ")"}) {
    auto query = bind(text);
    Frame frame(query->slots, context_);
    int asked = 0;
    context_.budget.start({.stop = [&] { return ++asked == 3; }});
    each_row(*query, frame, [&] {
      project(*query, frame);
      return frame.ended() == Frame::Ended::no;
    });
    EXPECT_EQ(frame.ended(), Frame::Ended::time) << text;
  }
}

TEST_F(EvaluateTest, LargeSubqueriesEndTheQuery) {
  std::string many = "(SELECT VALUE [1,2,3,4,5,6,7,8,9,10])";
  std::string text = "SELECT VALUE ARRAY(SELECT VALUE {\"x\": a, \"y\": [b, d]} FROM a IN " + many;
  for (const char* name : {"b", "d", "e", "f", "g", "h", "i"}) {
    text += std::string(" JOIN ") + name + " IN " + many;
  }
  auto query = bind(text + ")");
  Frame frame(query->slots, context_);
  each_row(*query, frame, [&] {
    project(*query, frame);
    return true;
  });
  EXPECT_EQ(frame.ended(), Frame::Ended::memory);
}

}  // namespace
}  // namespace orrery::query
