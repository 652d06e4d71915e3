// What queries read through: views of the partitions of a container.
#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

class EngineViewsTest : public EngineTest {
 protected:
  Result<ViewReply> view(const RoutingPtr& routing, std::string_view placement,
                         std::string_view min = value::placement_min(),
                         std::string_view max = value::placement_max(),
                         const LsnDemand& demand = {}) {
    return engine_->open_view(routing, placement, min, max, demand);
  }
  // All items, view after view.
  size_t count(const RoutingPtr& routing) {
    size_t items = 0;
    std::string from(value::placement_min());
    while (from < value::placement_max()) {
      auto reply = view(routing, from);
      EXPECT_TRUE(reply) << reply.error().message;
      if (!reply) return items;
      auto cursor = reply->view->items(nullptr, false).value();
      while (cursor->next().value()) ++items;
      from = reply->max;
    }
    return items;
  }
};

TEST_F(EngineViewsTest, OfAPartitionWithoutFilesAreEmptyAndMakeNone) {
  open();
  auto routing = make("c", 30'000);
  EXPECT_EQ(count(routing), 0U);
  EXPECT_THAT(files(), testing::ElementsAre("catalog"));
}

TEST_F(EngineViewsTest, CoverWhatIsAskedForPartitionByPartition) {
  open();
  auto routing = make("c", 30'000);
  load(routing, 0, 60);
  EXPECT_EQ(count(routing), 60U);
  const catalog::PartitionRange& second = routing->slots[1]->range;
  const std::string key = place(*routing, "k5");
  auto reply = view(routing, second.min, value::placement_min(), value::placement_max());
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->min, second.min);
  EXPECT_EQ(reply->max, second.max);
  EXPECT_EQ(reply->receipt.range, second.id);
  EXPECT_EQ(reply->receipt.lsn, reply->view->items_at_most());
  auto point = view(routing, key, key, key + '\0');
  ASSERT_TRUE(point);
  EXPECT_EQ(point->min, key);
  EXPECT_EQ(point->max, key + '\0');
  EXPECT_EQ(point->view->items_at_most(), 1U);
}

TEST_F(EngineViewsTest, HoldTheSessionToItsToken) {
  open();
  auto routing = make("c");
  load(routing, 0, 3);
  const auto asks_for = [](uint64_t lsn) {
    return LsnDemand([lsn](const catalog::PartitionRange&) { return std::optional(lsn); });
  };
  EXPECT_TRUE(view(routing, "", "", value::placement_max(), asks_for(3)));
  auto behind = view(routing, "", "", value::placement_max(), asks_for(4));
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, Code::behind);
}

TEST_F(EngineViewsTest, GoOnThroughASplit) {
  open();
  auto routing = make("c");
  load(routing, 0, 50);
  auto before = view(routing, "");
  ASSERT_TRUE(before);
  ASSERT_TRUE(engine_->split(routing->container->number, std::nullopt));
  // An old routing leads to the children; a view from before still gives what it was made of.
  auto after = view(routing, "");
  ASSERT_TRUE(after);
  EXPECT_LT(after->max, before->max);
  EXPECT_EQ(count(routing), 50U);
  auto cursor = before->view->items(nullptr, false).value();
  size_t items = 0;
  while (cursor->next().value()) ++items;
  EXPECT_EQ(items, 50U);
}

TEST_F(EngineViewsTest, OfAClosedPartitionWouldWait) {
  open();
  auto routing = make("c");
  const auto in_memory = [&] {
    return engine_->open_view(routing, "", "", value::placement_max(), {},
                              partition::Reach::memory);
  };
  auto closed = in_memory();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Code::would_wait);
  load(routing, 0, 3);
  auto opened = in_memory();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->view->items_at_most(), 3U);
}

}  // namespace
}  // namespace orrery::cluster
