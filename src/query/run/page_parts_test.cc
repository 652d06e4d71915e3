// Pages whose parts are read by several threads are those that one thread makes: rows, positions
// and counts of what was read.
#include "query/run/page_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/worker_pool.h"
#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/indexed_space.h"

namespace orrery::query {
namespace {

class Pool final : public Helpers {
 public:
  explicit Pool(size_t threads) : threads_(threads), pool_("helpers", threads) {}
  size_t threads() const override { return threads_; }
  int64_t alone_us() const override { return 0; }
  void post(std::move_only_function<void()> job) noexcept override {
    ++posted;
    pool_.post(std::move(job));
  }
  std::atomic<size_t> posted = 0;

 private:
  const size_t threads_;
  WorkerPool pool_;
};

// Threads that never come.
class Nobody final : public Helpers {
 public:
  size_t threads() const override { return 3; }
  void post(std::move_only_function<void()> job) noexcept override {
    kept.push_back(std::move(job));
  }
  std::vector<std::move_only_function<void()>> kept;
};

TEST(PartRun, TakesPartsInOrder) {
  Pool pool(3);
  for (int round = 0; round < 50; ++round) {
    const size_t before = pool.posted;
    PartRun run(&pool, 40);
    std::vector<int> worked(40, 0);
    std::vector<size_t> taken;
    run.run(
        PartRun::Needs::all_parts,
        [&](size_t i) {
          // Until there is help, or it is known that it comes too late.
          while (i == 0 && pool.posted == before) run.look();
          worked[i] = static_cast<int>(i) + 1;
        },
        [&](size_t i) {
          EXPECT_EQ(worked[i], static_cast<int>(i) + 1);
          taken.push_back(i);
          return true;
        });
    ASSERT_EQ(taken.size(), 40);
    EXPECT_TRUE(std::ranges::is_sorted(taken));
  }
}

TEST(PartRun, EndsWhereNoMoreIsWanted) {
  Pool pool(2);
  PartRun run(&pool, 1000);
  std::atomic<size_t> begun = 0;
  size_t taken = 0;
  run.run(
      PartRun::Needs::all_parts,
      [&](size_t i) {
        while (i == 0 && pool.posted == 0) run.look();
        ++begun;
      },
      [&](size_t) { return ++taken < 3; });
  EXPECT_EQ(taken, 3);
  const size_t begun_at_end = begun;
  EXPECT_GE(begun_at_end, 3);
}

TEST(PartRun, BeginsNoMoreAheadThanPaysOff) {
  Pool pool(3);
  PartRun run(&pool, 64);
  std::atomic<size_t> begun = 0;
  std::vector<size_t> begun_when_taken;
  run.run(
      PartRun::Needs::first_parts,
      [&](size_t) {
        ++begun;
        run.look();
      },
      [&](size_t) {
        begun_when_taken.push_back(begun);
        return begun_when_taken.size() < 4;
      });
  ASSERT_EQ(begun_when_taken.size(), 4);
  EXPECT_EQ(begun_when_taken[0], 1);
  EXPECT_LE(begun_when_taken[1], 3);
  EXPECT_LE(begun_when_taken[2], 6);
  EXPECT_LE(begun_when_taken[3], 11);
  EXPECT_LE(begun, 11);
}

TEST(PartRun, NeedsNoHelper) {
  Nobody nobody;
  size_t taken = 0;
  {
    PartRun run(&nobody, 10);
    run.run(
        PartRun::Needs::all_parts,
        [&](size_t) {
          while (nobody.kept.empty()) run.look();
        },
        [&](size_t i) { return i == taken++; });
  }
  EXPECT_EQ(taken, 10);
  ASSERT_FALSE(nobody.kept.empty());
  for (auto& job : nobody.kept) job();  // late: there is nothing left to do
}

TEST(PartRun, ThrowsWhatAPartThrew) {
  Pool pool(2);
  PartRun run(&pool, 20);
  size_t taken = 0;
  EXPECT_THROW(run.run(
                   PartRun::Needs::all_parts,
                   [&](size_t i) {
                     while (i == 0 && pool.posted == 0) run.look();
                     if (i == 7) throw std::runtime_error("no memory");
                   },
                   [&](size_t) { return ++taken > 0; }),
               std::runtime_error);
  EXPECT_EQ(taken, 7);
}

class PagePartsTest : public testing::Test {
 protected:
  PagePartsTest() {
    for (int i = 0; i < 400; ++i) {
      const auto n = static_cast<double>(random_() % 1000) / 7;
      std::string body = "{\"id\":\"" + std::to_string(i) + "\",\"n\":" + std::to_string(n) +
                         ",\"g\":" + std::to_string(random_() % 9) + ",\"t\":\"" +
                         std::string(random_() % 4, 'x') + "\",\"l\":[" +
                         std::to_string(random_() % 4) + "," + std::to_string(random_() % 3) + "]";
      if (random_() % 5 != 0) body += ",\"m\":" + std::to_string(random_() % 100);
      placed_.push_back(
          {std::string(1, static_cast<char>('a' + random_() % 20)), std::to_string(i), body + "}"});
    }
  }

  IndexedSpace space(IndexedSpace::Options::Estimate estimate, bool is_split) const {
    IndexedSpace::Options options;
    options.bounds = {"b", "c", "e", "f", "h", "k", "l", "n", "p", "r"};
    if (is_split) options.bounds = {"b", "bb", "c", "e", "f", "g", "h", "k", "l", "m", "n", "r"};
    options.estimate = estimate;
    return {placed_, std::move(options)};
  }

  // All pages, each with its rows, the position after it and what it read.
  std::string pages(const std::string& text, const PageLimits& limits, IndexedSpace& whole,
                    IndexedSpace* later = nullptr) {
    auto query = parse_query(text);
    EXPECT_TRUE(query) << text;
    auto bound = bind_query(*query, {});
    EXPECT_TRUE(bound) << text;
    std::string all;
    std::optional<Position> at;
    for (int count = 0; count < 1000; ++count) {
      Context context;
      IndexedSpace& space = count > 0 && later != nullptr ? *later : whole;
      auto page = run_page(**bound, space, at ? &*at : nullptr, limits, context);
      if (!page) return all + " error " + page.error().message;
      for (const std::string_view row : page->rows) all += std::string(row) + '\n';
      all += "-- read " + std::to_string(page->read.items) + ' ' +
             std::to_string(page->read.bytes) + ' ' + std::to_string(page->read.matched) + ' ' +
             std::to_string(page->read.entries) + '\n';
      if (!page->next) return all;
      at = page->next;
      all += at->key + '/' + std::to_string(at->rows_of_it) + '/' + at->order + '/' +
             std::to_string(at->given) + '/' + std::to_string(at->skipped) + '/' + at->gathered +
             '\n';
    }
    return all + " does not end";
  }

  static const std::vector<std::string>& queries() {
    static const std::vector<std::string> all = {
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT VALUE COUNT(1) FROM c WHERE c.m > 40",
        "SELECT VALUE SUM(c.n) FROM c",
        "SELECT VALUE AVG(c.n) FROM c WHERE c.g != 3",
        "SELECT COUNT(1) AS a, SUM(c.n) AS s, MIN(c.t) AS l, MAX(c.m) AS h FROM c WHERE c.g IN (1, "
        "2)",
        "SELECT c.g, SUM(c.n) AS s, COUNT(c.m) AS n FROM c GROUP BY c.g",
        "SELECT c.g, c.t, AVG(c.n) AS s FROM c WHERE c.m < 70 GROUP BY c.g, c.t",
        "SELECT c.g, MAKELIST(c.m) AS l, MAKESET(c.t) AS s FROM c GROUP BY c.g",
        "SELECT c.t, SUM(c.n * e) AS s FROM c JOIN e IN c.l GROUP BY c.t",
        "SELECT c.g, SUM(c.n) AS s FROM c GROUP BY c.g OFFSET 2 LIMIT 4",
        "SELECT DISTINCT VALUE c.m FROM c",
        "SELECT DISTINCT c.g, c.t FROM c WHERE c.n > 20",
        "SELECT DISTINCT TOP 4 c.g, c.t FROM c",
        "SELECT c.id FROM c ORDER BY c.n",
        "SELECT TOP 7 c.id, c.n FROM c ORDER BY c.n DESC",
        "SELECT c.id FROM c ORDER BY c.g, c.n DESC",
        "SELECT c.id FROM c ORDER BY c.n + c.m DESC",
        "SELECT TOP 9 c.id FROM c WHERE c.m > 30 ORDER BY c.n * 2",
        "SELECT c.id FROM c WHERE CONTAINS(c.t, 'x') ORDER BY c.t, c.n OFFSET 11 LIMIT 20",
        "SELECT c.id, e FROM c JOIN e IN c.l ORDER BY e, c.n",
        "SELECT DISTINCT c.t FROM c ORDER BY c.t, c.g",
        "SELECT * FROM c WHERE c.m = 17",
        "SELECT c.id FROM c WHERE c.n < 3",
        "SELECT c.id FROM c WHERE c.n + c.m < 9",
        "SELECT * FROM c WHERE c.n + c.m < 30",
        "SELECT TOP 20 * FROM c WHERE c.n + c.m > 30",
        "SELECT TOP 60 c.id FROM c WHERE c.n + c.m < 40",
        "SELECT c.id, e FROM c JOIN e IN c.l WHERE e + c.g = c.m",
        "SELECT * FROM c WHERE c.n + c.m < 50 OFFSET 5 LIMIT 20",
        "SELECT * FROM c WHERE c.n + c.m < 0",
        "SELECT VALUE RAND() FROM c ORDER BY c.n * RAND()",
        "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g ORDER BY COUNT(1)",
    };
    return all;
  }

  std::mt19937_64 random_{7};
  std::vector<IndexedSpace::Placed> placed_;
};

TEST_F(PagePartsTest, AreThoseOfOneThread) {
  using enum IndexedSpace::Options::Estimate;
  Pool pool(3);
  for (const auto estimate : {truth, one, everything}) {
    IndexedSpace whole = space(estimate, false);
    IndexedSpace split = space(estimate, true);
    for (const size_t rows : {7, 1000}) {
      PageLimits alone;
      alone.rows = rows;
      PageLimits helped = alone;
      helped.helpers = &pool;
      for (const std::string& text : queries()) {
        EXPECT_EQ(pages(text, helped, whole), pages(text, alone, whole)) << text;
        // The partitions are split after the first page.
        EXPECT_EQ(pages(text, helped, whole, &split), pages(text, alone, whole, &split)) << text;
      }
    }
  }
  EXPECT_GT(pool.posted, 0);
}

// When time is up, what is left of the query is left to the next pages, and all rows come in the
// end.
TEST_F(PagePartsTest, GoOnWhenTimeIsUp) {
  Pool pool(2);
  for (const std::string& text : queries()) {
    if (text.find("RAND") != std::string::npos ||
        text.find("ORDER BY COUNT") != std::string::npos) {
      continue;  // other rows each time; not to be continued
    }
    PageLimits limits;
    limits.rows = 1000;
    limits.position_bytes = 1 << 20;
    const auto rows_of = [&](Helpers* helpers, int asked_max) {
      std::vector<std::string> rows;
      auto query = parse_query(text);
      auto bound = bind_query(*query, {});
      std::optional<Position> at;
      IndexedSpace whole = space(IndexedSpace::Options::Estimate::truth, false);
      for (int count = 0; count < 2000; ++count) {
        int asked = 0;  // by one thread at a time
        limits.helpers = helpers;
        limits.stop = [&] { return asked_max > 0 && ++asked > asked_max; };
        Context context;
        auto page = run_page(**bound, whole, at ? &*at : nullptr, limits, context);
        EXPECT_TRUE(page) << text << ": " << page.error().message;
        if (!page) return rows;
        rows.insert(rows.end(), page->rows.begin(), page->rows.end());
        if (!page->next) return rows;
        at = page->next;
      }
      ADD_FAILURE() << text << " does not end";
      return rows;
    };
    auto expected = rows_of(nullptr, 0);
    auto found = rows_of(&pool, 40);
    // Groups that were gathered on several pages come by their fingerprint, and the sums of their
    // parts were added in another order.
    if (text.find("ORDER BY") == std::string::npos) {
      std::ranges::sort(expected);
      std::ranges::sort(found);
    }
    ASSERT_EQ(found.size(), expected.size()) << text;
    if (text.find("SUM") == std::string::npos && text.find("AVG") == std::string::npos) {
      EXPECT_EQ(found, expected) << text;
    }
  }
}

// Where the parts would keep more than a page may, one thread makes the page.
TEST_F(PagePartsTest, AreLeftToOneThreadWhenTheyAreLarge) {
  placed_.clear();
  for (int i = 0; i < 90; ++i) {
    placed_.push_back({std::string(1, static_cast<char>('a' + i % 20)), std::to_string(i),
                       "{\"id\":\"" + std::to_string(i) + "\",\"n\":" + std::to_string(i) +
                           ",\"t\":\"" + std::string(1 << 20, static_cast<char>('a' + i % 26)) +
                           "\"}"});
  }
  Pool pool(3);
  PageLimits alone;
  alone.bytes = 256 << 20;
  PageLimits helped = alone;
  helped.helpers = &pool;
  IndexedSpace whole = space(IndexedSpace::Options::Estimate::truth, false);
  for (const std::string text : {"SELECT c.t, c.n, COUNT(1) AS a FROM c GROUP BY c.t, c.n",
                                 "SELECT * FROM c ORDER BY c.n + 1"}) {
    EXPECT_TRUE(pages(text, helped, whole) == pages(text, alone, whole)) << text;
  }
}

}  // namespace
}  // namespace orrery::query
