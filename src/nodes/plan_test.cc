// Who is to serve which range, by the rules of plan.h.
#include "nodes/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace orrery::nodes {
namespace {

using testing::Each;
using testing::ElementsAre;

Member member(const std::string& name, bool draining = false) {
  return {.name = name, .address = name + ":1", .incarnation = "i-" + name, .draining = draining};
}

Placing of(std::vector<Member> members, uint32_t ranges) {
  Placing placing{.members = std::move(members),
                  .ranges = {},
                  .holders = {},
                  .pinned = {},
                  .busy = {},
                  .strangers = {},
                  .expected = {}};
  for (uint32_t i = 0; i < ranges; ++i) {
    placing.ranges.push_back({.ref = {.container = 1, .range = i},
                              .volume_name = "c1-p" + std::to_string(i),
                              .bytes = 100,
                              .load = 10});
  }
  return placing;
}

std::vector<uint32_t> counts(const Placing& placing, const std::map<RangeRef, uint32_t>& owners) {
  std::vector<uint32_t> counts(placing.members.size());
  for (const auto& [ref, owner] : owners) ++counts[owner];
  return counts;
}

// As after a plan that everybody has followed.
void follow(Placing& placing, const std::map<RangeRef, uint32_t>& owners) {
  placing.holders.clear();
  for (const auto& [ref, owner] : owners) {
    placing.holders[ref] = {.incarnation = placing.members[owner].incarnation,
                            .name = placing.members[owner].name};
  }
}

uint32_t moves(const std::map<RangeRef, uint32_t>& a, const std::map<RangeRef, uint32_t>& b) {
  uint32_t moves = 0;
  for (const auto& [ref, owner] : a) moves += b.at(ref) != owner ? 1 : 0;
  return moves;
}

TEST(Plan, SpreadsRangesThatNobodyHas) {
  const Placing placing = of({member("a"), member("b"), member("c")}, 30);
  EXPECT_THAT(counts(placing, place(placing)), Each(10U));
}

TEST(Plan, IsEmptyWithoutMembersAndWhereThereIsOneItHasAll) {
  EXPECT_TRUE(place(of({}, 3)).empty());
  const Placing alone = of({member("a")}, 3);
  EXPECT_THAT(counts(alone, place(alone)), ElementsAre(3U));
}

TEST(Plan, WhoHasARangeKeepsItAsLongAsItLives) {
  Placing placing = of({member("a"), member("b")}, 10);
  for (const RangeFacts& range : placing.ranges) {
    placing.holders[range.ref] = {.incarnation = "i-b", .name = "b"};
  }
  EXPECT_THAT(counts(placing, place(placing)), ElementsAre(0U, 10U));
}

TEST(Plan, OnlyTheRangesOfWhoIsGoneMove) {
  Placing placing = of({member("a"), member("b"), member("c")}, 30);
  auto before = place(placing);
  follow(placing, before);
  placing.members.pop_back();
  const auto after = place(placing);
  EXPECT_THAT(counts(placing, after), Each(15U));
  for (const auto& [ref, owner] : before) {
    if (owner < 2) {
      EXPECT_EQ(after.at(ref), owner);
    }
  }
}

TEST(Plan, WhoCameBackUnderTheSameNameTakesItsRangesAgain) {
  Placing placing = of({member("a"), member("b")}, 10);
  const auto before = place(placing);
  follow(placing, before);
  placing.members[1].incarnation = "another life";
  EXPECT_EQ(place(placing), before);
}

TEST(Plan, ANodeThatIsDrainedLosesFourAtATimeAndGetsNothing) {
  Placing placing = of({member("a"), member("b"), member("c")}, 30);
  follow(placing, place(placing));
  placing.members[0].draining = true;
  placing.balance = Placing::Balance::worthwhile;
  auto owners = place(placing);
  EXPECT_EQ(counts(placing, owners)[0], 6U);
  follow(placing, owners);
  placing.busy = {"i-a"};  // it has not let go of these four yet
  EXPECT_EQ(counts(placing, place(placing))[0], 6U);
  placing.busy.clear();
  for (int i = 0; i < 2; ++i) {
    owners = place(placing);
    follow(placing, owners);
  }
  EXPECT_THAT(counts(placing, owners), ElementsAre(0U, 15U, 15U));
}

TEST(Plan, WhereEverybodyIsDrainedNothingMoves) {
  Placing placing = of({member("a", true), member("b", true)}, 8);
  const auto owners = place(placing);
  EXPECT_THAT(counts(placing, owners), Each(4U));
  follow(placing, owners);
  EXPECT_EQ(place(placing), owners);
}

TEST(Plan, BalanceMovesAFewAndComesToRest) {
  Placing placing = of({member("a"), member("b")}, 12);
  follow(placing, place(placing));
  placing.members.push_back(member("c"));
  placing.balance = Placing::Balance::worthwhile;
  auto owners = place(placing);
  EXPECT_THAT(counts(placing, owners), Each(4U));
  follow(placing, owners);
  EXPECT_EQ(moves(owners, place(placing)), 0U);
}

TEST(Plan, AHotNodeShedsLoad) {
  Placing placing = of({member("a"), member("b")}, 8);
  follow(placing, place(placing));
  for (const RangeFacts& range : placing.ranges) EXPECT_TRUE(placing.holders.contains(range.ref));
  for (RangeFacts& range : placing.ranges) {
    range.load = placing.holders[range.ref].name == "a" ? 1'000 : 1;
  }
  EXPECT_EQ(moves(place(placing), place(placing)), 0U);
  placing.balance = Placing::Balance::worthwhile;
  const auto owners = place(placing);
  std::vector<double> loads(2);
  for (const RangeFacts& range : placing.ranges) loads[owners.at(range.ref)] += range.load;
  EXPECT_GT(loads[1], 900);
  EXPECT_GT(loads[0], 900);
}

TEST(Plan, SmallDifferencesAreLeftAloneUnlessAskedFor) {
  Placing placing = of({member("a"), member("b")}, 20);
  std::map<RangeRef, uint32_t> uneven;
  for (const RangeFacts& range : placing.ranges) uneven[range.ref] = range.ref.range < 11 ? 0 : 1;
  follow(placing, uneven);
  placing.balance = Placing::Balance::worthwhile;
  EXPECT_EQ(place(placing), uneven);
  placing.balance = Placing::Balance::as_good_as_possible;
  EXPECT_THAT(counts(placing, place(placing)), Each(10U));
}

TEST(Plan, OneHotRangeIsNotMovedToAndFro) {
  Placing placing = of({member("a"), member("b")}, 1);
  placing.ranges[0].load = 100'000;
  const auto owners = place(placing);
  follow(placing, owners);
  placing.balance = Placing::Balance::as_good_as_possible;
  EXPECT_EQ(place(placing), owners);
}

TEST(Plan, WhatAnOperatorMovedStaysThere) {
  Placing placing = of({member("a"), member("b")}, 4);
  follow(placing, place(placing));
  for (const RangeFacts& range : placing.ranges) placing.pinned[range.ref] = "b";
  placing.balance = Placing::Balance::worthwhile;
  const auto owners = place(placing);
  EXPECT_THAT(counts(placing, owners), ElementsAre(0U, 4U));
  placing.members[1].draining = true;  // that counts for more
  follow(placing, owners);
  EXPECT_THAT(counts(placing, place(placing)), ElementsAre(4U, 0U));
}

TEST(Plan, ANodeThatWasNotHeardOfGetsNothingButWhatItHad) {
  Placing placing = of({member("a"), member("b"), member("c")}, 9);
  for (uint32_t i = 0; i < 9; ++i) {
    const std::string name = i < 3 ? "a" : i < 6 ? "b" : "c";
    placing.holders[{1, i}] = {.incarnation = "before-" + name, .name = name};
  }
  const std::string incarnation = member("c").incarnation;
  placing.strangers = {incarnation};
  placing.expected = {incarnation};
  const auto count = [&] {
    return std::ranges::count_if(place(placing), [](const auto& one) { return one.second == 2; });
  };
  EXPECT_EQ(count(), 3) << "it came back under its name";
  placing.ranges.push_back({.ref = {1, 9}, .volume_name = "p9"});
  placing.balance = Placing::Balance::as_good_as_possible;
  EXPECT_EQ(count(), 3) << "and gets nothing else";
  placing.expected.clear();
  EXPECT_EQ(count(), 0) << "it does not follow";
  for (auto& [ref, holder] : placing.holders) holder.incarnation = member(holder.name).incarnation;
  EXPECT_EQ(count(), 0) << "nor by the plan before";
  placing.strangers.clear();
  EXPECT_EQ(count(), 3);
}

}  // namespace
}  // namespace orrery::nodes
