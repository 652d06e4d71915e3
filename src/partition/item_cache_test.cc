// See item_cache.h: what was changed is never found, whoever read it when.
#include "partition/item_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace orrery::partition {
namespace {

std::shared_ptr<const Item> item(std::string body) {
  auto made = std::make_shared<Item>();
  made->body = std::move(body);
  return made;
}

class ItemCacheTest : public testing::Test {
 protected:
  void put(std::string_view key, std::string body) {
    ItemCache::Ticket ticket;
    cache_.find(owner_, key, ticket);
    cache_.put(owner_, key, item(std::move(body)), ticket);
  }
  std::string find(std::string_view key) {
    ItemCache::Ticket ticket;
    auto found = cache_.find(owner_, key, ticket);
    return found ? found->body : "none";
  }

  ItemCache cache_{1 << 20};
  const uint64_t owner_ = cache_.new_owner();
};

TEST_F(ItemCacheTest, GivesWhatWasPut) {
  EXPECT_EQ(find("a"), "none");
  put("a", "1");
  EXPECT_EQ(find("a"), "1");
  put("a", "2");
  EXPECT_EQ(find("a"), "2");
}

TEST_F(ItemCacheTest, OwnersShareNothing) {
  put("a", "1");
  ItemCache::Ticket ticket;
  EXPECT_EQ(cache_.find(cache_.new_owner(), "a", ticket), nullptr);
}

TEST_F(ItemCacheTest, AChangeTakesTheItemOut) {
  put("a", "1");
  put("b", "1");
  {
    ItemCache::Change change(cache_, owner_, {"a"});
    EXPECT_EQ(find("a"), "none");
    EXPECT_EQ(find("b"), "1");
  }
  EXPECT_EQ(find("a"), "none");
}

TEST_F(ItemCacheTest, WhatWasReadBeforeAChangeCannotBePutAfterIt) {
  ItemCache::Ticket before;
  cache_.find(owner_, "a", before);
  {
    ItemCache::Change change(cache_, owner_, {"a"});
  }
  cache_.put(owner_, "a", item("old"), before);
  EXPECT_EQ(find("a"), "none");
}

TEST_F(ItemCacheTest, WhatWasReadDuringAChangeCannotBePut) {
  ItemCache::Ticket during;
  {
    ItemCache::Change change(cache_, owner_, {"a"});
    cache_.find(owner_, "a", during);
    cache_.put(owner_, "a", item("old"), during);
    EXPECT_EQ(find("a"), "none");
  }
  cache_.put(owner_, "a", item("old"), during);
  EXPECT_EQ(find("a"), "none");
  put("a", "new");
  EXPECT_EQ(find("a"), "new");
}

TEST_F(ItemCacheTest, MemoryIsBounded) {
  for (int i = 0; i < 10'000; ++i) put(fmt::format("key-{}", i), std::string(500, 'x'));
  EXPECT_LE(cache_.bytes(), 1U << 20);
  EXPECT_GT(cache_.bytes(), 1U << 19);
  EXPECT_EQ(find("key-9999"), std::string(500, 'x'));
  EXPECT_EQ(find("key-0"), "none");
  put("large", std::string(1 << 20, 'x'));
  EXPECT_EQ(find("large"), "none") << "one item does not push out the others";
}

// A counter is "committed" to an atomic under changes; readers go through the cache. Nobody may
// read less than what was committed before they began.
TEST_F(ItemCacheTest, ReadersNeverSeeWhatACommitHasReplaced) {
  constexpr int kCommits = 20'000;
  std::atomic<int> stored{0};
  std::atomic<int> committed{0};
  std::atomic<bool> stale{false};
  auto read = [&] {
    while (committed.load() < kCommits) {
      const int least = committed.load();
      ItemCache::Ticket ticket;
      auto found = cache_.find(owner_, "counter", ticket);
      if (!found) {
        found = item(std::to_string(stored.load()));
        cache_.put(owner_, "counter", found, ticket);
      }
      if (std::stoi(found->body) < least) stale = true;
    }
  };
  std::thread one(read);
  std::thread two(read);
  for (int i = 1; i <= kCommits; ++i) {
    {
      ItemCache::Change change(cache_, owner_, {"counter"});
      stored = i;
    }
    committed = i;
  }
  one.join();
  two.join();
  EXPECT_FALSE(stale);
}

}  // namespace
}  // namespace orrery::partition
