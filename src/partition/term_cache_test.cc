// See term_cache.h: a view never gets entries of another moment than its own.
#include "partition/term_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace orrery::partition {
namespace {

std::shared_ptr<const StringList> list(const std::vector<std::string>& entries) {
  auto made = std::make_shared<StringList>();
  for (const std::string& entry : entries) made->push_back(entry);
  return made;
}

class TermCacheTest : public testing::Test {
 protected:
  void put(std::string_view term, const std::string& entry, uint64_t moment) {
    cache_.put(owner_, term, list({entry}), moment);
  }
  std::string find(std::string_view term, uint64_t moment) {
    auto found = cache_.find(owner_, term, moment);
    return found ? std::string((*found)->front()) : "none";
  }
  void announce(uint64_t moment, const std::vector<std::string>& terms) {
    cache_.announce(owner_, moment, [&](const auto& take) {
      for (const std::string& term : terms) take(term);
    });
  }

  TermCache cache_{1 << 20};
  TermCache::Owner owner_{cache_};
};

TEST_F(TermCacheTest, GivesWhatWasPutToViewsThatAreNotOlder) {
  EXPECT_EQ(find("t", 7), "none");
  put("t", "e", 7);
  EXPECT_EQ(find("t", 7), "e");
  EXPECT_EQ(find("t", 8), "e");
  EXPECT_EQ(find("t", 6), "none");
}

TEST_F(TermCacheTest, KnowsThatATermHasNoEntries) {
  cache_.put(owner_, "t", list({}), 7);
  auto found = cache_.find(owner_, "t", 7);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, nullptr);
}

TEST_F(TermCacheTest, OwnersShareNothing) {
  put("t", "e", 7);
  const TermCache::Owner other(cache_);
  EXPECT_FALSE(cache_.find(other, "t", 7));
}

TEST_F(TermCacheTest, ACommitTakesOutTheTermsThatItChanges) {
  put("a", "e", 7);
  put("b", "e", 7);
  announce(8, {"a"});
  EXPECT_EQ(find("a", 7), "none");
  EXPECT_EQ(find("a", 8), "none");
  EXPECT_EQ(find("b", 8), "e");
}

TEST_F(TermCacheTest, WhatHasNotSeenTheCommitIsNotPut) {
  announce(8, {"a"});
  put("a", "old", 7);
  EXPECT_EQ(find("a", 9), "none");
  put("a", "new", 8);
  EXPECT_EQ(find("a", 9), "new");
}

TEST_F(TermCacheTest, MemoryIsBounded) {
  for (int i = 0; i < 20'000; ++i) put(fmt::format("term-{}", i), std::string(200, 'x'), 1);
  EXPECT_LE(cache_.bytes(), 1U << 20);
  EXPECT_GT(cache_.bytes(), 1U << 19);
  EXPECT_EQ(find("term-19999", 1), std::string(200, 'x'));
  EXPECT_EQ(find("term-0", 1), "none");
}

// A counter is committed, each commit after its announcement; readers go through the cache. Nobody
// may see another state than that of the moment at which they look.
TEST_F(TermCacheTest, ReadersSeeTheirOwnMoment) {
  constexpr uint64_t kCommits = 20'000;
  std::atomic<uint64_t> seen_at{1};  // the database: its state is its moment
  std::atomic<bool> wrong{false};
  auto read = [&] {
    for (uint64_t moment = 0; moment < kCommits;) {
      moment = seen_at.load();
      auto found = cache_.find(owner_, "counter", moment);
      if (!found) {
        found = list({std::to_string(moment)});
        cache_.put(owner_, "counter", *found, moment);
      }
      if ((*found)->front() != std::to_string(moment)) wrong = true;
    }
  };
  std::thread one(read);
  std::thread two(read);
  for (uint64_t moment = 2; moment <= kCommits; ++moment) {
    announce(moment, {"counter"});
    seen_at = moment;
  }
  one.join();
  two.join();
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace orrery::partition
