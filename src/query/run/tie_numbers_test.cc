// Rows with equal order values have numbers that grow as they come, and the same ones whichever
// page, filter or part of the range they are read by.
#include "query/run/tie_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/indexed_space.h"
#include "query/run/position.h"

namespace orrery::query {
namespace {

struct Numbered {
  std::string row;
  uint32_t number = 0;
  bool operator==(const Numbered&) const = default;
};
using Got = std::vector<Numbered>;

constexpr uint32_t kBetweenKeys = 1000;

// Keys a to h, three items of each with either of two values; a row shows its value and its id.
class TieNumbersTest : public testing::Test {
 protected:
  TieNumbersTest() {
    for (char key = 'a'; key <= 'h'; ++key) {
      for (int i = 0; i < 6; ++i) add(key, std::to_string(i), std::to_string(i % 2));
    }
  }

  void add(char key, const std::string& row, const std::string& value) {
    items_.push_back(
        {.placement = std::string(1, key),
         .row = row,
         .body = "{\"id\":\"" + (key + row) + "\",\"v\":" + value + ",\"l\":[1,2,3]}"});
  }

  // Pages from a position on, of the items with keys in [min, max).
  Got rest(const std::string& text, size_t page_rows, std::optional<Position> at = std::nullopt,
           char min = 'a', char max = 'z', std::vector<Position>* ends = nullptr) {
    const auto query = bind_query(parse_query(text).value(), {}).value();
    const bool descends = query->order_by[0].descending;
    std::vector<IndexedSpace::Placed> items;
    std::ranges::copy_if(items_, std::back_inserter(items), [&](const auto& item) {
      return item.placement[0] >= min && item.placement[0] < max;
    });
    IndexedSpace::Options options;
    options.is_indexed = is_indexed_;
    options.bounds = bounds_;
    IndexedSpace space(items, options);
    Got got;
    int asked = 0;
    do {
      Context context;
      PageLimits limits;
      limits.rows = page_rows;
      if (stops_after_ > 0) limits.stop = [&] { return ++asked % stops_after_ == 0; };
      limits.ties = {.least =
                         [&](std::string_view key) {
                           const auto place = static_cast<uint32_t>(key[0] - 'a');
                           return least_ + kBetweenKeys * (descends ? 25 - place : place);
                         },
                     .write =
                         [&](std::string& row, uint32_t number) {
                           got.push_back({row, number});
                           row += '#';
                         }};
      const size_t before = got.size();
      auto page = run_page(*query, space, at ? &*at : nullptr, limits, context);
      EXPECT_TRUE(page) << page.error().message;
      if (!page) break;
      EXPECT_EQ(page->rows.size(), got.size() - before);
      for (const auto row : page->rows) EXPECT_TRUE(row.ends_with('#')) << "as it was written";
      at = page->next;
      if (at && ends != nullptr) ends->push_back(*at);
    } while (at);
    return got;
  }

  // Where each page but the last ends.
  std::vector<Position> page_ends(const std::string& text, size_t page_rows) {
    std::vector<Position> ends;
    rest(text, page_rows, std::nullopt, 'a', 'z', &ends);
    return ends;
  }

  static void expect_growing(const Got& got, const std::string& text) {
    for (size_t i = 1; i < got.size(); ++i) {
      const bool is_equal = value_of(got[i].row) == value_of(got[i - 1].row);
      if (is_equal) EXPECT_LT(got[i - 1].number, got[i].number) << text << ": " << got[i].row;
    }
  }

  static std::string value_of(const std::string& row) { return row.substr(0, row.find(',')); }

  std::vector<IndexedSpace::Placed> items_;
  std::vector<std::string> bounds_;
  bool is_indexed_ = true;
  uint32_t least_ = 0;
  int stops_after_ = 0;  // so many items; 0: never
};

constexpr const char* kTieQueries[] = {
    "SELECT c.v, c.id FROM c ORDER BY c.v",
    "SELECT c.v, c.id FROM c ORDER BY c.v DESC",
    "SELECT c.v, c.id FROM c ORDER BY c.v DESC, c.none",
    "SELECT c.v, c.id, e FROM c JOIN e IN c.l ORDER BY c.v",
    "SELECT c.v, c.id, e FROM c JOIN e IN c.l ORDER BY c.v DESC",
};

TEST_F(TieNumbersTest, GrowAmongEqualsAndAreTheSameInPagesOfAnySize) {
  for (const bool is_indexed : {true, false}) {
    is_indexed_ = is_indexed;
    for (const std::string text : kTieQueries) {
      const Got whole = rest(text, 1000);
      EXPECT_GE(whole.size(), 48U) << text;
      expect_growing(whole, text);
      for (const size_t rows : {1, 2, 3, 7, 24, 25}) {
        EXPECT_EQ(rest(text, rows), whole) << text << " by " << rows;
      }
      bounds_ = {"c", "f"};
      EXPECT_EQ(rest(text, 5), whole) << text << " over several views";
      bounds_.clear();
    }
  }
}

TEST_F(TieNumbersTest, AreTheSameWhenTimeIsUp) {
  for (const std::string text : kTieQueries) {
    stops_after_ = 0;
    const Got whole = rest(text, 1000);
    for (const bool is_indexed : {true, false}) {
      is_indexed_ = is_indexed;
      for (const int items : {2, 7, 31}) {
        stops_after_ = items;
        EXPECT_EQ(rest(text, 10), whole) << text << " by " << items << " items";
      }
    }
  }
}

// Clients replace the continuation of the range by a filter, or send both.
TEST_F(TieNumbersTest, AreTheSameWithAFilterThatStartsAtAValue) {
  for (const std::string order : {"ORDER BY c.v", "ORDER BY c.v DESC"}) {
    const bool descends = order.ends_with("DESC");
    const std::string value = descends ? "0" : "1";
    const std::string text = "SELECT c.v, c.id FROM c WHERE true " + order;
    const std::string filtered = std::string("SELECT c.v, c.id FROM c WHERE c.v ") +
                                 (descends ? "<= " : ">= ") + value + " " + order;
    const Got whole = rest(text, 1000);
    const Got second(whole.begin() + 24, whole.end());
    EXPECT_EQ(rest(filtered, 1000), second) << filtered;
    EXPECT_EQ(rest(filtered, 5), second) << filtered;

    const auto ends = page_ends(text, 5);
    for (size_t page = 0; page < ends.size(); ++page) {
      const size_t given = std::max<size_t>((page + 1) * 5, 24);
      const Got later(whole.begin() + static_cast<std::ptrdiff_t>(given), whole.end());
      EXPECT_EQ(rest(filtered, 4, ends[page]), later) << filtered << " after " << page;
    }
  }
}

// .NET clients name the values where the range is to start.
TEST_F(TieNumbersTest, AreTheSameFromGivenOrderValuesOn) {
  const std::string text = "SELECT c.v, c.id FROM c ORDER BY c.v";
  const Got whole = rest(text, 1000);
  const auto query = bind_query(parse_query(text).value(), {}).value();
  const auto ends = page_ends(text, 5);
  for (const Position& from : {Position(), ends[0], ends[3]}) {
    auto at = at_order_values(*query, {value::Value::make_number(1)}, false, from);
    ASSERT_TRUE(at);
    EXPECT_EQ(rest(text, 1000, *at), Got(whole.begin() + 24, whole.end()));
  }
}

TEST_F(TieNumbersTest, StayWhenTheRangeIsDivided) {
  for (const std::string text : kTieQueries) {
    std::map<std::string, uint32_t> number_of;
    for (const Numbered& one : rest(text, 1000)) number_of[one.row] = one.number;
    for (const Position& from : page_ends(text, 7)) {
      for (const auto& [min, max] : {std::pair('a', 'd'), std::pair('d', 'z')}) {
        for (const Numbered& one : rest(text, 3, from, min, max)) {
          EXPECT_EQ(one.number, number_of.at(one.row)) << text << ": " << one.row;
        }
      }
    }
  }
}

// More rows of a key than there are numbers up to the next one.
TEST_F(TieNumbersTest, GoOnIntoThoseOfTheNextKeys) {
  const std::vector<IndexedSpace::Placed> few = items_;
  std::vector<IndexedSpace::Placed> many = items_;
  items_.swap(many);
  for (uint32_t i = 0; i < 2 * kBetweenKeys + 10; ++i) add('d', "x" + std::to_string(i), "1");
  items_.swap(many);
  for (const std::string text : {kTieQueries[0], kTieQueries[1]}) {
    items_ = few;
    std::map<std::string, uint32_t> number_of;
    for (const Numbered& one : rest(text, 1000)) number_of[one.row] = one.number;
    items_ = many;
    const Got whole = rest(text, 10'000);
    EXPECT_EQ(whole.size(), items_.size());
    expect_growing(whole, text);
    EXPECT_EQ(rest(text, 999), whole) << text;
    // The keys after the next two have their own again.
    for (const Numbered& one : whole) {
      const char key = one.row[one.row.find("\"id\":\"") + 6];
      const bool is_near = key >= 'b' && key <= 'f';
      if (!is_near) EXPECT_EQ(one.number, number_of.at(one.row)) << one.row;
    }
  }
}

TEST_F(TieNumbersTest, EndAtTheLargest) {
  const auto of_last_key = [&] {
    std::vector<uint32_t> numbers;
    for (const Numbered& one : rest(kTieQueries[0], 1)) {
      if (one.row.starts_with("{\"v\":1,\"id\":\"h")) numbers.push_back(one.number);
    }
    return numbers;
  };
  least_ = kTieNumberMax - 1 - of_last_key().front();
  EXPECT_EQ(of_last_key(), (std::vector{kTieNumberMax - 1, kTieNumberMax, kTieNumberMax}));
  least_ = std::numeric_limits<uint32_t>::max() - 30 * kBetweenKeys;
  for (const Numbered& one : rest(kTieQueries[0], 5)) EXPECT_EQ(one.number, kTieNumberMax);
}

// Clients count the rows of a page that have the same number as the last.
TEST_F(TieNumbersTest, DifferWhereOrderValuesDo) {
  for (const std::string text :
       {"SELECT c.v, c.id FROM c ORDER BY c.v", "SELECT c.v, c.id FROM c ORDER BY c.v, c.id",
        "SELECT c.v, c.id, e FROM c JOIN e IN c.l ORDER BY c.v, e"}) {
    std::set<uint32_t> numbers;
    const Got whole = rest(text, 1000);
    for (const Numbered& one : whole) numbers.insert(one.number);
    EXPECT_EQ(numbers.size(), whole.size()) << text;
  }
}

}  // namespace
}  // namespace orrery::query
