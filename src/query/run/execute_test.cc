// Pages: where they end, how they go on, and what happens to items in between.
#include "query/run/execute.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/run/memory_space.h"

namespace orrery::query {
namespace {

// Items by row, which may change between pages.
class ExecuteTest : public testing::Test {
 protected:
  Result<QueryPage> page(std::string_view text, const Position* from, size_t rows) {
    auto query = parse_query(text);
    EXPECT_TRUE(query) << text;
    auto bound = bind_query(*query, {});
    EXPECT_TRUE(bound) << text;
    limits_.rows = rows;
    Context context;
    std::vector<MemorySpace::Placed> placed;
    for (const auto& [row, body] : items_) placed.push_back({"p", row, body});
    MemorySpace space(std::move(placed));
    return run_page(**bound, space, from, limits_, context);
  }

  std::map<std::string, std::string> items_ = {{"a", R"({"id":"a","l":[1,2,3]})"},
                                               {"b", R"({"id":"b","l":[]})"},
                                               {"c", R"({"id":"c","l":[4,5]})"}};
  PageLimits limits_;
};

constexpr std::string_view kElements = "SELECT VALUE e FROM c JOIN e IN c.l";

TEST_F(ExecuteTest, APageEndsAmongTheRowsOfAnItem) {
  auto first = page(kElements, nullptr, 2);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rows.strings(), (std::vector<std::string>{"1", "2"}));
  ASSERT_TRUE(first->next);
  EXPECT_EQ(first->next->key.back(), 'a');
  EXPECT_EQ(first->next->rows_of_it, 2U);
  auto second = page(kElements, &*first->next, 2);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows.strings(), (std::vector<std::string>{"3", "4"}));
}

TEST_F(ExecuteTest, ItReadsNoFurtherThanThePage) {
  auto first = page("SELECT VALUE c.id FROM c", nullptr, 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->read.items, 1U);
}

TEST_F(ExecuteTest, AnItemThatIsGoneTakesItsRowsWithIt) {
  auto first = page(kElements, nullptr, 2);
  ASSERT_TRUE(first && first->next);
  items_.erase("a");
  auto second = page(kElements, &*first->next, 10);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows.strings(), (std::vector<std::string>{"4", "5"}));
}

TEST_F(ExecuteTest, RowsWithoutAContainerComeInPages) {
  constexpr std::string_view kText = "SELECT VALUE x FROM x IN (SELECT VALUE [1, 2, 3])";
  auto first = page(kText, nullptr, 2);
  ASSERT_TRUE(first && first->next);
  auto second = page(kText, &*first->next, 2);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows.strings(), std::vector<std::string>{"3"});
  EXPECT_FALSE(second->next);
}

TEST_F(ExecuteTest, TheLastPageSaysSo) {
  auto all = page("SELECT TOP 2 VALUE c.id FROM c", nullptr, 10);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rows.size(), 2U);
  EXPECT_FALSE(all->next);
}

TEST_F(ExecuteTest, BytesEndAPage) {
  limits_.bytes = 1;
  auto first = page("SELECT VALUE c.id FROM c", nullptr, 10);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rows.size(), 1U);
  EXPECT_TRUE(first->next);
}

TEST_F(ExecuteTest, TimeEndsAPageBetweenItems) {
  limits_.stop = [] { return true; };
  auto first = page("SELECT VALUE c.id FROM c", nullptr, 10);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rows.strings(), std::vector<std::string>{"\"a\""});
  EXPECT_TRUE(first->next);
}

// On a machine that stands still, time is up before anything was done.
TEST_F(ExecuteTest, TimeEndsNoPageThatTakesFewSteps) {
  limits_.stop = [] { return true; };
  for (const std::string_view text :
       {"SELECT VALUE c.id FROM c", "SELECT DISTINCT VALUE c.id FROM c GROUP BY c.id",
        "SELECT VALUE x.id FROM (SELECT c.id FROM c ORDER BY c.id) x"}) {
    limits_.free_steps = 100'000;
    auto all = page(text, nullptr, 10);
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->rows.size(), 3U) << text;
    limits_.free_steps = 0;
    auto some = page(text, nullptr, 10);
    EXPECT_TRUE(!some || some->rows.size() < 3) << text;
  }
}

// One item with more combinations than can be looked at: the page ends with what it has, and goes
// on from there.
TEST_F(ExecuteTest, TimeEndsAPageWithinAnItem) {
  std::string list = "[0";
  for (int i = 1; i < 200; ++i) list += "," + std::to_string(i);
  items_ = {{"a", "{\"l\":" + list + "]}"}};
  limits_.stop = [] { return true; };
  constexpr std::string_view kText =
      "SELECT VALUE x FROM c JOIN x IN c.l JOIN y IN c.l JOIN z IN c.l";
  auto first = page(kText, nullptr, 1'000'000);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GT(first->rows.size(), 100U);
  EXPECT_LT(first->rows.size(), 10'000U);
  ASSERT_TRUE(first->next);
  EXPECT_EQ(first->next->rows_of_it, first->rows.size());
  auto none = page("SELECT VALUE x FROM c JOIN x IN c.l JOIN y IN c.l JOIN z IN c.l WHERE z < 0",
                   nullptr, 10);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::invalid);
}

TEST_F(ExecuteTest, AQueryInFromSeesAllItems) {
  auto count = page(
      "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE ARRAY_LENGTH(c.l) > 0 "
      "FROM c)",
      nullptr, 10);
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(count->rows.strings(), std::vector<std::string>{"2"});
  EXPECT_EQ(count->read.items, 3U);
}

TEST_F(ExecuteTest, AStoredItemThatIsNoJsonIsAnError) {
  items_["a"] = "{";
  auto broken = page("SELECT * FROM c", nullptr, 10);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::corrupt);
}

}  // namespace
}  // namespace orrery::query
