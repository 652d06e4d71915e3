// Changes through the engine: of ranges, across splits, and what a position may be.
#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAreArray;

class EngineChangesTest : public EngineTest {
 protected:
  Result<ChangesReply> changes(const RoutingPtr& routing, const ChangesFrom& from = {},
                               size_t range = 0, size_t items_max = 1'000) {
    const catalog::PartitionRange& asked = routing->slots[range]->range;
    return engine_->changes(routing, asked.min, asked.max, from, items_max, {});
  }
  static std::vector<std::string> rows_of(const ChangesReply& reply) {
    std::vector<std::string> rows;
    for (const partition::Change& change : reply.page.changes) rows.push_back(change.key.row);
    return rows;
  }
};

TEST_F(EngineChangesTest, OfAContainerThatWasNeverWritten) {
  open();
  auto routing = make("c");
  for (const ChangesFrom& from : {ChangesFrom{}, ChangesFrom{.now = true}}) {
    auto reply = changes(routing, from);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_TRUE(reply->page.changes.empty());
    EXPECT_EQ(reply->page.lsn, 0U);
    EXPECT_EQ(reply->receipt.charge, 1);
  }
  EXPECT_EQ(files().size(), 1U) << "reading makes no files";
}

TEST_F(EngineChangesTest, FromNowAndOn) {
  open();
  auto routing = make("c");
  load(routing, 0, 5);
  auto now = changes(routing, {.now = true});
  ASSERT_TRUE(now);
  EXPECT_TRUE(now->page.changes.empty());
  load(routing, 5, 7);
  auto next = changes(routing, {.position = now->page.lsn});
  ASSERT_TRUE(next);
  EXPECT_THAT(rows_of(*next), ElementsAre("5", "6"));
  EXPECT_GT(next->receipt.charge, now->receipt.charge);
}

TEST_F(EngineChangesTest, TheLaterOfTimeAndPositionCounts) {
  open();
  auto routing = make("c");
  clock_.set_now_s(1'000);
  load(routing, 0, 3);
  clock_.set_now_s(2'000);
  load(routing, 3, 6);
  EXPECT_THAT(rows_of(*changes(routing, {.since_s = 1'500})), ElementsAre("3", "4", "5"));
  EXPECT_THAT(rows_of(*changes(routing, {.position = 1, .since_s = 1'500})),
              ElementsAre("3", "4", "5"));
  EXPECT_THAT(rows_of(*changes(routing, {.position = 5, .since_s = 1'500})), ElementsAre("5"));
}

TEST_F(EngineChangesTest, APositionBeyondTheEndIsNotOfThisRange) {
  open();
  auto routing = make("c");
  load(routing, 0, 3);
  EXPECT_TRUE(changes(routing, {.position = 3}));
  auto beyond = changes(routing, {.position = 4});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Code::invalid);
}

TEST_F(EngineChangesTest, HistoryIsKeptWhereItIsAskedFor) {
  open();
  auto routing = make("c");
  load(routing, 0, 2);
  auto history = [&](const ChangesFrom& from) {
    return engine_->history(find("c"), "", value::placement_max(), from, 100, {});
  };
  ASSERT_FALSE(history({.now = true}));
  EXPECT_EQ(history({.now = true}).error().code, Code::invalid);
  catalog::ContainerSpec spec = routing->container->spec;
  spec.history_s = 60;
  ASSERT_TRUE(engine_->replace_container(routing->container->number, spec));
  routing = find("c");
  auto now = history({.now = true});
  ASSERT_TRUE(now) << now.error().message;
  load(routing, 1, 3);
  auto next = history({.position = now->page.lsn});
  ASSERT_TRUE(next) << next.error().message;
  ASSERT_EQ(next->page.events.size(), 2U);
  EXPECT_EQ(next->page.events[0].operation, partition::EventKind::replace);
  EXPECT_EQ(next->page.events[1].operation, partition::EventKind::create);
  EXPECT_FALSE(history({.position = 1})) << "it was not kept then";
  open();
  EXPECT_EQ(history({.position = now->page.lsn})->page.events.size(), 2U) << "after a restart";
}

TEST_F(EngineChangesTest, TheFirstWriteOfAPartitionMayBeFromBeforeItsHistory) {
  open();
  const auto before = make("c");
  catalog::ContainerSpec spec = before->container->spec;
  spec.history_s = 60;
  ASSERT_TRUE(engine_->replace_container(before->container->number, spec));
  auto history = [&](const ChangesFrom& from) {
    return engine_->history(find("c"), "", value::placement_max(), from, 100, {});
  };
  auto now = history({.now = true});
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_EQ(now->page.lsn, 0U);
  load(before, 0, 2);  // as it was when these were on their way
  auto next = history({.position = now->page.lsn});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->page.events.size(), 2U);
}

TEST_F(EngineChangesTest, AReaderFollowsASplitIntoBothChildren) {
  open();
  auto before = make("c");
  load(before, 0, 40);
  auto first = changes(before, {}, 0, 25);
  ASSERT_TRUE(first);
  std::vector<std::string> seen = rows_of(*first);
  ASSERT_TRUE(engine_->split(before->container->number, {}));
  auto after = find("c");
  load(after, 40, 50);
  auto gone = changes(before, {.position = first->page.lsn});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::moved);
  for (size_t range = 0; range < after->slots.size(); ++range) {
    auto next = changes(after, {.position = first->page.lsn}, range);
    ASSERT_TRUE(next) << next.error().message;
    for (std::string& row : rows_of(*next)) seen.push_back(std::move(row));
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) expected.push_back(std::to_string(i));
  EXPECT_THAT(seen, UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace orrery::cluster
