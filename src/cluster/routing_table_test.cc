// See routing_table.h: what is kept from one routing to the next, and who shares a budget.
#include "cluster/routing_table.h"

#include <gtest/gtest.h>

#include "partition/partition_fixture.h"
#include "volume/local/local_volume.h"

namespace orrery::cluster {
namespace {

class RoutingTableTest : public testing::Test {
 protected:
  RoutingTableTest() {
    options_.limits.block_cache_bytes = 1ULL << 20;
    options_.limits.write_buffer_bytes = 1ULL << 20;
  }

  uint32_t database(std::string_view name, std::optional<uint32_t> units = {}) {
    std::optional<catalog::Throughput> throughput;
    if (units) throughput = catalog::Throughput{.units = *units};
    return catalog_->create_database({"face", name}, throughput).value()->number;
  }
  RoutingPtr container(uint32_t database, std::string_view name, std::optional<uint32_t> units,
                       uint32_t partitions = 1) {
    catalog::ContainerSpec spec;
    spec.name = name;
    spec.key.paths = {value::parse_property_path("/pk").value()};
    std::optional<catalog::Throughput> throughput;
    if (units) throughput = catalog::Throughput{.units = *units};
    const auto boundaries = value::divide_evenly(spec.key.placement, partitions);
    const auto made =
        catalog_->create_container(database, std::move(spec), throughput, boundaries).value();
    const MutexLock change(table_.change_mutex);
    return table_.add(made);
  }
  void rebuild(uint32_t number) {
    const MutexLock change(table_.change_mutex);
    table_.rebuild(number);
  }

  partition::TemporaryDirectory directory_;
  ManualClock clock_;
  EngineOptions options_;
  std::unique_ptr<volume::Volume> volume_ = volume::open_local_volume(directory_.path()).value();
  partition::Shared shared_{options_.limits, clock_, false};
  std::unique_ptr<catalog::Catalog> catalog_ = catalog::Catalog::open(shared_, *volume_).value();
  const ServingPlan plan_{""};
  RoutingTable table_{*catalog_, clock_, options_, plan_};
};

TEST_F(RoutingTableTest, AContainerIsFoundByItsNameAndNumberUntilItIsRemoved) {
  const uint32_t db = database("db");
  const RoutingPtr made = container(db, "things", 400);
  const uint32_t number = made->container->number;
  EXPECT_EQ(table_.find(number), made);
  EXPECT_EQ(table_.find({"face", "db"}, "things"), made);
  EXPECT_EQ(table_.find({"other", "db"}, "things"), nullptr);
  EXPECT_EQ(table_.all(), std::vector{made});
  {
    const MutexLock change(table_.change_mutex);
    table_.remove(*made);
  }
  EXPECT_EQ(table_.find(number), nullptr);
  EXPECT_EQ(table_.find({"face", "db"}, "things"), nullptr);
  EXPECT_TRUE(table_.all().empty());
}

TEST_F(RoutingTableTest, ARoutingThatIsMadeAgainKeepsTheSlotsAndGivesThemTheirShare) {
  const RoutingPtr before = container(database("db"), "things", 1000, 4);
  ASSERT_EQ(before->slots.size(), 4U);
  EXPECT_EQ(before->slots[0]->own_budget->rate(), 250);
  const uint32_t number = before->container->number;
  ASSERT_TRUE(catalog_->update_container(number, [](catalog::Container& record) -> Status {
    record.throughput->units = 2000;
    return {};
  }));
  rebuild(number);
  const RoutingPtr after = table_.find(number);
  EXPECT_NE(after, before);
  EXPECT_EQ(after->slots, before->slots);
  EXPECT_EQ(after->slots[3]->own_budget->rate(), 500);
  EXPECT_EQ(table_.find({"face", "db"}, "things"), after);
}

TEST_F(RoutingTableTest, ContainersWithoutThroughputShareTheirDatabases) {
  const uint32_t shared = database("shared", 800);
  const RoutingPtr one = container(shared, "one", {});
  const RoutingPtr two = container(shared, "two", {});
  const RoutingPtr own = container(shared, "own", 400);
  ASSERT_TRUE(one->shared_budget);
  EXPECT_EQ(one->shared_budget, two->shared_budget);
  EXPECT_EQ(one->shared_budget->rate(), 800);
  EXPECT_EQ(own->shared_budget, nullptr);
  const MutexLock change(table_.change_mutex);
  table_.set_database_rate(shared, 1600);
  EXPECT_EQ(two->shared_budget->rate(), 1600);
}

TEST_F(RoutingTableTest, AJobIsDoneAgainWithANewerRoutingWhileItsPartitionMoves) {
  const RoutingPtr first = container(database("db"), "things", 400);
  const uint32_t number = first->container->number;
  std::vector<const Routing*> seen;
  auto done = table_.follow(first, [&](const Routing& now) -> Result<int> {
    seen.push_back(&now);
    if (seen.size() == 2) return 5;
    rebuild(number);
    return fail(Code::moved, "it moved");
  });
  EXPECT_EQ(done.value(), 5);
  EXPECT_EQ(seen, (std::vector<const Routing*>{first.get(), table_.find(number).get()}));
}

TEST_F(RoutingTableTest, AJobThatIsAlwaysRoutedWrongEnds) {
  const RoutingPtr routing = container(database("db"), "things", 400);
  int attempts = 0;
  auto moves = [&](const Routing&) -> Result<int> {
    ++attempts;
    return fail(Code::moved, "it moved");
  };
  EXPECT_EQ(table_.follow(routing, moves).error().code, Code::overloaded);
  EXPECT_EQ(attempts, kRouteAttempts);
  {
    const MutexLock change(table_.change_mutex);
    table_.remove(*routing);
  }
  EXPECT_EQ(table_.follow(routing, moves).error().code, Code::not_found);
}

}  // namespace
}  // namespace orrery::cluster
