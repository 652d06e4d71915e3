// Merges through the engine: on demand, after throughput was lowered, under load, and what readers
// from before find.
#include <fmt/format.h>

#include <atomic>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;

class MergeTest : public EngineTest {
 protected:
  bool tidy() {
    return eventually([&] { return testing::Value(files(), IsSubsetOf(named_files())); });
  }
  // The upkeep looks once a second, of which this clock knows nothing by itself.
  bool shrinks_to(std::string_view name, size_t partitions) {
    return eventually([&] {
      clock_.advance_ms(500);
      return find(name)->slots.size() == partitions;
    });
  }
};

TEST_F(MergeTest, OnDemand) {
  open();
  auto before = make("c");
  const uint32_t number = before->container->number;
  load(before, 0, 100);
  ASSERT_TRUE(engine_->split(number, 0));
  const auto halves = find("c");
  load(halves, 100, 120);
  auto report = engine_->merge(number, 2, 1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->left, 1);
  EXPECT_EQ(report->right, 2);
  EXPECT_EQ(report->child, 3);
  auto after = find("c");
  ASSERT_EQ(after->slots.size(), 1);
  EXPECT_TRUE(catalog::covers_everything(*after->container->map));
  EXPECT_THAT(after->slots[0]->range.parents, ElementsAre(0, 1, 2));
  for (const auto& routing : {before, halves, after}) expect_all(routing, 120);
  EXPECT_EQ(items_by_usage(number), 120);
  load(before, 120, 130);
  load(halves, 130, 140);
  expect_all(after, 140);
  EXPECT_TRUE(tidy());
  open();
  EXPECT_EQ(find("c")->slots.size(), 1);
  expect_all(find("c"), 140);
  EXPECT_THAT(engine_->catalog().removals(), IsEmpty());
  // And again, both ways.
  ASSERT_TRUE(engine_->split(number, {}));
  ASSERT_TRUE(engine_->merge(number, 4, 5));
  expect_all(find("c"), 140);
}

TEST_F(MergeTest, WhatCannotBeMergedSaysWhy) {
  options_.limits.physical_partition_bytes = 100'000;
  open();
  const uint32_t number = make("c", 30'000)->container->number;
  load(find("c"), 0, 60, 1'000);
  ASSERT_EQ(find("c")->slots.size(), 3);
  auto apart = engine_->merge(number, 0, 2);
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().code, Code::conflict);
  EXPECT_THAT(apart.error().message, HasSubstr("neighbours"));
  EXPECT_EQ(engine_->merge(number, 1, 1).error().code, Code::conflict);
  EXPECT_EQ(engine_->merge(number, 0, 7).error().code, Code::not_found);
  EXPECT_EQ(engine_->merge(999, 0, 1).error().code, Code::not_found);
  load(find("c"), 60, 120, 1'000);
  auto large = engine_->merge(number, 0, 1);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::conflict);
  EXPECT_THAT(large.error().message, HasSubstr("bytes"));
  expect_all(find("c"), 120);
}

TEST_F(MergeTest, EmptyPartitionsMergeInTheMapAlone) {
  open();
  const uint32_t number = make("c", 40'000)->container->number;
  ASSERT_TRUE(engine_->merge(number, 0, 1));
  ASSERT_TRUE(engine_->merge(number, 2, 3));
  EXPECT_EQ(find("c")->slots.size(), 2);
  EXPECT_THAT(files(), ElementsAre("catalog"));
  load(find("c"), 0, 20);
  ASSERT_TRUE(engine_->merge(number, 4, 5));
  expect_all(find("c"), 20);
}

TEST_F(MergeTest, OrderedContainersMergeToo) {
  open();
  auto routing = make("c", 400, key_of(value::Placement::range));
  const uint32_t number = routing->container->number;
  load(routing, 0, 80);
  ASSERT_TRUE(engine_->split(number, 0));
  ASSERT_TRUE(engine_->merge(number, 1, 2));
  expect_all(find("c"), 80);
  EXPECT_EQ(find("c")->slots.size(), 1);
}

// Ranges that are gone keep their bounds: who names one reads its keys and no others.
TEST_F(MergeTest, TheMapKnowsWhatIsGone) {
  open();
  auto routing = make("c");
  const uint32_t number = routing->container->number;
  load(routing, 0, 60);
  ASSERT_TRUE(engine_->split(number, 0));  // 1, 2
  ASSERT_TRUE(engine_->split(number, 2));  // 3, 4
  const auto& map = *find("c")->container->map;
  const std::string first_cut = map.ranges[1].min;
  const std::string second_cut = map.ranges[2].min;
  ASSERT_TRUE(engine_->merge(number, 1, 3));  // 5
  const auto merged = find("c");
  const catalog::PartitionMap& now = *merged->container->map;
  EXPECT_EQ(now.bounds_of(1)->max, first_cut);
  EXPECT_EQ(now.bounds_of(3)->min, first_cut);
  EXPECT_EQ(now.bounds_of(3)->max, second_cut);
  EXPECT_EQ(now.bounds_of(2)->min, first_cut) << "it was split, and one half was merged";
  EXPECT_EQ(now.bounds_of(0)->max, now.ranges[1].max);
  EXPECT_FALSE(now.bounds_of(99));
}

TEST_F(MergeTest, ReadersOfChangesGoOnInTheChild) {
  open();
  auto routing = make("c");
  const uint32_t number = routing->container->number;
  load(routing, 0, 40);
  ASSERT_TRUE(engine_->split(number, 0));
  auto halves = find("c");
  std::map<std::string, std::pair<std::string, uint64_t>> positions;  // max, position by min
  std::vector<std::string> seen;
  auto read_on = [&] {
    for (auto& [min, at] : positions) {
      auto reply = engine_->changes(find("c"), min, at.first, {.position = at.second}, 1'000, {});
      ASSERT_TRUE(reply) << reply.error().message;
      for (const auto& change : reply->page.changes) seen.push_back(change.key.row);
      at.second = reply->page.lsn;
    }
  };
  for (const auto& slot : halves->slots) positions[slot->range.min] = {slot->range.max, 0};
  read_on();
  EXPECT_EQ(seen.size(), 40);
  seen.clear();
  load(halves, 40, 60);
  ASSERT_TRUE(engine_->merge(number, 1, 2));
  load(halves, 60, 70);
  read_on();
  EXPECT_EQ(seen.size(), 30) << "each change once";
  seen.clear();
  read_on();
  EXPECT_THAT(seen, IsEmpty());
}

TEST_F(MergeTest, UnderLoadNothingFailsAndNothingIsLost) {
  open();
  auto routing = make("c");
  const uint32_t number = routing->container->number;
  load(routing, 0, 50);
  std::atomic<bool> stop{false};
  std::atomic<int> next{50};
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&] {
      while (!stop) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const int i = next++;
        auto reply = upsert(routing, "k" + std::to_string(i), std::to_string(i), pad(100));
        EXPECT_FALSE(reply.error) << reply.error->message;
      }
    });
  }
  for (int round = 0; round < 4; ++round) {
    auto split = engine_->split(number, {});
    ASSERT_TRUE(split) << split.error().message;
    auto merged = engine_->merge(number, split->left, split->right);
    EXPECT_TRUE(merged) << merged.error().message;
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  expect_all(find("c"), next);
  EXPECT_EQ(items_by_usage(number), static_cast<uint64_t>(next));
  EXPECT_TRUE(tidy());
}

TEST_F(MergeTest, LoweredThroughputMergesWhatIsIdle) {
  open();
  const uint32_t number = make("c", 40'000)->container->number;
  ASSERT_EQ(find("c")->slots.size(), 4);
  load(find("c"), 0, 40);
  ASSERT_TRUE(engine_->set_container_throughput(number, {.units = 20'000}));
  EXPECT_TRUE(shrinks_to("c", 2));
  EXPECT_THAT(find("c")->slots[0]->range.parents, ElementsAre(0, 1)) << "neighbours, evenly";
  EXPECT_THAT(find("c")->slots[1]->range.parents, ElementsAre(2, 3));
  // Also after a restart in between.
  ASSERT_TRUE(engine_->set_container_throughput(number, {.units = 400}));
  open();
  EXPECT_TRUE(shrinks_to("c", 1));
  expect_all(find("c"), 40);
  for (const catalog::PastMerge& one : find("c")->container->map->merges) {
    EXPECT_EQ(one.why.cause, catalog::MergeCause::throughput);
  }
  // And back: nothing is merged and split in turn.
  ASSERT_TRUE(engine_->set_container_throughput(number, {.units = 20'000}));
  EXPECT_TRUE(eventually([&] { return find("c")->slots.size() == 2; }));
  EXPECT_FALSE(find("c")->container->shrinks);
}

TEST_F(MergeTest, WhatSomebodySplitStaysSplit) {
  open();
  const uint32_t number = make("c", 20'000)->container->number;
  load(find("c"), 0, 40);
  ASSERT_TRUE(engine_->set_container_throughput(number, {.units = 10'000}));
  EXPECT_TRUE(find("c")->container->shrinks);
  ASSERT_TRUE(shrinks_to("c", 1));
  ASSERT_TRUE(engine_->split(number, {}));
  EXPECT_FALSE(find("c")->container->shrinks);
}

TEST_F(MergeTest, AFailureAtAnyStepLeavesBothAsTheyWere) {
  open();
  auto routing = make("c");
  const uint32_t number = routing->container->number;
  load(routing, 0, 30);
  ASSERT_TRUE(engine_->split(number, 0));
  int count = 30;
  for (const char* point : {"merge.begin", "merge.intended", "merge.copied", "merge.opened"}) {
    fault::arm(point, fault::Action::error);
    EXPECT_FALSE(engine_->merge(number, 1, 2)) << point;
    fault::disarm_all();
    EXPECT_EQ(find("c")->slots.size(), 2) << point;
    load(routing, count, count + 5);
    count += 5;
    expect_all(routing, count);
  }
  EXPECT_TRUE(tidy());
  EXPECT_TRUE(eventually([&] { return engine_->catalog().removals().empty(); }));
  ASSERT_TRUE(engine_->merge(number, 1, 2));
  expect_all(routing, count);
}

}  // namespace
}  // namespace orrery::cluster
