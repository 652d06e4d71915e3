// See second_chance.h.
#include "partition/second_chance.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace orrery::partition {
namespace {

using Cache = SecondChance<int>;

// Hashes as of one shard, and few of them, so that they meet in the table.
uint64_t hash_of(int key) {
  return static_cast<uint64_t>(key % 61) << 8 | static_cast<uint64_t>(key) << 40;
}
std::string name_of(int key) {
  return "key-" + std::to_string(key);
}
void put(Cache& cache, int key, int value) {
  cache.put(Cache::make(1, hash_of(key), name_of(key), value, 10));
}
const int* find(Cache& cache, int key) {
  return cache.find(1, hash_of(key), name_of(key));
}

TEST(SecondChanceTest, KeepsWhatAMapKeeps) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same in every run
  Cache cache(1 << 20);
  std::map<int, int> expected;
  for (int step = 0; step < 20'000; ++step) {
    const int key = static_cast<int>(random() % 300);
    if (random() % 2 == 0) {
      put(cache, key, step);
      expected[key] = step;
    } else {
      cache.erase(hash_of(key));
      expected.erase(key);
    }
    const int other = static_cast<int>(random() % 300);
    const auto known = expected.find(other);
    const int* found = find(cache, other);
    ASSERT_EQ(found != nullptr, known != expected.end()) << step;
    if (found != nullptr) {
      ASSERT_EQ(*found, known->second) << step;
    }
    ASSERT_EQ(cache.bytes(), 10 * expected.size());
  }
}

TEST(SecondChanceTest, AnotherKeyOrOwnerWithTheSameHashIsNotFound) {
  Cache cache(1000);
  cache.put(Cache::make(1, 5, "a", 1, 10));
  EXPECT_EQ(cache.find(1, 5, "b"), nullptr);
  EXPECT_EQ(cache.find(2, 5, "a"), nullptr);
  cache.put(Cache::make(2, 5, "a", 2, 10));
  EXPECT_EQ(cache.find(1, 5, "a"), nullptr) << "it took the place";
  EXPECT_EQ(*cache.find(2, 5, "a"), 2);
  EXPECT_EQ(cache.bytes(), 10U);
}

TEST(SecondChanceTest, TheOldestGoesUnlessItWasFound) {
  Cache cache(30);
  for (int key : {1, 2, 3}) put(cache, key, key);
  EXPECT_NE(find(cache, 1), nullptr);
  put(cache, 4, 4);
  EXPECT_NE(find(cache, 1), nullptr) << "spared once";
  EXPECT_EQ(find(cache, 2), nullptr);
  put(cache, 5, 5);
  EXPECT_EQ(find(cache, 3), nullptr);
  EXPECT_NE(find(cache, 4), nullptr);
  EXPECT_EQ(cache.bytes(), 30U);
}

TEST(SecondChanceTest, TakesNothingThatWouldPushOutAllOthers) {
  const Cache cache(80);
  EXPECT_TRUE(cache.takes(10));
  EXPECT_FALSE(cache.takes(11));
}

}  // namespace
}  // namespace orrery::partition
