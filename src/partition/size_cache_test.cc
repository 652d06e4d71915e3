// Sizes are found as the last commit left them, in bounded memory.
#include "partition/size_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "base/fault.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

TEST(SizeCache, FindsTheNewestOfItsOwner) {
  SizeCache cache(1 << 20);
  const uint64_t mine = cache.new_owner();
  const uint64_t other = cache.new_owner();
  EXPECT_FALSE(cache.find(mine, "k"));
  cache.put(mine, "k", {.bytes = 1, .items = 2, .key_text = "[\"k\"]"});
  cache.put(mine, "k", {.bytes = 3, .items = 4, .key_text = "[\"k\"]"});
  const auto found = cache.find(mine, "k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 3U);
  EXPECT_EQ(found->items, 4U);
  EXPECT_EQ(found->key_text, "[\"k\"]");
  EXPECT_FALSE(cache.find(other, "k"));
}

TEST(SizeCache, IsBoundedAndNeverStale) {
  SizeCache cache(64 << 10);
  const uint64_t owner = cache.new_owner();
  size_t kept = 0;
  for (size_t i = 0; i < 5'000; ++i)
    cache.put(owner, std::to_string(i), {.bytes = i, .items = 1, .key_text = ""});
  for (size_t i = 0; i < 5'000; ++i) {
    const auto found = cache.find(owner, std::to_string(i));
    if (!found) continue;
    ++kept;
    EXPECT_EQ(found->bytes, i);
  }
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, (64U << 10) / 160);
  // One that is too large for it does not leave the one before.
  cache.put(owner, "k", {.bytes = 1, .items = 1, .key_text = ""});
  cache.put(owner, "k", {.bytes = 2, .items = 1, .key_text = std::string(8 << 10, 'x')});
  EXPECT_FALSE(cache.find(owner, "k"));
}

class SizeCacheTest : public PartitionTest {};

TEST_F(SizeCacheTest, SizesAreRightAfterCommitsThatFailed) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  ASSERT_FALSE(commit(*partition, create("k", "b")).error);
  for (const fault::Action action : {fault::Action::error, fault::Action::memory}) {
    fault::arm("partition.commit", action);
    EXPECT_TRUE(commit(*partition, create("k", "c")).error);
    fault::disarm_all();
    clock_.advance_ms(2'000);
    ASSERT_FALSE(commit(*partition, upsert("k", "d")).error);
    ASSERT_FALSE(commit(*partition, all_of(remove("k", "a"), create("k", "a"))).error);
    const auto largest = partition->largest(1);
    ASSERT_TRUE(largest.has_value());
    const Usage usage = recomputed_usage(*partition);
    EXPECT_EQ(largest->front().usage.bytes, usage.bytes);
    EXPECT_EQ(largest->front().usage.items, usage.items);
  }
}

}  // namespace
}  // namespace orrery::partition
