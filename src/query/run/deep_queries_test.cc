// Queries that are as long or as deep as they may be, through everything that walks over them, on a
// stack that is no larger than the smallest that a thread of the server can have (2 MB, when the
// system sets no limit of its own).
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/parse/printer.h"
#include "query/plan/index_plan.h"
#include "query/plan/index_use.h"
#include "query/plan/placement_filter.h"
#include "query/run/execute.h"
#include "query/run/indexed_space.h"

namespace orrery::query {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr size_t kStackBytes = 16 << 20;  // what checks each access needs several times as much
#else
constexpr size_t kStackBytes = 2 << 20;
#endif
#endif

void on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread{};
  auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Everything that a text can come to before and while it runs. Gives its rows, or why it has none.
std::string through_everything(const std::string& text) {
  auto parsed = parse_query(text);
  if (!parsed) return parsed.error().message;
  const Query copy = parsed->clone();
  EXPECT_TRUE(same(*parsed, copy));
  const std::string printed = to_text(copy, Layout::line);
  if (printed.size() <= kMaxQueryBytes) {
    EXPECT_TRUE(parse_query(printed)) << printed.substr(0, 200);
  }
  const value::KeyDefinition key{.placement = value::Placement::hash_v2,
                                 .paths = {{.steps = {{.name = "a", .array = false}}}}};
  static_cast<void>(touched_ranges(*parsed, key, {}));
  auto bound = bind_query(*parsed, {});
  if (!bound) return bound.error().message;
  Context context;
  const auto policy = value::IndexPolicy::everything();
  const IndexPlan plan = plan_index_use(**bound, policy, context);
  EXPECT_FALSE(to_string(plan).empty());
  static_cast<void>(index_use_of(**bound, plan));
  IndexedSpace space({R"({"id":"1","a":1,"b":2})", R"({"id":"2","a":2,"b":2})"});
  auto page = run_page(**bound, space, nullptr, {}, context);
  if (!page) return page.error().message;
  std::string rows;
  for (size_t i = 0; i < page->rows.size(); ++i) rows += page->rows[i];
  return rows;
}

constexpr std::string_view kSelect = "SELECT VALUE c.id FROM c WHERE ";

TEST(DeepQueries, ChainsOfAndAndOrAreLoops) {
  on_small_stack([] {
    constexpr size_t kTerms = 50'000;
    const auto chain = [](std::string_view term, std::string_view link) {
      return std::string(term) + repeat(std::string(link) + std::string(term), kTerms - 1);
    };
    for (const auto& [filter, rows] : std::initializer_list<std::pair<std::string, std::string>>{
             {chain("c.a=1", " OR "), R"("1")"},
             {chain("c.a=1", " AND "), R"("1")"},
             {chain("a.b", " OR "), "Identifier 'a' could not be resolved."},
             {"NOT (" + chain("c.a=1", " OR ") + ")", R"("2")"},
             {"(" + chain("c.a=1", " OR ") + ") AND c.b=2", R"("1")"},
             {chain("true", " AND ") + " AND c.a=2", R"("2")"},
             {"EXISTS(SELECT VALUE 1 WHERE " + chain("c.a=1", " OR ") + ")", R"("1")"}}) {
      EXPECT_EQ(through_everything(std::string(kSelect) + filter), rows);
    }
    const std::string order = "SELECT VALUE c.id FROM c ORDER BY " + chain("c.a=1", " OR ");
    EXPECT_EQ(through_everything(order), R"("2""1")");
    const std::string select = "SELECT VALUE " + chain("c.a=1", " AND ") + " FROM c";
    EXPECT_EQ(through_everything(select), "truefalse");
  });
}

// Whatever nests is refused long before a stack is full.
TEST(DeepQueries, WhatNestsIsBounded) {
  on_small_stack([] {
    struct Nesting {
      std::string_view open, middle, close;
    };
    for (const auto& [open, middle, close] : std::initializer_list<Nesting>{
             {"(", "c.a=1", ")"},
             {"NOT (", "c.a=1", ")"},
             {"NOT ", "c.a", ""},
             {"- ", "c.a", ""},
             {"(c.a=1 OR ", "c.a=1", ")"},
             {"(c.a=1 AND (c.b=2 OR ", "c.a=1", "))"},
             {"(c.a=1 ? ", "true", " : false)"},
             {"true ? true : ", "c.a=1", ""},
             {"ABS(", "c.a", ")"},
             {"[", "c.a", "]"},
             {"{\"a\":", "c.a", "}"},
             {"c.a + ", "1", ""},
             {"c.a ?? ", "1", ""},
             {"c.a || ", "'x'", ""},
             {"c.a = ", "1", ""},
             {"c.a[", "1", "]"},
             {"c.a IN (", "1", ")"},
             {"c.a BETWEEN 1 AND (", "1", ")"},
             {"EXISTS(SELECT VALUE 1 WHERE ", "c.a=1", ")"},
             {"EXISTS(SELECT VALUE 1 FROM x IN c.l WHERE x=1 AND ", "c.a=1", ")"},
             {"ARRAY(SELECT VALUE ", "c.a", ")"},
             {"(SELECT VALUE x FROM (SELECT VALUE ", "1", ") x)"}}) {
      for (const size_t times : {1U, 20U, 60U, 110U, 230U, 239U, 500U, 10'000U}) {
        const std::string text =
            std::string(kSelect) + repeat(open, times) + std::string(middle) + repeat(close, times);
        const std::string rows = through_everything(text);
        if (times == 10'000) {
          EXPECT_NE(rows.find("nest"), std::string::npos) << open << ": " << rows.substr(0, 200);
        }
      }
    }
    const std::string path = std::string(kSelect) + "c" + repeat(".a", 10'000) + " = 1";
    EXPECT_NE(through_everything(path).find("nest"), std::string::npos);
    const std::string from =
        repeat("SELECT * FROM (", 10'000) + "SELECT * FROM c" + repeat(")", 10'000);
    EXPECT_NE(through_everything(from).find("nest"), std::string::npos);
  });
}

// Long lists through the index: the right rows, and no more work than the lists are long.
class LongLists : public testing::Test {
 protected:
  static constexpr size_t kItems = 500;

  static std::vector<std::string> bodies() {
    std::vector<std::string> bodies;
    for (size_t i = 0; i < kItems; ++i) {
      const std::string number = std::to_string(i);
      bodies.push_back(R"({"id":")" + number + R"(","n":)" + number + R"(,"m":)" +
                       std::to_string(i % 2) + R"(,"p)" + number + R"(":1})");
    }
    return bodies;
  }

  // The ids that the filter lets through, in pages of three.
  std::vector<std::string> rows(const std::string& filter) {
    auto parsed = parse_query(std::string(kSelect) + filter);
    EXPECT_TRUE(parsed) << parsed.error().message;
    auto bound = bind_query(*parsed, {});
    std::vector<std::string> rows;
    std::optional<Position> from;
    do {
      Context context;
      auto page = run_page(**bound, space_, from ? &*from : nullptr, {.rows = 3}, context);
      EXPECT_TRUE(page);
      for (size_t i = 0; i < page->rows.size(); ++i) rows.emplace_back(page->rows[i]);
      from = std::move(page->next);
      ++pages_;
    } while (from);
    return rows;
  }

  static std::string list(const std::function<std::string(size_t)>& term, std::string_view by,
                          size_t count, size_t step = 1) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += (i == 0 ? "" : std::string(by)) + term(i * step);
    return out;
  }

  IndexedSpace space_{bodies()};
  size_t pages_ = 0;
};

TEST_F(LongLists, Numbers) {
  const std::string numbers = list([](size_t i) { return std::to_string(i); }, ",", 20'000, 100);
  const std::vector<std::string> expected = {R"("0")", R"("100")", R"("200")", R"("300")",
                                             R"("400")"};
  EXPECT_EQ(rows("c.n IN (" + numbers + ")"), expected);
  EXPECT_EQ(rows("ARRAY_CONTAINS([" + numbers + "], c.n)"), expected);
  EXPECT_EQ(rows("c.n IN (" + numbers + ") AND c.n IN (" + numbers + ")"), expected);
  EXPECT_EQ(rows("c.n NOT IN (" + numbers + ") AND c.n < 3"),
            (std::vector<std::string>{R"("1")", R"("2")"}));
  EXPECT_EQ(rows(list([](size_t i) { return "c.n=" + std::to_string(i); }, " OR ", 20'000, 100)),
            expected);
  EXPECT_EQ(rows(list([](size_t i) { return "c.n>=" + std::to_string(i); }, " AND ", 20'000, 0) +
                 " AND c.n < 1"),
            (std::vector<std::string>{R"("0")"}));
  EXPECT_LE(space_.estimates(), 200 * pages_);
  EXPECT_LE(space_.most_cursors(), 256U);
}

TEST_F(LongLists, Paths) {
  const std::string paths =
      list([](size_t i) { return "c.p" + std::to_string(i) + "=1"; }, " OR ", 3'000, 250);
  EXPECT_EQ(rows(paths), (std::vector<std::string>{R"("0")", R"("250")"}));
  EXPECT_LE(space_.estimates(), 2 * 3'000 * pages_);
  EXPECT_LE(space_.most_cursors(), 256U);
}

TEST_F(LongLists, PairsOfValues) {
  const std::string pairs =
      list([](size_t i) { return "(c.m=1 AND c.n=" + std::to_string(i) + ")"; }, " OR ", 2'000, 99);
  EXPECT_EQ(rows(pairs), (std::vector<std::string>{R"("99")", R"("297")", R"("495")"}));
  EXPECT_LE(space_.most_cursors(), 256U);
}

TEST_F(LongLists, WhatIsMissing) {
  const std::string missing = list(
      [](size_t i) { return "NOT IS_DEFINED(c.p" + std::to_string(i) + ")"; }, " AND ", kItems - 1);
  EXPECT_EQ(rows(missing), (std::vector<std::string>{R"("499")"}));
  EXPECT_LE(space_.most_cursors(), 256U);
}

}  // namespace
}  // namespace orrery::query
