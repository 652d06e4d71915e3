// Positions: every row once, whatever the query, the size of the page, and what happens between two
// pages: items that come, go and change, a partition that is divided. Time that runs out is in
// paging_time_test.cc.
#include "query/run/paging_test.h"

#include "query/evaluate/order_values.h"
#include "query/run/indexed_space.h"

namespace orrery::query {
namespace {

constexpr std::string_view kPagedQueries[] = {
    "SELECT VALUE c.id FROM c",
    "SELECT VALUE e FROM c JOIN e IN c.l",
    "SELECT VALUE c.id FROM c OFFSET 7 LIMIT 20",
    "SELECT VALUE c.n FROM c ORDER BY c.n",
    "SELECT VALUE c.id FROM c ORDER BY c.g DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.t, c.n DESC",
    "SELECT c.id, e FROM c JOIN e IN c.l ORDER BY c.g",
    "SELECT VALUE c.id FROM c ORDER BY c.nothing",
    "SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 7 LIMIT 20",
    "SELECT TOP 11 VALUE c.n FROM c ORDER BY c.n",
    "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.g DESC",
    "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.n",
    "SELECT DISTINCT c.g, c.t FROM c ORDER BY c.t OFFSET 2 LIMIT 9",
    "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g ORDER BY c.g DESC",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT SUM(c.n) AS s, MIN(c.t) AS t, AVG(c.g) AS a FROM c",
    "SELECT VALUE g FROM (SELECT DISTINCT VALUE c.g FROM c) g ORDER BY g",
};
constexpr std::string_view kUnordered[] = {
    "SELECT DISTINCT VALUE c.g FROM c",
    "SELECT DISTINCT c.g, c.t FROM c",
    "SELECT c.g, c.t, COUNT(1) AS n, SUM(c.n) AS s, MAX(c.id) AS m FROM c GROUP BY c.g, c.t",
    "SELECT VALUE COUNT(1) FROM c GROUP BY c.n",
    "SELECT c.nothing, COUNT(1) AS n FROM c GROUP BY c.nothing",
    "SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.g",
    "SELECT VALUE g FROM (SELECT DISTINCT VALUE c.g FROM c) g",
    "SELECT VALUE e FROM (SELECT VALUE c.l FROM c ORDER BY c.n) AS x JOIN e IN x",
};

TEST_F(PagingTest, PagesOfAnySizeGiveTheSameRows) {
  for (const std::string_view text : kPagedQueries) {
    limits_.rows = 1000;
    const Rows whole = rest(text);
    EXPECT_FALSE(whole.empty()) << text;
    for (const size_t rows : {1, 2, 7}) {
      limits_.rows = rows;
      EXPECT_EQ(rest(text), whole) << text << " in pages of " << rows;
    }
  }
  for (const std::string_view text : kUnordered) {
    limits_.rows = 1000;
    const Rows whole = sorted(rest(text));
    for (const size_t rows : {1, 2, 7}) {
      limits_.rows = rows;
      EXPECT_EQ(sorted(rest(text)), whole) << text << " in pages of " << rows;
    }
  }
}

// So that a client asks no more than it has to, and can tell when a partition is done.
TEST_F(PagingTest, TheLastPageSaysThatItIs) {
  std::vector<std::string_view> texts(std::begin(kPagedQueries), std::end(kPagedQueries));
  texts.insert(texts.end(), std::begin(kUnordered), std::end(kUnordered));
  texts.insert(texts.end(), {
                                "SELECT * FROM c",
                                "SELECT VALUE c.id FROM c WHERE c.g < 2",  // none at the end
                                "SELECT VALUE e FROM c JOIN e IN c.l WHERE c.n < 30 AND e < 3",
                                "SELECT VALUE c.n < 30 ? c.n : undefined FROM c",
                                "SELECT VALUE e FROM (SELECT VALUE [1, 2, 3, 4]) l JOIN e IN l",
                            });
  for (const std::string_view text : texts) {
    limits_.rows = 1000;
    const size_t all = rest(text).size();
    for (const size_t rows : {size_t{1}, size_t{2}, size_t{3}, all / 2, all}) {
      if (rows == 0) continue;
      limits_.rows = rows;
      size_t pages = 0;
      std::optional<Position> at;
      do {
        auto next = page(text, at ? &*at : nullptr);
        ASSERT_TRUE(next) << text;
        EXPECT_FALSE(next->rows.empty()) << text << " in pages of " << rows;
        at = std::move(next->next);
        ++pages;
      } while (at && pages <= all);
      EXPECT_EQ(pages, (all + rows - 1) / rows) << text << " in pages of " << rows;
    }
  }
}

// What a full page reads to find out is charged to the page that gives it.
TEST_F(PagingTest, LookingForAnotherPageIsNotCharged) {
  limits_.rows = 4;
  auto first = page("SELECT * FROM c", nullptr);
  ASSERT_TRUE(first && first->next);
  EXPECT_EQ(first->read.items, 4U);
  EXPECT_EQ(first->read.matched, 4U);
  // Items that give no row are read once: by the page that passes over them.
  uint64_t read = 0;
  std::optional<Position> at;
  do {
    auto next = page("SELECT VALUE c.id FROM c WHERE c.g = 3", at ? &*at : nullptr);
    ASSERT_TRUE(next);
    read += next->read.items;
    at = std::move(next->next);
  } while (at);
  EXPECT_EQ(read, items_.size());
}

// As they were made where one page holds all rows; otherwise by key, whatever the size of the page.
TEST_F(PagingTest, TheOldestComeFirstWhenOnePageHoldsAll) {
  limits_.made = [](std::string_view body) {
    const size_t at = body.find("\"n\":") + 4;
    return std::stoull(std::string(body.substr(at, 3)));
  };
  Rows by_age;
  for (int i = 0; i < 60; ++i) by_age.push_back(std::to_string(i));
  limits_.rows = 60;
  EXPECT_EQ(rest("SELECT VALUE c.n FROM c"), by_age);
  EXPECT_EQ(rest("SELECT VALUE c.n FROM c JOIN e IN c.l").size(), 120U);
  EXPECT_EQ(page("SELECT * FROM c", nullptr)->rows.front(), items_.at("100"));  // n is 0
  limits_.rows = 59;
  EXPECT_NE(rest("SELECT VALUE c.n FROM c"), by_age);
  EXPECT_EQ(sorted(rest("SELECT VALUE c.n FROM c")), sorted(by_age));
  limits_.rows = 1000;
  const Rows first = rest("SELECT TOP 5 VALUE c.n FROM c");
  limits_.rows = 2;
  EXPECT_EQ(rest("SELECT TOP 5 VALUE c.n FROM c"), first);
  const Rows joined = rest("SELECT VALUE [c.n, e] FROM c JOIN e IN c.l WHERE c.n < 2");
  limits_.rows = 1000;
  EXPECT_EQ(sorted(rest("SELECT VALUE [c.n, e] FROM c JOIN e IN c.l WHERE c.n < 2")),
            sorted(joined));
}

TEST_F(PagingTest, LimitsCountOverPages) {
  for (const std::string_view text : {"SELECT DISTINCT c.g, c.t FROM c OFFSET 4 LIMIT 9",
                                      "SELECT c.n FROM c GROUP BY c.n OFFSET 4 LIMIT 9",
                                      "SELECT TOP 9 c.n FROM c GROUP BY c.n"}) {
    for (const size_t rows : {1, 4, 1000}) {
      limits_.rows = rows;
      Rows got = sorted(rest(text));
      EXPECT_EQ(got.size(), 9U) << text;
      EXPECT_EQ(std::ranges::unique(got).size(), 0U) << text;
    }
  }
}

// A position whose order values were too long to keep is found again by the row itself.
TEST_F(PagingTest, OrderValuesCanBeLeftOut) {
  forgets_order_ = true;
  for (const std::string_view text : kPagedQueries) {
    limits_.rows = 1000;
    const Rows whole = rest(text);
    limits_.rows = 4;
    EXPECT_EQ(rest(text), whole) << text;
  }
  constexpr std::string_view kText = "SELECT VALUE c.n FROM c ORDER BY c.n";
  auto first = page(kText, nullptr);
  ASSERT_TRUE(first && first->next);
  first->next->order.clear();
  for (auto& [id, body] : items_) body = "{\"id\":\"" + id + "\",\"n\":-1}";
  auto changed = page(kText, &*first->next);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::invalid);
  items_.clear();
  EXPECT_FALSE(page(kText, &*first->next));
}

// A place in an order is the same whatever the filter: clients go on with a narrower one.
TEST_F(PagingTest, AnOrderGoesOnWithAnotherFilter) {
  limits_.rows = 10;
  for (const bool forgets : {false, true}) {
    auto first = page("SELECT VALUE c.n FROM c WHERE true ORDER BY c.n", nullptr);
    ASSERT_TRUE(first && first->next);
    if (forgets) first->next->order.clear();
    forgets_order_ = forgets;
    // The last row of the first page is 9, and does not pass this one.
    const Rows more = rest("SELECT VALUE c.n FROM c WHERE c.n >= 12 ORDER BY c.n", first->next);
    ASSERT_EQ(more.size(), 48U);
    EXPECT_EQ(more[0], "12");
  }
}

TEST_F(PagingTest, AnOrderStartsAtItsValues) {
  limits_.rows = 4;
  for (const std::string_view text :
       {"SELECT c.g, c.id FROM c ORDER BY c.g", "SELECT c.g, c.id FROM c ORDER BY c.g DESC",
        "SELECT DISTINCT c.g, c.t FROM c ORDER BY c.g",
        "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g ORDER BY c.g DESC"}) {
    const auto query = bound(text);
    const bool descending = text.ends_with("DESC");
    const Rows all = rest(text);
    for (const bool after_them : {false, true}) {
      Rows expected;
      for (const std::string& row : all) {
        const int g = row[5] - '0';  // {"g":4
        if (g == 4 ? !after_them : (g > 4) != descending) expected.push_back(row);
      }
      const OrderValues values{value::Value::make_number(4)};
      auto from = at_order_values(*query, values, after_them, {});
      ASSERT_TRUE(from) << text;
      EXPECT_EQ(rest(text, *from), expected) << text << (after_them ? " after" : " from");
      // It is sent with every page: the later place counts.
      auto first = page(text, &*from);
      ASSERT_TRUE(first) << text;
      if (first->next) {
        EXPECT_EQ(at_order_values(*query, values, after_them, *first->next).value(), *first->next);
      }
      auto begun = page(text, nullptr);
      ASSERT_TRUE(begun && begun->next) << text;
      auto later = at_order_values(*query, values, after_them, *begun->next);
      ASSERT_TRUE(later) << text;
      const size_t given = query->distinct || query->grouped() ? 0 : begun->rows.size();
      if (given > 0) EXPECT_EQ(rest(text, *later), expected) << text;
    }
    EXPECT_FALSE(at_order_values(*query, {}, false, {})) << text;
  }
}

// After two pages the partition is divided; each half goes on from where the whole one was.
TEST_F(PagingTest, APositionHoldsInTheHalvesOfAPartition) {
  limits_.rows = 4;
  for (const std::string_view text :
       {"SELECT VALUE c.id FROM c", "SELECT VALUE e FROM c JOIN e IN c.l",
        "SELECT VALUE c.id FROM c ORDER BY c.n", "SELECT VALUE c.id FROM c ORDER BY c.g DESC, c.t",
        "SELECT VALUE COUNT(1) FROM c GROUP BY c.n"}) {
    const Rows got = sorted(divided_after(2, text, "125"));
    limits_.rows = 1000;
    EXPECT_EQ(got, sorted(rest(text))) << text;
    limits_.rows = 4;
  }
  // Both halves have some of the groups that were not given yet; none that were.
  limits_.rows = 2;
  Rows got = sorted(divided_after(2, "SELECT DISTINCT VALUE c.g FROM c", "125"));
  Rows given = page("SELECT DISTINCT VALUE c.g FROM c", nullptr)->rows.strings();
  for (const std::string& row : given) EXPECT_EQ(std::ranges::count(got, row), 1) << row;
  const auto repeated = std::ranges::unique(got);
  got.erase(repeated.begin(), repeated.end());
  EXPECT_EQ(got.size(), 7U);
}

// Items of three views, by a composite index and without: the same rows in the same order.
TEST_F(PagingTest, CompositesGiveTheSamePagesOverSeveralViews) {
  std::vector<IndexedSpace::Placed> items;
  for (int i = 0; i < 60; ++i) {
    items.push_back({.placement = std::string(1, static_cast<char>('a' + i * 7 % 6)),
                     .row = std::to_string(100 + i),
                     .body = "{\"i\":" + std::to_string(i) + ",\"g\":" + std::to_string(i % 4) +
                             (i % 5 == 0 ? "" : ",\"n\":" + std::to_string(i % 3)) + "}"});
  }
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.composites.push_back({{{value::parse_property_path("/g").value(), true},
                                    {value::parse_property_path("/n").value(), false}}});
  IndexedSpace::Options options{.policy = value::IndexPolicy(definition), .bounds = {"c", "e"}};
  IndexedSpace indexed(items, options);
  options.is_indexed = false;
  IndexedSpace sorted(items, options);
  const auto rows_of = [](ItemSpace& space, const std::string& text, size_t page_rows) {
    const auto bound = bind_query(parse_query(text).value(), {}).value();
    std::vector<std::string> rows;
    std::optional<Position> position;
    do {
      Context context;
      PageLimits limits;
      limits.rows = page_rows;
      auto page = run_page(*bound, space, position ? &*position : nullptr, limits, context);
      EXPECT_TRUE(page) << page.error().message;
      if (!page) break;
      rows.insert(rows.end(), page->rows.begin(), page->rows.end());
      position = page->next;
    } while (position);
    return rows;
  };
  for (const char* rest :
       {"ORDER BY c.g DESC, c.n", "ORDER BY c.g, c.n DESC", "WHERE c.g = 2 ORDER BY c.n",
        "WHERE c.g = 2 AND c.n > 0 ORDER BY c.n DESC", "WHERE c.g > 1 ORDER BY c.g DESC, c.n"}) {
    const std::string text = std::string("SELECT VALUE c.i FROM c ") + rest;
    const auto expected = rows_of(sorted, text, 1000);
    EXPECT_FALSE(expected.empty()) << text;
    for (const size_t page_rows : {1, 2, 7, 1000}) {
      EXPECT_EQ(rows_of(indexed, text, page_rows), expected) << text << " by " << page_rows;
    }
  }
}

TEST_F(PagingTest, ItemsThatComeAndGoDoNotMoveTheOthers) {
  limits_.rows = 10;
  constexpr std::string_view kText = "SELECT VALUE c.n FROM c ORDER BY c.n";
  auto first = page(kText, nullptr);
  ASSERT_TRUE(first && first->next);
  items_["000"] = "{\"id\":\"000\",\"n\":-5}";  // before the position: too late for it
  items_["999"] = "{\"id\":\"999\",\"n\":9.5}";
  std::erase_if(items_,
                [](const auto& item) { return item.second.find("\"n\":3,") != std::string::npos; });
  auto second = page(kText, &*first->next);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows[0], "9.5");
  EXPECT_EQ(second->rows[1], "10");
}

TEST_F(PagingTest, WhatFitsComesInTheOrderInWhichItCame) {
  EXPECT_EQ(rest("SELECT DISTINCT VALUE c.g FROM c"), (Rows{"0", "1", "2", "3", "4", "5", "6"}));
  EXPECT_EQ(rest("SELECT DISTINCT VALUE c.g FROM c OFFSET 1 LIMIT 2"), (Rows{"1", "2"}));
  auto some = page("SELECT DISTINCT TOP 3 VALUE c.g FROM c", nullptr);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->rows.size(), 3U);
  EXPECT_EQ(some->read.items, 3U);  // no more had to be looked at
  EXPECT_FALSE(some->next);
}

TEST_F(PagingTest, BytesEndAPage) {
  limits_.bytes = 12;
  for (const std::string_view text :
       {"SELECT VALUE c.id FROM c ORDER BY c.n", "SELECT DISTINCT VALUE c.id FROM c",
        "SELECT VALUE c.id FROM c GROUP BY c.id",
        "SELECT VALUE c.id FROM c GROUP BY c.id ORDER BY c.id"}) {
    auto first = page(text, nullptr);
    ASSERT_TRUE(first) << text;
    EXPECT_EQ(first->rows.size(), 3U) << text;
    EXPECT_EQ(rest(text).size(), 60U) << text;
  }
}

}  // namespace
}  // namespace orrery::query
