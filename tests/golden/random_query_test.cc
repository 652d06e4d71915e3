// Random queries over random items: the rows are those of the naive evaluator, whatever the size of
// pages, and by a client's plan over several partitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "client.h"
#include "container.h"
#include "naive.h"
#include "query/parse/parser.h"
#include "query_maker.h"

namespace orrery::query {
namespace {

// Which seeds to try. ORRERY_SEEDS=FROM-TO replays some, or tries many more.
struct Seeds {
  uint32_t from = 1;
  uint32_t to = 200;
};

Seeds seeds() {
  Seeds seeds;
  const char* text = std::getenv("ORRERY_SEEDS");  // NOLINT(concurrency-mt-unsafe)
  if (text != nullptr) {
    EXPECT_EQ(std::sscanf(text, "%u-%u", &seeds.from, &seeds.to), 2) << text;
  }
  return seeds;
}

constexpr int kQueriesEach = 60;
constexpr uint32_t kPartitions = 4;

std::string text_of(const std::vector<Value>& rows) {
  std::string text;
  for (const Value& row : rows) text += row.to_json() + "\n";
  return text;
}

// Groups and distinct rows that do not fit into one page, or are found through the index.
bool comes_in_any_order(const Query& query, size_t page_rows, bool by_index) {
  return (page_rows < 1000 || by_index) && (query.select.distinct || !query.group_by.empty());
}

// Over partitions, rows with equal keys come in any order, and which of them are among the first.
void expect_same_by_plan(const TestContainer& container, const std::string& text,
                         const Query& query, std::vector<Value> expected) {
  auto rows = run_as_client(container, text, {}, 3);
  // What clients cannot merge.
  if (!rows && rows.error().message.find("SC2101") != std::string::npos) return;
  ASSERT_TRUE(rows) << text << "\n" << rows.error().message;
  if (query.select.top || query.offset) {
    EXPECT_EQ(rows->size(), expected.size()) << text;
    return;
  }
  std::ranges::sort(*rows);
  std::ranges::sort(expected);
  EXPECT_TRUE(*rows == expected) << text << "\n"
                                 << text_of(*rows) << "instead of\n"
                                 << text_of(expected);
}

TEST(RandomQueryTest, SameRowsAsTheNaiveEvaluator) {
  size_t rows_seen = 0;
  const auto [from, to] = seeds();
  for (uint32_t seed = from; seed <= to && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueryMaker maker(seed);
    std::vector<std::string> items;
    std::vector<Value> values;
    for (size_t i = 0; i < 3 + seed % 40; ++i) {
      items.push_back(maker.item(i));
      values.push_back(parse_value(items.back()));
    }
    const TestContainer container(items, kPartitions, Index::off);
    const TestContainer indexed(items, kPartitions, Index::on);
    const TestContainer walked(items, kPartitions, Index::walked);
    const TestContainer partial(items, kPartitions, Index::partial);
    const std::array containers = {&container, &indexed, &walked, &partial};
    for (int i = 0; i < kQueriesEach && !HasFailure(); ++i) {
      const std::string text = maker.query();
      const auto query = parse_query(text);
      ASSERT_TRUE(query) << text << "\n" << query.error().message;
      std::vector<Value> expected = run_naively(*query, values);
      rows_seen += expected.size();
      for (size_t page_rows : {1000, 2}) {
        for (const TestContainer* one : containers) {
          auto rows = one->run(text, {}, page_rows);
          ASSERT_TRUE(rows) << text << "\n" << rows.error().message;
          std::vector<Value> wanted = expected;
          if (comes_in_any_order(*query, page_rows, one != &container)) {
            std::ranges::sort(*rows);
            std::ranges::sort(wanted);
          }
          EXPECT_TRUE(*rows == wanted) << text << (one == &container ? "\n" : ", by the index\n")
                                       << text_of(*rows) << "instead of\n"
                                       << text_of(expected);
        }
      }
      expect_same_by_plan(*containers[static_cast<size_t>(i) % containers.size()], text, *query,
                          expected);
    }
  }
  EXPECT_GT(rows_seen, size_t{100} * (to - from)) << "the queries should not all be empty";
}

}  // namespace
}  // namespace orrery::query
