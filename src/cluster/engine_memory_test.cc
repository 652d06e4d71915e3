// What running out of memory or threads does to the engine: each of its pools loses a job, callers
// hear of it, and the engine goes on.
#include <gmock/gmock.h>

#include <system_error>

#include "base/fault.h"
#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using fault::Action;

class EngineMemoryTest : public EngineTest {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { fault::disarm_all(); }
};

TEST_F(EngineMemoryTest, AnOpenerThatIsLostFailsThoseThatWaitedForIt) {
  const RoutingPtr routing = make("c");
  fault::arm("pool.opener", Action::memory);
  auto lost = await<WriteReply>([&](auto done) {
    engine_->write(routing, partition::one(write_of(*routing, partition::Verb::upsert, "k", "1")),
                   std::move(done));
  });
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::overloaded);
  EXPECT_FALSE(upsert(routing, "k", "1").error);
}

TEST_F(EngineMemoryTest, AWriterThatIsLostFailsTheWriteAndTheNextOneIsDone) {
  const RoutingPtr routing = make("c");
  ASSERT_FALSE(upsert(routing, "k", "1").error);
  fault::arm("pool.writer", Action::memory);
  const WriteReply failed = upsert(routing, "k", "2");
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, Code::overloaded);
  EXPECT_FALSE(upsert(routing, "k", "2").error);
}

TEST_F(EngineMemoryTest, ASplitThatIsLostIsToldAndCanBeDoneAgain) {
  const RoutingPtr routing = make("c");
  load(routing, 0, 20);
  fault::arm("pool.splitter", Action::memory);
  auto lost = engine_->split(routing->container->number, {});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::overloaded);
  auto split = engine_->split(routing->container->number, {});
  EXPECT_TRUE(split) << split.error().message;
  expect_all(find("c"), 20);
}

TEST_F(EngineMemoryTest, ASplitThatSizeAskedForIsAskedForAgain) {
  options_.limits.physical_partition_bytes = 4096;
  open();
  const RoutingPtr routing = make("c");
  fault::arm("pool.splitter", Action::memory);
  load(routing, 0, 50);
  int items = 50;
  // It is asked for by writes, once a second at most.
  EXPECT_TRUE(eventually([&] {
    clock_.advance_ms(2000);
    load(find("c"), items, items + 1);
    ++items;
    return find("c")->slots.size() > 1;
  }));
  expect_all(find("c"), items);
}

TEST_F(EngineMemoryTest, ScalingThatIsLostIsNotTakenForScalingForEver) {
  const RoutingPtr routing = make("c");
  const uint32_t number = routing->container->number;
  fault::arm("pool.splitter", Action::memory);
  ASSERT_TRUE(engine_->set_container_throughput(number, {.units = 20'000}));
  EXPECT_TRUE(eventually([&] { return !engine_->is_scaling(number); }));
  ASSERT_TRUE(engine_->set_container_throughput(number, {.units = 20'000}));
  EXPECT_TRUE(eventually([&] { return find("c")->slots.size() == 2; }));
}

TEST_F(EngineMemoryTest, MemoryThatRunsOutOnceTheMapIsDurableEndsInTheNewMap) {
  const RoutingPtr routing = make("c");
  load(routing, 0, 20);
  fault::arm("split.published", Action::memory);
  auto split = engine_->split(routing->container->number, {});
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(find("c")->slots.size(), 2U);
  expect_all(find("c"), 20);
  open();
  EXPECT_EQ(find("c")->slots.size(), 2U);
  expect_all(find("c"), 20);
}

TEST_F(EngineMemoryTest, ReindexingThatIsLostIsDoneLater) {
  const RoutingPtr routing = make("c");
  load(routing, 0, 20);
  fault::arm("pool.indexer", Action::memory);
  catalog::ContainerSpec spec = routing->container->spec;
  spec.index_rules = {{.path = value::parse_index_path("/n/?").value(), .include = true},
                      {.path = value::parse_index_path("/*").value(), .include = false}};
  ASSERT_TRUE(engine_->replace_container(routing->container->number, spec));
  EXPECT_TRUE(eventually(
      [&] { return indexed_percent(engine_->status(routing->container->number).value()) == 100; }));
  EXPECT_EQ(fault::passes("pool.indexer") >= 2, true);
}

TEST_F(EngineMemoryTest, ATrimThatIsLostHurtsNobody) {
  const RoutingPtr routing = make("c");
  load(routing, 0, 20);
  fault::arm("pool.trimmer", Action::memory);
  ASSERT_TRUE(engine_->split(routing->container->number, {}));
  EXPECT_TRUE(eventually([&] { return fault::passes("pool.trimmer") >= 2; }));
  expect_all(find("c"), 20);
}

TEST_F(EngineMemoryTest, AnEngineWithoutThreadsDoesNotStart) {
  engine_.reset();
  fault::arm("thread", Action::error, 5);
  try {
    auto opened = Engine::open(*volume_, clock_, options_);
    FAIL() << "it has too few threads";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no thread for"));
  }
  fault::disarm_all();
  open();
}

}  // namespace
}  // namespace orrery::cluster
