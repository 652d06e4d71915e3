// The log of removals: what it tells, its bound, and what a partition puts into it.
#include "partition/removal_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partition/format.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RemovalLogTest, TellsWhatWentAfterAPosition) {
  RemovalLog log(10);
  EXPECT_EQ(log.since(9), std::nullopt);
  EXPECT_THAT(log.since(10).value(), IsEmpty());
  log.add(11, {"a", "b"});
  log.add(12, {});
  log.add(13, {"c"});
  EXPECT_THAT(log.since(10).value(), ElementsAre("c", "b", "a"));
  EXPECT_THAT(log.since(11).value(), ElementsAre("c"));
  EXPECT_THAT(log.since(13).value(), IsEmpty());
}

TEST(RemovalLogTest, IsBounded) {
  RemovalLog log(0);
  for (uint64_t lsn = 1; lsn <= RemovalLog::kRemovalsMax + 5; ++lsn) log.add(lsn, {"k"});
  EXPECT_EQ(log.since(4), std::nullopt);
  EXPECT_EQ(log.since(5).value().size(), RemovalLog::kRemovalsMax);
  log.forget(5000);
  EXPECT_EQ(log.since(4999), std::nullopt);
  EXPECT_THAT(log.since(5000).value(), IsEmpty());
}

class RemovalsOfAPartitionTest : public PartitionTest {};

TEST_F(RemovalsOfAPartitionTest, AreKnownSinceItWasOpened) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, all_of(create("k", "1"), create("k", "2"))).error);
  const uint64_t before = partition->lsn();
  EXPECT_THAT(removed_since(*partition, before).value(), IsEmpty());
  ASSERT_FALSE(commit(*partition, all_of(remove("k", "1"), create("k", "3"))).error);
  EXPECT_THAT(removed_since(*partition, before).value(), ElementsAre(item_key("k", "1")));
  EXPECT_THAT(removed_since(*partition, partition->lsn()).value(), IsEmpty());
  // A purge does not say what goes.
  Write purge = write_of(Verb::purge, "k", "", schema_);
  purge.body.clear();
  ASSERT_FALSE(commit(*partition, std::move(purge)).error);
  EXPECT_EQ(removed_since(*partition, before), std::nullopt);
  const uint64_t last = partition->lsn();
  partition.reset();
  partition = open();
  EXPECT_EQ(removed_since(*partition, last - 1), std::nullopt);
  EXPECT_THAT(removed_since(*partition, last).value(), IsEmpty());
}

}  // namespace
}  // namespace orrery::partition
