// What the tests of pages share: some items, and all rows of a query over them, page after page.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/memory_space.h"

namespace orrery::query {

using Rows = std::vector<std::string>;

class PagingTest : public testing::Test {
 protected:
  PagingTest() {
    for (int i = 0; i < 60; ++i) {
      const std::string id = std::to_string(100 + i);
      items_[id] = "{\"id\":\"" + id + "\",\"n\":" + std::to_string(i * 37 % 60) +
                   ",\"g\":" + std::to_string(i % 7) + ",\"t\":\"" + std::string(1 + i % 3, 'x') +
                   "\",\"l\":[" + std::to_string(i % 4) + "," + std::to_string(i % 5) + "]}";
    }
  }

  std::shared_ptr<const BoundQuery> bound(std::string_view text) {
    auto query = parse_query(text);
    EXPECT_TRUE(query) << text;
    auto made = bind_query(*query, {});
    EXPECT_TRUE(made) << text;
    return *made;
  }

  // Of the items in [min, max).
  Result<QueryPage> page(std::string_view text, const Position* from, std::string_view min = "",
                         std::string_view max = "\xFF") {
    std::vector<MemorySpace::Placed> placed;
    for (const auto& [id, body] : items_) {
      if (id >= min && id < max) placed.push_back({id, "", body});
    }
    MemorySpace space(std::move(placed));
    Context context;
    return run_page(*bound(text), space, from, limits_, context);
  }

  // All rows from a position on.
  Rows rest(std::string_view text, std::optional<Position> at = std::nullopt,
            std::string_view min = "", std::string_view max = "\xFF") {
    Rows rows;
    for (int pages = 0; pages < 10'000; ++pages) {
      auto next = page(text, at ? &*at : nullptr, min, max);
      EXPECT_TRUE(next) << text << ": " << next.error().message;
      if (!next) return rows;
      EXPECT_LE(next->rows.size(), limits_.rows);
      rows.insert(rows.end(), next->rows.begin(), next->rows.end());
      if (!next->next) return rows;
      EXPECT_TRUE(!at || *at != *next->next) << text << " does not get on";
      at = next->next;
      if (forgets_order_) at->order.clear();
    }
    ADD_FAILURE() << text << " does not end";
    return rows;
  }

  // The rows of so many pages, and then of both halves of a partition that is divided there.
  Rows divided_after(int pages, std::string_view text, std::string_view bound) {
    Rows rows;
    std::optional<Position> at;
    for (int i = 0; i < pages; ++i) {
      auto next = page(text, at ? &*at : nullptr);
      EXPECT_TRUE(next && next->next) << text;
      if (!next || !next->next) return {};
      rows.insert(rows.end(), next->rows.begin(), next->rows.end());
      at = next->next;
    }
    for (const auto& [min, max] :
         {std::pair(std::string_view(), bound), std::pair(bound, std::string_view("\xFF"))}) {
      const Rows half = rest(text, Position(*at).in_part(), min, max);
      rows.insert(rows.end(), half.begin(), half.end());
    }
    return rows;
  }

  static Rows sorted(Rows rows) {
    std::ranges::sort(rows);
    return rows;
  }

  std::map<std::string, std::string> items_;
  PageLimits limits_;
  bool forgets_order_ = false;
};

}  // namespace orrery::query
