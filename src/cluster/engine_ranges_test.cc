// Containers that are placed by the order of their keys: where they are cut, by bytes, by load, and
// while they grow at their end only.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <ranges>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::ElementsAreArray;

class RangesTest : public EngineTest {
 protected:
  static std::string key(int number) { return fmt::format("k{:05}", number); }

  RoutingPtr make_ordered(uint32_t units = 400) {
    return make("c", units, key_of(value::Placement::range));
  }
  // One item for each key, whose row is the key.
  void put(const RoutingPtr& routing, int number, size_t bytes = 1000) {
    auto reply = upsert(routing, key(number), key(number), pad(bytes));
    ASSERT_FALSE(reply.error) << reply.error->message;
  }
  // Every item is there once, in the order of the keys, and no partition is empty.
  void expect_all_of(const RoutingPtr& routing, int count) {
    std::vector<std::string> expected;
    for (int i = 0; i < count; ++i) expected.push_back(key(i));
    EXPECT_THAT(rows(routing), ElementsAreArray(expected));
    for (int i = 0; i < count; i += 7) {
      auto found = read(routing, key(i), key(i));
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_TRUE(found->item) << i;
    }
    for (const PartitionStatus& one : status()) EXPECT_GT(one.usage.items, 0U) << one.range.id;
    EXPECT_EQ(items_by_usage(routing->container->number), static_cast<uint64_t>(count));
  }
  std::vector<PartitionStatus> status() {
    auto all = engine_->status(find("c")->container->number);
    EXPECT_TRUE(all);
    return all.value_or(std::vector<PartitionStatus>());
  }
  // No split is queued or running.
  bool settled() {
    return eventually([&] {
      const RoutingPtr now = find("c");
      return std::ranges::none_of(now->slots, [&](const auto& slot) {
        return slot->split_wanted || slot->bytes >= engine_->limits().physical_partition_bytes;
      });
    });
  }
};

TEST_F(RangesTest, AreCutInTheMiddleOfTheirBytes) {
  options_.limits.physical_partition_bytes = 100'000;
  open();
  auto routing = make_ordered();
  std::vector<int> numbers(400);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::shuffle(numbers, std::mt19937(7));
  for (int number : numbers) put(routing, number);
  ASSERT_TRUE(settled());
  EXPECT_GE(find("c")->slots.size(), 4U);
  expect_all_of(routing, 400);
  for (const PartitionStatus& one : status()) {
    EXPECT_LT(one.usage.bytes, 100'000U);
    EXPECT_GT(one.usage.bytes, 20'000U) << "both halves of a cut are worth having";
  }
}

TEST_F(RangesTest, ALogicalPartitionIsNeverCut) {
  options_.limits.physical_partition_bytes = 60'000;
  open();
  auto routing = make_ordered();
  for (int i = 0; i < 200; ++i) {
    auto reply = upsert(routing, key(i % 5), key(i), pad(500));
    ASSERT_FALSE(reply.error) << reply.error->message;
  }
  ASSERT_TRUE(settled());
  const RoutingPtr now = find("c");
  EXPECT_GE(now->slots.size(), 2U);
  for (const auto& slot : now->slots) {
    if (slot->range.min.empty()) continue;
    EXPECT_TRUE(std::ranges::any_of(std::views::iota(0, 5),
                                    [&](int i) { return slot->range.min == place(*now, key(i)); }));
  }
  EXPECT_EQ(rows(now).size(), 200U);
}

TEST_F(RangesTest, GrowingAtTheEndLeavesFullPartitionsBehind) {
  constexpr uint64_t kMax = 100'000;
  options_.limits.physical_partition_bytes = kMax;
  open();
  auto routing = make_ordered();
  constexpr int kCount = 3'000;
  for (int i = 0; i < kCount; ++i) {
    put(routing, i, 100);
    // How long a split takes is up to the machine; what comes meanwhile is not what is tested.
    ASSERT_TRUE(settled());
  }
  ASSERT_TRUE(settled());
  expect_all_of(routing, kCount);
  const std::vector<PartitionStatus> all = status();
  ASSERT_GE(all.size(), 4U);
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    EXPECT_GT(all[i].usage.bytes, kMax * 7 / 10) << "of " << all.size() << ", the one at " << i;
  }
}

TEST_F(RangesTest, AreCutWhereTheirLoadIsHalved) {
  open();
  auto routing = make_ordered(400);
  for (int i = 0; i < 200; ++i) put(routing, i);
  // Most of what is asked for lies among the first keys.
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(read(routing, key(i % 20), key(i % 20)));
  }
  ASSERT_TRUE(engine_->set_container_throughput(routing->container->number, {.units = 20'000}));
  ASSERT_TRUE(eventually([&] { return find("c")->slots.size() == 2; }));
  const RoutingPtr now = find("c");
  EXPECT_GT(now->slots[1]->range.min, place(*now, key(3)));
  EXPECT_LE(now->slots[1]->range.min, place(*now, key(17)));
  expect_all_of(routing, 200);
  // The halves know where their load is, and are halved again.
  ASSERT_TRUE(engine_->set_container_throughput(routing->container->number, {.units = 40'000}));
  ASSERT_TRUE(eventually([&] { return find("c")->slots.size() == 4; }));
  EXPECT_LE(find("c")->slots[2]->range.min, place(*now, key(20)));
  expect_all_of(routing, 200);
}

TEST_F(RangesTest, OneHotKeyIsCutByBytesInstead) {
  open();
  auto routing = make_ordered(400);
  for (int i = 0; i < 100; ++i) put(routing, i);
  for (int i = 0; i < 2'000; ++i) ASSERT_TRUE(read(routing, key(3), key(3)));
  ASSERT_TRUE(engine_->set_container_throughput(routing->container->number, {.units = 20'000}));
  ASSERT_TRUE(eventually([&] { return find("c")->slots.size() == 2; }));
  const RoutingPtr now = find("c");
  EXPECT_GT(now->slots[1]->range.min, place(*now, key(30)));
  EXPECT_LT(now->slots[1]->range.min, place(*now, key(70)));
  expect_all_of(routing, 100);
}

TEST_F(RangesTest, HaveOnePartitionUntilThereAreKeysAndThenAsManyAsTheirThroughputTakes) {
  open();
  auto routing = make_ordered(30'000);
  EXPECT_EQ(routing->slots.size(), 1U);
  EXPECT_EQ(engine_->split(routing->container->number, 0).error().code, Code::conflict);
  // Keys that only grow, too.
  int count = 0;
  while (find("c")->slots.size() < 3 && count < 5'000) {
    put(routing, count++, 100);
    clock_.advance_ms(100);
  }
  EXPECT_TRUE(eventually([&] { return find("c")->slots.size() == 3; }));
  expect_all_of(routing, count);
  open();
  EXPECT_EQ(find("c")->slots.size(), 3U);
  EXPECT_EQ(rows(find("c")).size(), static_cast<size_t>(count));
}

TEST_F(RangesTest, AFeedGoesOnAcrossCuts) {
  open();
  auto routing = make_ordered();
  for (int i = 0; i < 100; ++i) put(routing, i, 100);
  std::vector<std::string> all;
  std::optional<partition::ItemKey> after;
  for (bool more = true; more;) {
    auto reply = engine_->feed(routing, value::placement_min(), value::placement_max(),
                               after ? &*after : nullptr, 9, {});
    ASSERT_TRUE(reply) << reply.error().message;
    for (const auto& [key, item] : reply->page.items) all.push_back(key.row);
    more = reply->page.more;
    if (more) after = reply->page.last;
    if (find("c")->slots.size() < 6) {
      ASSERT_TRUE(engine_->split(routing->container->number, {}));
    }
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) expected.push_back(key(i));
  EXPECT_THAT(all, ElementsAreArray(expected));
  expect_all_of(routing, 100);
}

}  // namespace
}  // namespace orrery::cluster
