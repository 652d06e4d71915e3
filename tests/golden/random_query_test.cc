// Random queries over random items: the rows are those of the naive evaluator, whatever the size of
// pages, and by a client's plan over several partitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "client.h"
#include "container.h"
#include "naive.h"
#include "query/parser.h"

namespace orrery::query {
namespace {

constexpr uint32_t kSeeds = 100;
constexpr int kQueriesEach = 60;
constexpr uint32_t kPartitions = 4;

// Makes up items and queries. The same seed gives the same everywhere: only the bits of the
// generator are used, no distributions of the library.
class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  std::string item(size_t number) {
    std::string json = "{\"id\":\"" + std::to_string(number) + "\"";
    for (const char* name : {"a", "b", "n", "s"}) {
      if (below(5) == 0) continue;
      json += std::string(",\"") + name + "\":" + (*name == 'n' ? count() : scalar());
    }
    if (below(4) != 0) json += ",\"l\":" + array();
    if (below(3) != 0) json += ",\"o\":{\"a\":" + scalar() + ",\"n\":" + count() + "}";
    return json + "}";
  }

  std::string query() {
    alias_ = "c";
    std::string sources = " FROM c";
    if (below(4) == 0) {
      sources += " JOIN e IN c.l";
      alias_ = "e";
    }
    std::string where;
    if (below(3) != 0) where = " WHERE " + expression(3);
    switch (below(6)) {
      case 0:
        return "SELECT " + aggregates() + sources + where;
      case 1: {
        const std::string key = path();
        const std::string shown = below(3) == 0 ? "VALUE COUNT(1)" : key + " AS k, " + aggregates();
        return "SELECT " + shown + sources + where + " GROUP BY " + key;
      }
      case 2:
        return "SELECT DISTINCT VALUE " + path() + sources + where;
      default:
        if (below(5) == 0) {
          return "SELECT TOP " + count() + " " + shown() + sources + where + order();
        }
        return "SELECT " + shown() + sources + where + order() + limit();
    }
  }

 private:
  size_t below(size_t end) { return random_() % end; }
  template <size_t N>
  std::string one_of(const char* const (&choices)[N]) {
    return choices[below(N)];
  }

  std::string count() { return std::to_string(below(5)); }
  std::string scalar() {
    return one_of({"null", "true", "false", "0", "1", "2", "-1", "1.5", "\"\"", "\"x\"", "\"y\"",
                   "\"xy\"", "[1]", "{\"n\":1}"});
  }
  std::string array() {
    std::string json = "[";
    for (size_t i = 0, size = below(4); i < size; ++i) {
      json += (i == 0 ? "" : ",") + (below(3) == 0 ? "{\"n\":" + count() + "}" : scalar());
    }
    return json + "]";
  }

  std::string path() {
    if (alias_ == "e" && below(2) == 0) return one_of({"e", "e.n"});
    return one_of({"c.a", "c.b", "c.n", "c.s", "c.o.a", "c.o.n", "c.l[0]", "c.l", "c.o", "c.no"});
  }

  std::string expression(int depth) {
    if (depth == 0 || below(6) == 0) return below(2) == 0 ? path() : scalar();
    const auto inner = [&] { return "(" + expression(depth - 1) + ")"; };
    switch (below(15)) {
      case 0:
        return inner() + one_of({" + ", " - ", " * "}) + inner();
      case 1:
        return inner() + one_of({" / 2", " % 3", " / -4"});
      case 2:
      case 3:
      case 4:
        return inner() + one_of({" = ", " != ", " < ", " <= ", " > ", " >= "}) + inner();
      case 5:
      case 6:
        return inner() + one_of({" AND ", " OR "}) + inner();
      case 7:
        return "NOT " + inner();
      case 8:
        return inner() + one_of({" IN ", " NOT IN "}) + "(" + scalar() + ", " + path() + ")";
      case 9:
        return inner() + one_of({" BETWEEN ", " NOT BETWEEN "}) + scalar() + " AND " + scalar();
      case 10:
        return inner() + one_of({" ?? ", " || "}) + inner();
      case 11:
        return inner() + " ? " + inner() + " : " + inner();
      case 12:
        return one_of({"IS_DEFINED", "IS_NUMBER", "ABS", "LENGTH", "ARRAY_LENGTH"}) + inner();
      case 13:
        return "ARRAY_CONTAINS(" + one_of({"c.l", "c.a"}) + ", " + scalar() + ")";
      default:
        return subquery(depth);
    }
  }

  std::string subquery(int depth) {
    const std::string outer = std::exchange(alias_, "e");
    const std::string text = one_of({"EXISTS(", "ARRAY("}) + "SELECT VALUE " + path() +
                             " FROM e IN c.l WHERE " + expression(depth - 1) + ")";
    alias_ = outer;
    return text;
  }

  std::string aggregates() {
    std::string list;
    for (size_t i = 0, size = 1 + below(3); i < size; ++i) {
      list += (i == 0 ? "" : ", ") + one_of({"COUNT(", "SUM(", "AVG(", "MIN(", "MAX("}) + path() +
              ") AS x" + std::to_string(i);
    }
    return list;
  }
  std::string shown() {
    if (below(3) == 0) return alias_ == "c" ? "*" : "c.id, e AS x";
    if (below(2) == 0) return "VALUE " + expression(2);
    return "c.id, " + path() + " AS x, (" + expression(2) + ") AS y";
  }
  std::string order() {
    switch (below(3)) {
      case 0:
        return "";
      case 1:
        return " ORDER BY " + path() + one_of({"", " ASC", " DESC"});
      default:
        return " ORDER BY " + path() + one_of({"", " DESC"}) + ", c.id" + one_of({"", " DESC"});
    }
  }
  std::string limit() { return below(5) == 0 ? " OFFSET " + count() + " LIMIT " + count() : ""; }

  std::mt19937 random_;
  std::string alias_;
};

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
  for (uint32_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Maker maker(seed);
    std::vector<std::string> items;
    std::vector<Value> values;
    for (size_t i = 0; i < 3 + seed % 40; ++i) {
      items.push_back(maker.item(i));
      values.push_back(parse_value(items.back()));
    }
    const TestContainer container(items, kPartitions, Index::off);
    const TestContainer indexed(items, kPartitions, Index::on);
    const TestContainer walked(items, kPartitions, Index::walked);
    for (int i = 0; i < kQueriesEach && !HasFailure(); ++i) {
      const std::string text = maker.query();
      const auto query = parse_query(text);
      ASSERT_TRUE(query) << text << "\n" << query.error().message;
      std::vector<Value> expected = run_naively(*query, values);
      rows_seen += expected.size();
      for (size_t page_rows : {1000, 2}) {
        for (const TestContainer* one : {&container, &indexed, &walked}) {
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
      expect_same_by_plan(indexed, text, *query, expected);
    }
  }
  EXPECT_GT(rows_seen, size_t{10'000});  // the queries are not all empty
}

}  // namespace
}  // namespace orrery::query
