// Budgets: each partition has T/N, or the containers of a database share one.
#include "cluster/engine_fixture.h"
#include "cluster/throughput.h"

namespace orrery::cluster {
namespace {

using testing::HasSubstr;

class BudgetTest : public EngineTest {
 protected:
  BudgetTest() {
    options_.throttling = Throttling::enforce;
    options_.limits.partition_throughput = 200;
  }
  // Writes to this key until one is refused; its error.
  Error exhaust(const RoutingPtr& routing, std::string_view key) {
    for (int i = 0; i < 1000; ++i) {
      auto reply = upsert(routing, key, std::to_string(i), pad(1000));
      if (reply.error) return *reply.error;
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }
  // A key that lives in this slot.
  static std::string key_in(const Routing& routing, size_t slot) {
    for (int i = 0;; ++i) {
      std::string key = "key" + std::to_string(i);
      if (routing.slot_of(place(routing, key)) == routing.slots[slot]) return key;
    }
  }
};

TEST_F(BudgetTest, A14EachPartitionHasItsShare) {
  open();
  auto routing = make("c", 600);
  ASSERT_EQ(routing->slots.size(), 3);
  for (const auto& slot : routing->slots) EXPECT_EQ(slot->own_budget->rate(), 200);
  const Error refused = exhaust(routing, key_in(*routing, 0));
  EXPECT_EQ(refused.code, Code::throttled);
  EXPECT_GT(refused.retry_after_ms, 0);
  EXPECT_THAT(refused.message, HasSubstr("200"));
  EXPECT_EQ(read(routing, key_in(*routing, 0), "0").error().code, Code::throttled);
  EXPECT_FALSE(upsert(routing, key_in(*routing, 1), "1").error) << "another partition is not full";
  EXPECT_EQ(engine_->feed(routing, "", "\xFF", nullptr, 5, {}).error().code, Code::throttled);

  clock_.advance_ms(refused.retry_after_ms);
  EXPECT_FALSE(upsert(routing, key_in(*routing, 0), "late").error)
      << "after the wait that was told";
  auto statuses = engine_->status(routing->container->number);
  EXPECT_GE((*statuses)[0].throttled, 2);
  EXPECT_EQ((*statuses)[1].throttled, 0);
  EXPECT_GE((*statuses)[0].charge, 200);
}

TEST_F(BudgetTest, ReportModeServesAndSaysSo) {
  options_.throttling = Throttling::report;
  open();
  auto routing = make("c", 400);
  uint32_t told = 0;
  for (int i = 0; i < 200; ++i) {
    auto reply = upsert(routing, "a", std::to_string(i), pad(1000));
    ASSERT_FALSE(reply.error);
    told = std::max(told, reply.receipt.would_throttle_ms);
  }
  EXPECT_GT(told, 0);
  EXPECT_GT(read(routing, "a", "0")->receipt.would_throttle_ms, 0);
}

// It may be tried on one thread and run on another.
TEST_F(BudgetTest, AQueryOverItsBudgetIsCountedOnce) {
  options_.throttling = Throttling::report;
  open();
  auto routing = make("c", 400);
  const Slot& slot = *routing->slots[0];
  EXPECT_EQ(engine_->admit_query(routing, "").value(), 0);
  engine_->pay_for_query(routing, "", 1'000, 0);
  EXPECT_EQ(slot.counters.throttled, 0);
  EXPECT_GT(engine_->admit_query(routing, "").value(), 0);
  const uint32_t wait_ms = engine_->admit_query(routing, "").value();
  EXPECT_GT(wait_ms, 0);
  engine_->pay_for_query(routing, "", 1, wait_ms);
  EXPECT_EQ(slot.counters.throttled, 1);
  EXPECT_GT(read(routing, key_in(*routing, 0), "0")->receipt.would_throttle_ms, 0);
  EXPECT_EQ(slot.counters.throttled, 2);
}

TEST_F(BudgetTest, ContainersOfADatabaseShareItsBudget) {
  options_.limits.partition_throughput = 10'000;
  options_.limits.shared_throughput_containers = 2;
  open();
  auto database = engine_->create_database({kFace, "shared"}, catalog::Throughput{.units = 400});
  ASSERT_TRUE(database);
  auto make_sharing = [&](std::string_view name) {
    catalog::ContainerSpec spec;
    spec.name = name;
    spec.key = key_of();
    return engine_->create_container((*database)->number, spec, std::nullopt);
  };
  auto a = make_sharing("a").value();
  auto b = make_sharing("b").value();
  EXPECT_EQ(make_sharing("c").error().code, Code::invalid);
  EXPECT_EQ(a->shared_budget, b->shared_budget);
  EXPECT_EQ(exhaust(a, "k").code, Code::throttled);
  EXPECT_EQ(upsert(b, "k", "1").error->code, Code::throttled);
  auto own = make("own");
  EXPECT_FALSE(upsert(own, "k", "1").error);

  ASSERT_TRUE(engine_->set_database_throughput((*database)->number, {.units = 4000}));
  EXPECT_EQ(a->shared_budget->rate(), 4000);
  clock_.advance_ms(1000);
  EXPECT_FALSE(upsert(b, "k", "1").error);
  EXPECT_EQ(engine_->set_container_throughput(a->container->number, {.units = 500}).error().code,
            Code::invalid);
  EXPECT_EQ(engine_->set_database_throughput(database_, {.units = 500}).error().code,
            Code::invalid);
  EXPECT_EQ(engine_->set_database_throughput((*database)->number, {.units = 50}).error().code,
            Code::invalid);
  EXPECT_EQ(engine_->set_database_throughput(999, {.units = 500}).error().code, Code::not_found);
  open();
  EXPECT_EQ(engine_->find({kFace, "shared"}, "a")->shared_budget->rate(), 4000);
}

TEST_F(BudgetTest, ExpiredItemsAreCollectedWithWhatIsLeftOfTheBudget) {
  options_.throttling = Throttling::report;
  options_.limits.partition_throughput = 400;
  open();
  catalog::ContainerSpec spec = make("c", 400)->container->spec;
  spec.default_life_ms = 10'000;
  RoutingPtr routing = engine_->replace_container(find("c")->container->number, spec).value();
  constexpr int kItems = 300;
  load(routing, 0, kItems);
  const uint32_t number = routing->container->number;
  // Time stands still but for this step: one second's worth, 400, is all that there is to spend.
  clock_.advance_ms(60'000);
  // Estimated by size, each costs 4.95; the last one begins below the limit.
  constexpr uint64_t kMost = 81;
  EXPECT_TRUE(eventually([&] { return items_by_usage(number) < kItems; }));
  EXPECT_GE(items_by_usage(number), kItems - kMost);
  EXPECT_TRUE(rows(routing).empty());  // hidden all the same
  // Those are paid for: requests have to wait.
  EXPECT_TRUE(
      eventually([&] { return upsert(routing, "new", "new").receipt.would_throttle_ms > 0; }));
  EXPECT_GE(items_by_usage(number), kItems - kMost);
  EXPECT_TRUE(eventually([&] {
    clock_.advance_ms(1000);
    return items_by_usage(number) == 0;
  }));
}

TEST_F(BudgetTest, PurgedItemsAreRemovedWithATenthOfTheBudgetEvenWhileThereIsADebt) {
  options_.throttling = Throttling::report;
  options_.limits.partition_throughput = 1'000;
  open();
  RoutingPtr routing = make("c", 1'000);
  constexpr int kItems = 100;
  for (int i = 0; i < kItems; ++i) {
    ASSERT_FALSE(upsert(routing, "k", std::to_string(i), pad(100)).error);
  }
  ASSERT_FALSE(upsert(routing, "other", "other").error);
  const uint32_t number = routing->container->number;
  const Slot& slot = *routing->slots[0];
  engine_->pay_for_query(routing, "", 10'000);
  const double before = slot.counters.charge;
  partition::Write purge = write_of(*routing, partition::Verb::purge, "k", "");
  ASSERT_FALSE(write(routing, std::move(purge)).error);
  EXPECT_THAT(rows(routing), testing::ElementsAre("other"));
  // Time stands still: a second's share, 100, is all that there is to spend. Estimated by size,
  // each costs 4.95; the last one begins below the limit.
  constexpr uint64_t kMost = 21;
  EXPECT_TRUE(eventually([&] { return items_by_usage(number) < kItems; }));
  EXPECT_TRUE(eventually([&] { return slot.counters.purge_charge > 0; }));
  EXPECT_GE(items_by_usage(number), kItems + 1 - kMost);
  EXPECT_GE(slot.counters.charge - before, slot.counters.purge_charge) << "paid of the same budget";
  EXPECT_TRUE(eventually([&] {
    clock_.advance_ms(1000);
    return items_by_usage(number) == 1;
  }));
  EXPECT_TRUE(eventually([&] {
    clock_.advance_ms(1000);
    return slot.opened()->purges_pending() == 0;
  }));
  EXPECT_EQ(slot.counters.purged_items, kItems);
}

TEST_F(BudgetTest, ThroughputChangesAtAnyTime) {
  options_.limits.partition_throughput = 10'000;
  open();
  auto routing = make("c", 400);
  EXPECT_EQ(exhaust(routing, "k").code, Code::throttled);
  ASSERT_TRUE(engine_->set_container_throughput(routing->container->number, {.units = 9000}));
  clock_.advance_ms(100);
  EXPECT_FALSE(upsert(routing, "k", "1").error);
  EXPECT_EQ(routing->slots[0]->own_budget->rate(), 9000) << "seen by those who routed before";
  ASSERT_TRUE(engine_->set_container_throughput(routing->container->number,
                                                {.units = 1000, .autoscale = true}));
  EXPECT_EQ(find("c")->container->throughput->autoscale, true);
  EXPECT_EQ(
      engine_->set_container_throughput(routing->container->number, {.units = 450}).error().code,
      Code::invalid);
  EXPECT_EQ(engine_->set_container_throughput(999, {.units = 400}).error().code, Code::not_found);
  open();
  EXPECT_EQ(find("c")->slots[0]->own_budget->rate(), 1000);
}

TEST_F(BudgetTest, A18FixedContainersAreOnePartition) {
  open();
  auto fixed = make("fixed", 10'000, value::KeyDefinition{});
  EXPECT_EQ(fixed->slots.size(), 1);
  EXPECT_EQ(fixed->slots[0]->own_budget->rate(), 10'000);
  EXPECT_EQ(
      engine_->set_container_throughput(fixed->container->number, {.units = 11'000}).error().code,
      Code::invalid);
  ASSERT_TRUE(engine_->set_container_throughput(fixed->container->number, {.units = 400}));
  EXPECT_FALSE(engine_->is_scaling(fixed->container->number));
}

}  // namespace
}  // namespace orrery::cluster
