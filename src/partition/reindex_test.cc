// New index rules reach every item, whatever happens on the way.
#include <map>

#include "base/fault.h"
#include "partition/partition_fixture.h"
#include "partition/prepared_terms.h"
#include "partition/verify.h"
#include "partition/view.h"

namespace orrery::partition {
namespace {

class ReindexTest : public PartitionTest {
 protected:
  void SetUp() override {
    schema_->unique_keys = {{path_of("/u")}};
    partition_ = open();
  }
  void load(int from, int to) {
    std::vector<Write> writes;
    for (int i = from; i < to; ++i) {
      writes.push_back(create("k" + std::to_string(10 + i % 40), std::to_string(i), members(i)));
    }
    ASSERT_FALSE(commit(*partition_, std::move(writes)).error);
  }
  static std::string members(int i) {
    std::string text = "\"u\":" + std::to_string(i) + ",\"n\":" + std::to_string(i % 7);
    if (i % 3 == 0) text += ",\"o\":{\"p\":" + std::to_string(i % 5) + ",\"q\":[1,2]}";
    return text;
  }
  std::shared_ptr<Schema> next_rules(const std::vector<std::pair<std::string, bool>>& rules) {
    schema_ = std::make_shared<Schema>(*schema_);
    ++schema_->index_version;
    schema_->index = policy_of(rules);
    return schema_;
  }
  // Steps until all is done, at most `steps` of them.
  static bool reindex(Partition& partition, const std::shared_ptr<Schema>& schema, int steps = 1000,
                      size_t examine_max = 20) {
    for (int i = 0; i < steps; ++i) {
      auto done = partition.reindex(schema, examine_max);
      EXPECT_TRUE(done) << done.error().message;
      if (!done || *done) return done.has_value();
    }
    return false;
  }
  bool view_is_indexed(const std::shared_ptr<Partition>& partition,
                       const std::shared_ptr<const Schema>& schema) {
    auto view = View::open(partition, "", "\xFF", *schema);
    EXPECT_TRUE(view) << view.error().message;
    EXPECT_EQ((*view)->is_indexed(), partition->is_indexed(*schema));
    return (*view)->is_indexed();
  }
  // That the index is what it would be had everything been written with these rules.
  void expect_indexed(const std::shared_ptr<Partition>& partition,
                      const std::shared_ptr<Schema>& schema) {
    EXPECT_TRUE(view_is_indexed(partition, schema));
    EXPECT_EQ(partition->indexed_percent(*schema), 100U);
    EXPECT_EQ(sorted_terms(*partition), expected_terms(*partition, schema->index));
    for (const auto& [key, item] : items_of(*partition)) {
      EXPECT_EQ(item.index_version, schema->index_version);
    }
    EXPECT_EQ(partition->usage().bytes, recomputed_usage(*partition).bytes);
    EXPECT_EQ(partition->usage().items, recomputed_usage(*partition).items);
  }
  std::shared_ptr<Partition> partition_;
};

TEST_F(ReindexTest, GivesItemsTheNewTermsAndLeavesThemAsTheyAre) {
  load(0, 200);
  const auto old_rules = schema_;
  const auto before = items_of(*partition_);
  const uint64_t lsn = partition_->lsn();
  const auto changes = partition_->changes({}, *schema_)->changes.size();
  EXPECT_TRUE(view_is_indexed(partition_, old_rules));

  const auto rules = next_rules({{"/*", true}, {"/o/*", false}});
  EXPECT_FALSE(view_is_indexed(partition_, rules));
  EXPECT_EQ(partition_->indexed_percent(*rules), 0U);
  EXPECT_FALSE(reindex(*partition_, rules, 5));
  EXPECT_FALSE(view_is_indexed(partition_, rules));
  EXPECT_FALSE(view_is_indexed(partition_, old_rules)) << "some items have the new terms";
  EXPECT_EQ(partition_->indexed_percent(*rules), 50U);
  EXPECT_TRUE(reindex(*partition_, rules));

  expect_indexed(partition_, rules);
  EXPECT_FALSE(view_is_indexed(partition_, old_rules));
  EXPECT_EQ(partition_->lsn(), lsn);
  EXPECT_EQ(partition_->changes({}, *schema_)->changes.size(), changes);
  const auto after = items_of(*partition_);
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [key, item] : before) {
    EXPECT_EQ(after.at(key).body, item.body);
    EXPECT_EQ(after.at(key).version, item.version);
    EXPECT_EQ(after.at(key).origin, item.origin);
  }
  EXPECT_EQ(code_of(commit(*partition_, create("k10", "other", members(0)))), Code::conflict)
      << "unique values are held as before";
}

TEST_F(ReindexTest, ItemsClaimANewUniqueKeyAndLeaveOneThatIsRetired) {
  load(0, 100);
  schema_ = std::make_shared<Schema>(*schema_);
  ++schema_->index_version;
  schema_->unique_keys.push_back({path_of("/n")});
  schema_->unique_keys[0] = retired(schema_->unique_keys[0]);
  EXPECT_TRUE(partition_->verify(*schema_, {})->flaws.empty()) << "on the way";
  EXPECT_FALSE(reindex(*partition_, schema_, 2));
  EXPECT_TRUE(partition_->verify(*schema_, {})->flaws.empty());
  EXPECT_TRUE(reindex(*partition_, schema_));
  EXPECT_TRUE(partition_->verify(*schema_, {})->flaws.empty());
  EXPECT_FALSE(commit(*partition_, create("k10", "x", "\"u\":0,\"n\":100")).error)
      << "what the retired key held is free";
  EXPECT_EQ(code_of(commit(*partition_, upsert("k10", "y", "\"u\":7,\"n\":100"))), Code::conflict);
}

TEST_F(ReindexTest, TwoItemsOfOneValueRefuseANewUniqueKey) {
  load(0, 100);
  ASSERT_FALSE(commit(*partition_, create("k10", "a", "\"u\":1000,\"e\":5")).error);
  ASSERT_FALSE(commit(*partition_, create("k10", "b", "\"u\":1001,\"e\":5")).error);
  schema_ = std::make_shared<Schema>(*schema_);
  ++schema_->index_version;
  schema_->unique_keys.push_back({path_of("/id"), path_of("/e")});
  EXPECT_TRUE(reindex(*partition_, schema_)) << "their ids differ";
  schema_ = std::make_shared<Schema>(*schema_);
  ++schema_->index_version;
  schema_->unique_keys.push_back({path_of("/e")});
  auto step = partition_->reindex(schema_, 1'000);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, Code::conflict);
}

TEST_F(ReindexTest, RulesCanGoFromNothingToEverythingAndBack) {
  load(0, 60);
  const auto nothing = next_rules({});
  EXPECT_TRUE(reindex(*partition_, nothing));
  expect_indexed(partition_, nothing);
  EXPECT_TRUE(partition_->all_terms()->empty());
  const auto everything = next_rules({{"/*", true}});
  EXPECT_TRUE(reindex(*partition_, everything));
  expect_indexed(partition_, everything);
  EXPECT_FALSE(partition_->all_terms()->empty());
}

TEST_F(ReindexTest, AnEmptyPartitionHasTheNewestRulesAtOnce) {
  EXPECT_TRUE(view_is_indexed(partition_, schema_));
  auto rules = next_rules({{"/n/?", true}});
  EXPECT_TRUE(view_is_indexed(partition_, rules));
  load(0, 10);
  expect_indexed(partition_, rules);
  // Also one that was emptied.
  for (int i = 0; i < 10; ++i) {
    ASSERT_FALSE(
        commit(*partition_, remove("k" + std::to_string(10 + i), std::to_string(i))).error);
  }
  rules = next_rules({{"/*", true}});
  EXPECT_TRUE(view_is_indexed(partition_, rules));
  load(0, 10);
  expect_indexed(partition_, rules);
}

TEST_F(ReindexTest, WritesGoOnMeanwhile) {
  load(0, 200);
  const auto rules = next_rules({{"/*", true}, {"/n/?", false}});
  EXPECT_FALSE(reindex(*partition_, rules, 3));
  load(200, 240);
  for (int i = 0; i < 200; i += 5) {
    const std::string key = "k" + std::to_string(10 + i % 40);
    ASSERT_FALSE(commit(*partition_, i % 2 == 0
                                         ? remove(key, std::to_string(i))
                                         : replace(key, std::to_string(i), members(1000 + i)))
                     .error);
    if (i % 50 == 0) EXPECT_FALSE(reindex(*partition_, rules, 1, 10));
  }
  EXPECT_TRUE(reindex(*partition_, rules));
  expect_indexed(partition_, rules);
}

TEST_F(ReindexTest, WritesWithOlderRulesAreSentBackOnceThereAreNewerOnes) {
  load(0, 10);
  const auto old_rules = schema_;
  const auto rules = next_rules({{"/n/?", true}});
  ASSERT_FALSE(commit(*partition_, create("k90", "new", members(500))).error);
  Outcome late =
      commit(*partition_, write_of(Verb::create, "k90", "late", old_rules, members(501)));
  EXPECT_EQ(code_of(late), Code::moved);
  ASSERT_EQ(late.returned.size(), 1U);
  late.returned[0].schema = rules;
  EXPECT_FALSE(commit(*partition_, std::move(late.returned)).error);
  EXPECT_TRUE(reindex(*partition_, rules));
  expect_indexed(partition_, rules);
}

TEST_F(ReindexTest, GoesOnAfterBeingOpenedAgain) {
  load(0, 200);
  const auto rules = next_rules({{"/*", true}, {"/o/*", false}});
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(reindex(*partition_, rules, 1));
    partition_.reset();
    partition_ = open();
    EXPECT_FALSE(view_is_indexed(partition_, rules));
  }
  EXPECT_TRUE(reindex(*partition_, rules));
  partition_.reset();
  partition_ = open();
  expect_indexed(partition_, rules);
}

TEST_F(ReindexTest, GoesOnAfterTheDiskFailed) {
  load(0, 100);
  const auto rules = next_rules({{"/*", true}, {"/o/*", false}});
  EXPECT_FALSE(reindex(*partition_, rules, 2));
  fault::arm("partition.commit", fault::Action::error);
  EXPECT_FALSE(partition_->reindex(rules, 20));
  fault::disarm_all();
  clock_.advance_ms(2'000);
  EXPECT_TRUE(reindex(*partition_, rules));
  expect_indexed(partition_, rules);
}

TEST_F(ReindexTest, NewerRulesTakeOverFromThoseThatWereOnTheirWay) {
  load(0, 200);
  const auto second = next_rules({{"/*", true}, {"/o/*", false}});
  EXPECT_FALSE(reindex(*partition_, second, 4));
  const auto third = next_rules({{"/*", false}, {"/o/p/?", true}});
  EXPECT_FALSE(reindex(*partition_, third, 2));
  auto late = partition_->reindex(second, 20);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::moved);
  EXPECT_TRUE(reindex(*partition_, third));
  expect_indexed(partition_, third);
}

TEST_F(ReindexTest, GoesOnInTheChildrenOfASplit) {
  load(0, 200);
  const auto rules = next_rules({{"/*", true}, {"/o/*", false}});
  EXPECT_FALSE(reindex(*partition_, rules, 4));
  auto cut = partition_->begin_split(kPlainKeys, "m").value();
  EXPECT_FALSE(reindex(*partition_, rules, 1));
  Partition::Children children;
  ASSERT_TRUE(
      partition_->finish_split(cut, {8, "p8"}, {9, "p9"}, [&](const Partition::Children& made) {
        children = made;
        return Status();
      }));
  auto moved = partition_->reindex(rules, 20);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Code::moved);
  for (const auto& child : {children.first, children.second}) {
    EXPECT_FALSE(view_is_indexed(child, rules));
    EXPECT_TRUE(reindex(*child, rules));
    expect_indexed(child, rules);
    ASSERT_TRUE(child->trim());
    expect_indexed(child, rules);
  }
  EXPECT_EQ(children.first->usage().items + children.second->usage().items, 200U);
}

TEST_F(ReindexTest, ReachesItemsThatHaveExpired) {
  schema_->default_life_ms = Lifetime::kForever;
  Write mortal = create("k10", "mortal", members(1));
  mortal.lifetime.ms = 10'000;
  ASSERT_FALSE(commit(*partition_, std::move(mortal)).error);
  load(2, 20);
  clock_.advance_ms(11'000);
  const auto rules = next_rules({{"/n/?", true}});
  EXPECT_TRUE(reindex(*partition_, rules));
  expect_indexed(partition_, rules);
  ASSERT_EQ(partition_->collect_expired(rules, kOneForEach, 1'000, 1e9, [](double) {}).value(), 1U);
  partition_->drain();
  expect_indexed(partition_, rules);
}

}  // namespace
}  // namespace orrery::partition
