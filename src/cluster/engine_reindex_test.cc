// A container's new index rules reach all of its partitions in the background.
#include "cluster/engine_fixture.h"
#include "partition/prepared_terms.h"

namespace orrery::cluster {
namespace {

class EngineReindexTest : public EngineTest {
 protected:
  RoutingPtr change_rules(const RoutingPtr& routing,
                          const std::vector<std::pair<std::string, bool>>& rules) {
    catalog::ContainerSpec spec = routing->container->spec;
    spec.index_rules.clear();
    for (const auto& [path, include] : rules) {
      spec.index_rules.push_back({value::parse_index_path(path).value(), include});
    }
    auto changed = engine_->replace_container(routing->container->number, std::move(spec));
    EXPECT_TRUE(changed) << changed.error().message;
    return changed.value_or(nullptr);
  }
  uint32_t percent(uint32_t container) {
    auto statuses = engine_->status(container);
    EXPECT_TRUE(statuses) << statuses.error().message;
    return statuses ? indexed_percent(*statuses) : 0;
  }
  // That all is done: the catalog knows, and every partition has what the rules make.
  void expect_reindexed(std::string_view name) {
    ASSERT_TRUE(eventually([&] {
      const RoutingPtr now = find(name);
      return now->container->indexed_version == now->container->index_version &&
             percent(now->container->number) == 100;
    }));
    const RoutingPtr routing = find(name);
    for (const auto& slot : routing->slots) {
      auto partition = slot->opened();
      if (!partition) continue;
      EXPECT_TRUE(partition->is_indexed(*routing->schema));
      EXPECT_EQ(partition::sorted_terms(*partition),
                partition::expected_terms(*partition, routing->schema->index));
    }
  }
};

TEST_F(EngineReindexTest, NewRulesReachEveryPartition) {
  open();
  auto routing = make("c", 30'000);
  load(routing, 0, 300);
  const uint64_t revision =
      change_rules(routing, {{"/*", true}, {"/pad/?", false}})->container->revision;
  expect_reindexed("c");
  expect_all(find("c"), 300);
  EXPECT_EQ(find("c")->container->revision, revision)
      << "being done with it changes nothing to be seen";
  EXPECT_EQ(find("c")->container->index_version, 2U);
}

TEST_F(EngineReindexTest, OnlyChangesOfTheRulesCount) {
  open();
  auto routing = make("c");
  load(routing, 0, 3);
  catalog::ContainerSpec spec = routing->container->spec;
  spec.default_life_ms = partition::Lifetime::kForever;
  spec.face_json = "{}";
  auto changed = engine_->replace_container(routing->container->number, spec);
  ASSERT_TRUE(changed);
  EXPECT_EQ((*changed)->container->index_version, 1U);
  EXPECT_EQ(percent(routing->container->number), 100U);
}

TEST_F(EngineReindexTest, AnEmptyContainerHasTheNewRulesAtOnce) {
  open();
  auto routing = make("c", 30'000);
  change_rules(routing, {{"/n/?", true}});
  EXPECT_EQ(percent(routing->container->number), 100U);
  EXPECT_THAT(files(), testing::ElementsAre("catalog")) << "no files are made for that";
  load(find("c"), 0, 20);
  expect_reindexed("c");
}

TEST_F(EngineReindexTest, AUniqueKeyIsAddedToItemsThatAgreeWithIt) {
  open();
  auto routing = make("c", 30'000);
  for (int i = 0; i < 50; ++i)
    upsert(routing, "k", std::to_string(i), "\"e\":" + std::to_string(i));
  catalog::ContainerSpec spec = routing->container->spec;
  spec.unique_keys = {{value::parse_property_path("/e").value()}};
  ASSERT_TRUE(engine_->replace_container(routing->container->number, spec));
  expect_reindexed("c");
  EXPECT_EQ(find("c")->container->spec.unique_keys, spec.unique_keys);
  const auto reply = upsert(find("c"), "k", "other", "\"e\":7");
  ASSERT_TRUE(reply.error);
  EXPECT_EQ(reply.error->code, Code::conflict);
  // It is retired, and nothing else can become of it.
  spec.unique_keys = {};
  EXPECT_FALSE(engine_->replace_container(routing->container->number, spec));
  spec.unique_keys = {partition::retired(find("c")->container->spec.unique_keys[0])};
  ASSERT_TRUE(engine_->replace_container(routing->container->number, spec));
  expect_reindexed("c");
  EXPECT_FALSE(upsert(find("c"), "k", "other", "\"e\":7").error);
}

TEST_F(EngineReindexTest, AUniqueKeyThatItemsContradictIsGivenUp) {
  open();
  auto routing = make("c", 30'000);
  for (int i = 0; i < 50; ++i)
    upsert(routing, "k", std::to_string(i), "\"e\":" + std::to_string(i % 49));
  catalog::ContainerSpec spec = routing->container->spec;
  spec.unique_keys = {{value::parse_property_path("/e").value()}};
  ASSERT_TRUE(engine_->replace_container(routing->container->number, spec));
  ASSERT_TRUE(
      eventually([&] { return partition::is_retired(find("c")->container->spec.unique_keys[0]); }));
  expect_reindexed("c");
  EXPECT_FALSE(upsert(find("c"), "k", "other", "\"e\":7").error);
}

TEST_F(EngineReindexTest, GoesOnAfterARestart) {
  open();
  auto routing = make("c", 30'000);
  load(routing, 0, 300);
  const RoutingPtr changed = change_rules(routing, {{"/*", true}, {"/pad/?", false}});
  open();
  EXPECT_EQ(find("c")->container->index_version, changed->container->index_version);
  expect_reindexed("c");
  open();
  EXPECT_EQ(find("c")->container->indexed_version, changed->container->index_version);
  expect_reindexed("c");
}

TEST_F(EngineReindexTest, TheLastOfSeveralChangesWins) {
  open();
  auto routing = make("c", 20'000);
  load(routing, 0, 300);
  for (int i = 0; i < 5; ++i) {
    change_rules(find("c"), {{"/*", true}, {"/pad/?", i % 2 == 0}});
    change_rules(find("c"), {{"/*", i % 2 == 0}, {"/pad/?", true}});
  }
  expect_reindexed("c");
  EXPECT_GT(find("c")->container->index_version, 5U);
}

TEST_F(EngineReindexTest, GoesOnThroughSplits) {
  open();
  auto routing = make("c");
  load(routing, 0, 1'000);
  change_rules(routing, {{"/*", true}, {"/pad/?", false}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine_->split(routing->container->number, std::nullopt));
  expect_reindexed("c");
  expect_all(find("c"), 1'000);
}

TEST_F(EngineReindexTest, WritesWithARoutingFromBeforeTakeTheNewRules) {
  open();
  auto before = make("c", 20'000);
  load(before, 0, 50);
  change_rules(before, {{"/*", true}, {"/pad/?", false}});
  expect_reindexed("c");
  load(before, 20, 100);
  expect_all(find("c"), 100);
  expect_reindexed("c");
  // Even where there was no partition yet to refuse the old ones.
  auto empty = make("d");
  change_rules(empty, {{"/*", true}, {"/pad/?", false}});
  ASSERT_TRUE(eventually([&] {
    return find("d")->container->indexed_version == find("d")->container->index_version;
  }));
  load(empty, 0, 10);
  expect_reindexed("d");
}

}  // namespace
}  // namespace orrery::cluster
