// Time that runs out: a page ends early, and the next one goes on from there, until every row was
// given once.
#include "query/run/indexed_space.h"
#include "query/run/paging_test.h"

namespace orrery::query {
namespace {

TEST_F(PagingTest, AggregatesGoOnWhenTimeIsUp) {
  for (const std::string_view text :
       {"SELECT VALUE COUNT(1) FROM c", "SELECT VALUE COUNT(c.nothing) FROM c",
        "SELECT SUM(c.n) AS s, MIN(c.t) AS t, MAX(c.id) AS m, AVG(c.g) AS a FROM c",
        "SELECT VALUE COUNT(1) FROM c JOIN e IN c.l WHERE e = 1"}) {
    limits_.stop = nullptr;
    const Rows whole = rest(text);
    int asked = 0;
    limits_.stop = [&asked] { return ++asked % 9 == 0; };
    auto first = page(text, nullptr);
    ASSERT_TRUE(first && first->next) << text;
    EXPECT_TRUE(first->rows.empty()) << text;
    EXPECT_LT(first->read.items, 10U) << text;
    EXPECT_EQ(rest(text), whole) << text;
  }
}

TEST_F(PagingTest, GroupsGoOnWhenTimeIsUp) {
  int asked = 0;
  for (const size_t position_bytes : {200, 600, 100'000}) {
    limits_.position_bytes = position_bytes;
    for (const std::string_view text :
         {"SELECT c.g, COUNT(1) AS n, MAX(c.id) AS m FROM c GROUP BY c.g",
          "SELECT c.nothing, c.t, SUM(c.n) AS s FROM c GROUP BY c.nothing, c.t",
          "SELECT DISTINCT VALUE c.n FROM c"}) {
      limits_.stop = nullptr;
      const Rows whole = sorted(rest(text));
      limits_.stop = [&asked] { return ++asked % 9 == 0; };
      EXPECT_EQ(sorted(rest(text)), whole) << text;
    }
  }
}

// For clients that add up: every page gives what it has gathered, and none of it is in the
// position.
TEST_F(PagingTest, PartsAreGivenWhenTimeIsUp) {
  const auto total = [](const Rows& rows) {
    std::map<std::string, int> sums;
    for (const std::string& row : rows) {
      const size_t comma = row.rfind(',');
      sums[row.substr(0, comma)] += std::stoi(row.substr(comma + 1));
    }
    return sums;
  };
  for (const std::string_view text :
       {"SELECT VALUE [0, COUNT(1)] FROM c", "SELECT VALUE [0, SUM(c.n)] FROM c WHERE c.n > 5",
        "SELECT VALUE [c.g, COUNT(1)] FROM c GROUP BY c.g",
        "SELECT VALUE [c.t, c.g, SUM(c.n)] FROM c GROUP BY c.t, c.g"}) {
    limits_ = {.rows = 1000};
    const auto whole = total(rest(text));
    for (const int every : {1, 9}) {
      int asked = 0;
      limits_ = {.rows = 1000, .position_bytes = 200, .gives_parts = true, .stop = [&] {
                   return ++asked % every == 0;
                 }};
      std::optional<Position> at;
      int pages = 0;
      do {
        auto next = page(text, at ? &*at : nullptr);
        ASSERT_TRUE(next) << text << ": " << next.error().message;
        EXPECT_FALSE(next->rows.empty()) << text << " on page " << pages;
        at = next->next;
        if (at) EXPECT_EQ(at->gathered, "") << text;
        ++pages;
      } while (at);
      EXPECT_GT(pages, 2) << text;
      EXPECT_EQ(total(rest(text)), whole) << text;
      EXPECT_EQ(total(divided_after(2, text, "125")), whole) << text;
    }
  }
  // Those that nobody can add up are gathered all the same.
  for (const std::string_view text :
       {"SELECT DISTINCT VALUE c.g FROM c",
        "SELECT VALUE [c.g, COUNT(1)] FROM c GROUP BY c.g OFFSET 1 LIMIT 2"}) {
    limits_ = {.rows = 1000};
    const Rows whole = sorted(rest(text));
    limits_.gives_parts = true;
    limits_.stop = [] { return true; };
    EXPECT_EQ(sorted(rest(text)), whole) << text;
  }
}

// The parts of a partition that was divided while groups were gathered: each gathers again what was
// not given yet, and a client adds up what the parts give.
TEST_F(PagingTest, GroupsGoOnInTheHalvesOfAPartition) {
  using Counts = std::map<std::string, int>;
  const auto counts_of = [](const Rows& rows) {
    Counts counts;
    for (const std::string& row : rows) {
      const size_t comma = row.rfind(',');
      counts[row.substr(0, comma)] += std::stoi(row.substr(comma + 1));
    }
    return counts;
  };
  for (const std::string_view text : {"SELECT VALUE [c.g, COUNT(1)] FROM c GROUP BY c.g",
                                      "SELECT VALUE [c.t, c.g, SUM(c.n)] FROM c GROUP BY c.t, c.g",
                                      "SELECT DISTINCT VALUE [c.n, 0] FROM c"}) {
    limits_ = {.rows = 1000};
    const Counts whole = counts_of(rest(text));
    for (const std::string_view bound : {"105", "125", "159"}) {
      for (int pages = 1; pages < 9; ++pages) {
        int asked = 0;
        limits_ = {.rows = 3, .position_bytes = 300, .stop = [&] { return ++asked % 23 == 0; }};
        const Rows rows = divided_after(pages, text, bound);
        EXPECT_EQ(counts_of(rows), whole) << text << " after " << pages << ", at " << bound;
      }
    }
  }
}

// Without an index, a page of ORDER BY has to see all items before it can give a row.
TEST_F(PagingTest, SortingGoesOnWhenTimeIsUp) {
  for (const std::string_view text :
       {"SELECT VALUE c.n FROM c ORDER BY c.n", "SELECT VALUE c.id FROM c ORDER BY c.g DESC",
        "SELECT VALUE c.id FROM c ORDER BY c.t, c.n DESC",
        "SELECT VALUE [c.id, e] FROM c JOIN e IN c.l ORDER BY c.g",
        "SELECT VALUE c.id FROM c ORDER BY c.nothing",
        "SELECT VALUE c.n FROM c WHERE c.n < 0 ORDER BY c.n",
        "SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 7 LIMIT 20",
        "SELECT TOP 11 VALUE c.n FROM c ORDER BY c.n", "SELECT * FROM c ORDER BY c.n % 10",
        "SELECT VALUE c.n FROM c ORDER BY c.n / 0",
        "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.g DESC",
        "SELECT DISTINCT c.g, c.t FROM c ORDER BY c.t, c.g OFFSET 2 LIMIT 9"}) {
    limits_ = {.rows = 1000};
    const Rows whole = rest(text);
    for (const size_t position_bytes : {120, 300, 100'000}) {
      for (const int items : {1, 9, 59}) {
        limits_ = {.rows = 10, .position_bytes = position_bytes};
        int asked = 0;
        limits_.stop = [&] { return ++asked % items == 0; };
        EXPECT_EQ(rest(text), whole) << text << " by " << items << " items, " << position_bytes;
      }
    }
    limits_.position_bytes = 4096;
    limits_.stop = [] { return true; };
    auto first = page(text, nullptr);
    ASSERT_TRUE(first && first->next) << text;
    EXPECT_TRUE(first->rows.empty()) << text;
    EXPECT_EQ(first->read.items, 1U) << text;
  }
}

// Time is up among the rows of an item, which the next page then starts with.
TEST_F(PagingTest, SortingGoesOnAtAnItemOfManyRows) {
  items_.clear();
  std::string list = "0";
  for (int n = 1; n < 80; ++n) list += "," + std::to_string(n);
  for (int i = 0; i < 6; ++i) {
    items_[std::to_string(i)] = "{\"n\":" + std::to_string(i) + ",\"l\":[" + list + "]}";
  }
  constexpr std::string_view kText =
      "SELECT VALUE [c.n, a, b] FROM c JOIN a IN c.l JOIN b IN c.l ORDER BY c.n DESC";
  limits_ = {.rows = 100'000};
  const Rows whole = rest(kText);
  EXPECT_EQ(whole.size(), 6 * 80 * 80U);
  limits_ = {.rows = 2000, .position_bytes = 100'000};
  Rows rows;
  std::optional<Position> at;
  int empty_pages = 0;
  do {
    // Enough for some items, and not for all of them.
    limits_.stop = [asked = 0]() mutable { return ++asked == 16; };
    auto next = page(kText, at ? &*at : nullptr);
    ASSERT_TRUE(next) << next.error().message;
    rows.insert(rows.end(), next->rows.begin(), next->rows.end());
    if (next->rows.empty()) ++empty_pages;
    at = next->next;
  } while (at);
  EXPECT_EQ(rows, whole);
  EXPECT_GT(empty_pages, 0);
}

// What one page found is given by a later one only if it is still there.
TEST_F(PagingTest, SortingGoesOnAmongItemsThatComeAndGo) {
  for (const std::string_view text :
       {"SELECT VALUE c.n FROM c ORDER BY c.n", "SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n"}) {
    items_.clear();
    for (int i = 0; i < 20; ++i) {
      items_[std::to_string(100 + i)] = "{\"n\":" + std::to_string(i / 2) + "}";
    }
    int asked = 0;
    limits_ = {.rows = 6, .position_bytes = 1000, .stop = [&] { return ++asked % 10 == 0; }};
    auto first = page(text, nullptr);
    ASSERT_TRUE(first && first->next && !first->next->gathered.empty()) << text;
    items_.erase("100");  // its like is still there
    items_["102"] = "{\"n\":2.5}";
    items_["103"] = "{\"n\":99}";
    const bool is_distinct = text.contains("DISTINCT");
    const Rows expected = is_distinct
                              ? Rows{"0", "2", "2.5", "3", "4", "5", "6", "7", "8", "9", "99"}
                              : Rows{"0", "2", "2", "2.5", "3", "3", "4", "4", "5", "5",
                                     "6", "6", "7", "7",   "8", "8", "9", "9", "99"};
    EXPECT_EQ(rest(text, first->next), expected) << text;
  }
}

TEST_F(PagingTest, SortingGoesOnInTheHalvesOfAPartition) {
  for (const std::string_view text :
       {"SELECT VALUE c.n FROM c ORDER BY c.n", "SELECT VALUE c.id FROM c ORDER BY c.g DESC, c.t",
        "SELECT VALUE [c.id, e] FROM c JOIN e IN c.l ORDER BY c.g"}) {
    limits_ = {.rows = 1000};
    const Rows whole = sorted(rest(text));
    for (const std::string_view bound : {"105", "125", "159"}) {
      for (int pages = 1; pages < 12; ++pages) {
        int asked = 0;
        limits_ = {.rows = 4, .position_bytes = 300, .stop = [&] { return ++asked % 25 == 0; }};
        const Rows rows = divided_after(pages, text, bound);
        EXPECT_EQ(sorted(rows), whole) << text << " after " << pages << ", at " << bound;
      }
    }
  }
}

// In each of the views the index has the order, or has it not, or is being made between two pages.
TEST_F(PagingTest, OrderGoesOnOverSeveralViewsWhenTimeIsUp) {
  std::vector<IndexedSpace::Placed> items;
  for (int i = 0; i < 80; ++i) {
    items.push_back({.placement = std::string(1, static_cast<char>('a' + i * 7 % 6)),
                     .row = std::to_string(100 + i),
                     .body = "{\"i\":" + std::to_string(i) + ",\"g\":" + std::to_string(i % 4) +
                             (i % 5 == 0 ? "" : ",\"n\":" + std::to_string(i % 11)) + "}"});
  }
  IndexedSpace::Options options{.bounds = {"c", "e"},
                                .estimate = IndexedSpace::Options::Estimate::everything};
  IndexedSpace indexed(items, options);
  options.is_indexed = false;
  IndexedSpace unindexed(items, options);
  options.bounds = {"b", "c", "d", "e"};
  IndexedSpace divided(items, options);
  options.is_indexed = true;
  IndexedSpace divided_indexed(items, options);
  for (const std::string_view text :
       {"SELECT VALUE c.i FROM c ORDER BY c.n", "SELECT VALUE c.i FROM c ORDER BY c.n DESC",
        "SELECT * FROM c ORDER BY c.n", "SELECT VALUE c.i FROM c WHERE c.g + 0 = 1 ORDER BY c.n",
        "SELECT VALUE c.i FROM c WHERE c.i > 75 AND c.g + 0 > 0 ORDER BY c.n OFFSET 1 LIMIT 2",
        "SELECT VALUE c.missing FROM c ORDER BY c.n"}) {
    const auto bound_query = bound(text);
    const auto rows_of = [&](const std::vector<ItemSpace*>& spaces, const PageLimits& limits) {
      Rows rows;
      std::optional<Position> at;
      for (size_t pages = 0; pages < 2000; ++pages) {
        Context context;
        auto page = run_page(*bound_query, *spaces[pages % spaces.size()], at ? &*at : nullptr,
                             limits, context);
        EXPECT_TRUE(page) << text << ": " << page.error().message;
        if (!page) return rows;
        rows.insert(rows.end(), page->rows.begin(), page->rows.end());
        if (!page->next) return rows;
        at = page->next;
      }
      ADD_FAILURE() << text << " does not end";
      return rows;
    };
    const Rows whole = rows_of({&unindexed}, {.rows = 1000});
    const std::vector<std::vector<ItemSpace*>> all = {
        {&indexed}, {&unindexed}, {&indexed, &unindexed}, {&indexed, &divided, &divided_indexed}};
    for (size_t spaces = 0; spaces < all.size(); ++spaces) {
      for (const int every : {1, 2, 7, 30}) {
        int asked = 0;
        PageLimits limits{.rows = 5, .position_bytes = 300};
        limits.stop = [&] { return ++asked % every == 0; };
        EXPECT_EQ(rows_of(all[spaces], limits), whole)
            << text << ", spaces " << spaces << ", every " << every;
      }
    }
  }
}

TEST_F(PagingTest, WhatCannotGoOnSaysSo) {
  limits_.stop = [] { return true; };
  limits_.position_bytes = 150;
  auto list = page("SELECT MAKELIST(c) AS l FROM c", nullptr);
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, Code::invalid);
  limits_.position_bytes = 20;
  auto order = page("SELECT * FROM c ORDER BY c.n", nullptr);
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().code, Code::invalid);
  EXPECT_TRUE(order.error().message.contains("composite index")) << order.error().message;
  auto groups = page("SELECT c.g FROM c GROUP BY c.g ORDER BY c.g", nullptr);
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().code, Code::invalid);
}
}  // namespace
}  // namespace orrery::query
