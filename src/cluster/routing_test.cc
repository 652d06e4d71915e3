// From placement keys to slots.
#include "cluster/routing.h"

#include <gtest/gtest.h>

namespace orrery::cluster {
namespace {

using Indexes = std::pair<size_t, size_t>;

RoutingPtr three() {
  auto routing = std::make_shared<Routing>();
  uint32_t id = 0;
  for (auto [min, max] : {std::pair("", "h"), {"h", "p"}, {"p", "\xFF"}}) {
    routing->slots.push_back(
        std::make_shared<Slot>(1, catalog::PartitionRange{id++, min, max, {}, ""}));
  }
  return routing;
}

TEST(Routing, EveryPlacementHasOneSlot) {
  const RoutingPtr made = three();
  const Routing& routing = *made;
  EXPECT_EQ(routing.slot_of("")->range.id, 0);
  EXPECT_EQ(routing.slot_of("a")->range.id, 0);
  EXPECT_EQ(routing.slot_of("gzzz")->range.id, 0);
  EXPECT_EQ(routing.slot_of("h")->range.id, 1);
  EXPECT_EQ(routing.slot_of(std::string("h\0", 2))->range.id, 1);
  EXPECT_EQ(routing.slot_of("ozz")->range.id, 1);
  EXPECT_EQ(routing.slot_of("p")->range.id, 2);
  EXPECT_EQ(routing.slot_of("\xFE\xFF")->range.id, 2);
}

TEST(Routing, SlotsThatMeetARange) {
  const RoutingPtr made = three();
  const Routing& routing = *made;
  EXPECT_EQ(routing.slots_of("", "\xFF"), Indexes(0, 3));
  EXPECT_EQ(routing.slots_of("", "h"), Indexes(0, 1));
  EXPECT_EQ(routing.slots_of("h", "p"), Indexes(1, 2));
  EXPECT_EQ(routing.slots_of("g", "i"), Indexes(0, 2));
  EXPECT_EQ(routing.slots_of("q", "r"), Indexes(2, 3));
  EXPECT_EQ(routing.slots_of("h", std::string("h\0", 2)), Indexes(1, 2));
  auto [from, to] = routing.slots_of("\xFF", "\xFF");
  EXPECT_EQ(from, to);
}

}  // namespace
}  // namespace orrery::cluster
