// See replica_choice.h.
#include "nodes/replica_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace orrery::nodes {
namespace {

Plan plan_of(const std::vector<std::string>& names, uint32_t ranges) {
  Plan plan;
  for (const std::string& name : names) {
    plan.members.push_back({.name = name, .address = name, .incarnation = name});
  }
  for (uint32_t i = 0; i < ranges; ++i) {
    plan.owners[{.container = 7, .range = i}] = i % static_cast<uint32_t>(names.size());
  }
  return plan;
}

std::set<std::string> replicas(const Plan& plan, uint32_t count, RangeRef ref) {
  std::set<std::string> found;
  for (const Member& member : plan.members) {
    if (has_replica(plan, count, ref, member.name)) found.insert(member.name);
  }
  return found;
}

TEST(ReplicaChoice, EachRangeHasAsManyAsAskedForAndNoneAtItsOwner) {
  const Plan plan = plan_of({"a", "b", "c", "d", "e"}, 100);
  std::map<std::string, int> ranges;
  for (const auto& [ref, owner] : plan.owners) {
    for (uint32_t count = 0; count < 7; ++count) {
      const auto found = replicas(plan, count, ref);
      EXPECT_EQ(found.size(), std::min(count, 4U));
      EXPECT_FALSE(found.contains(plan.members[owner].name));
    }
    for (const std::string& name : replicas(plan, 2, ref)) ++ranges[name];
  }
  // 200 replicas over five nodes: none has a small part or most of them.
  for (const auto& [name, count] : ranges) {
    EXPECT_GT(count, 15) << name;
    EXPECT_LT(count, 80) << name;
  }
}

TEST(ReplicaChoice, LittleChangesWithAMember) {
  const Plan before = plan_of({"a", "b", "c", "d"}, 60);
  Plan after = before;
  after.members.push_back({.name = "e", .address = "e", .incarnation = "e"});
  for (const auto& [ref, owner] : before.owners) {
    auto now = replicas(after, 2, ref);
    now.erase("e");
    const auto then = replicas(before, 2, ref);
    EXPECT_TRUE(std::ranges::includes(then, now));
  }
}

TEST(ReplicaChoice, ADrainedMemberAndAnUnknownRangeHaveNone) {
  Plan plan = plan_of({"a", "b", "c"}, 3);
  plan.members[1].draining = true;
  for (const auto& [ref, owner] : plan.owners) EXPECT_FALSE(has_replica(plan, 3, ref, "b"));
  EXPECT_TRUE(replicas(plan, 3, {.container = 8, .range = 0}).empty());
  EXPECT_FALSE(has_replica(plan, 3, {.container = 7, .range = 0}, "nobody"));
}

}  // namespace
}  // namespace orrery::nodes
