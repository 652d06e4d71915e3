// Purges: all items of a placement key gone at once, and what they take given back later.
#include "partition/partition_fixture.h"
#include "partition/transaction.h"
#include "partition/view.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PurgeTest : public PartitionTest {
 protected:
  PurgeTest() { partition_ = open(); }

  Write purge(std::string_view key) const {
    Write write = write_of(Verb::purge, key, "", schema_);
    write.body.clear();
    return write;
  }
  void done(Write write) {
    const Outcome outcome = commit(*partition_, std::move(write));
    ASSERT_FALSE(outcome.error) << outcome.error->message;
  }
  std::vector<std::string> rows_of(const Partition& partition, std::string_view key) const {
    std::vector<std::string> rows;
    for (const auto& [at, item] : items_of(partition)) {
      if (at.placement == key) rows.push_back(at.row);
    }
    return rows;
  }
  std::vector<std::string> rows(std::string_view key) const { return rows_of(*partition_, key); }
  Partition::Collected collect(size_t examine_max = 1'000, double charge_max = 1e9) {
    auto collected = partition_->collect_purged(schema_, kOneForEach, examine_max, charge_max,
                                                [this](double charge) { paid_ += charge; });
    EXPECT_TRUE(collected) << collected.error().message;
    partition_->drain();
    return collected.value_or(Partition::Collected{});
  }
  void collect_all() {
    for (int i = 0; i < 100 && partition_->purges_pending() > 0; ++i) collect();
    EXPECT_EQ(partition_->purges_pending(), 0U);
  }

  std::shared_ptr<Partition> partition_;
  double paid_ = 0;
};

TEST_F(PurgeTest, NobodySeesTheItemsFromThenOn) {
  done(create("a", "1", "\"n\":1"));
  done(create("k", "1", "\"n\":1"));
  done(create("k", "2", "\"n\":2"));
  done(create("k1", "1", "\"n\":1"));
  ASSERT_TRUE(partition_->read("k", "2").value()) << "and so it is in the cache";
  done(purge("k"));
  EXPECT_EQ(partition_->purges_pending(), 1U);
  EXPECT_FALSE(partition_->read("k", "1").value());
  EXPECT_FALSE(partition_->read("k", "2").value());
  EXPECT_TRUE(partition_->read("a", "1").value());
  EXPECT_TRUE(partition_->read("k1", "1").value());
  EXPECT_THAT(rows("k"), IsEmpty());
  EXPECT_EQ(partition_->changes({}, *schema_)->changes.size(), 2U);
  auto view = View::open(partition_, "", "\xFF", *schema_).value();
  EXPECT_FALSE(view->entries_are_items());
  auto cursor = view->items(nullptr, false).value();
  size_t seen = 0;
  while (cursor->next().value()) ++seen;
  EXPECT_EQ(seen, 2U);
  const std::vector<std::string> keys = {item_key("k", "2"), item_key("k1", "1")};
  const auto bodies = view->fetch(keys).value();
  EXPECT_TRUE(bodies[0].empty());
  EXPECT_FALSE(bodies[1].empty());
  auto transaction = Transaction::begin(partition_, schema_, 1'000).value();
  EXPECT_FALSE(transaction->read("k", "1").value());
  EXPECT_THAT(transaction->scan("k", nullptr, 10, 1'000)->items, IsEmpty());
  EXPECT_EQ(code_of(commit(*partition_, replace("k", "1"))), Code::not_found);
  EXPECT_EQ(code_of(commit(*partition_, remove("k", "1"))), Code::not_found);
}

TEST_F(PurgeTest, WhatIsWrittenLaterStays) {
  for (int i = 0; i < 5; ++i) done(create("k", std::to_string(i), "\"old\":true"));
  done(purge("k"));
  done(create("k", "1", "\"old\":false"));
  done(create("k", "new"));
  EXPECT_THAT(rows("k"), ElementsAre("1", "new"));
  collect_all();
  EXPECT_THAT(rows("k"), ElementsAre("1", "new"));
  EXPECT_EQ(partition_->usage().items, 2U);
  EXPECT_EQ(partition_->usage().bytes, recomputed_usage(*partition_).bytes);
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
  EXPECT_GT(paid_, 0);
}

TEST_F(PurgeTest, InOneRunWithWhatComesBeforeAndAfter) {
  done(create("k", "before"));
  // One commit takes all of what waits while the writer is paused.
  std::vector<Outcome> outcomes(3);
  {
    std::mutex mutex;
    std::condition_variable all_done;
    size_t left = 3;
    auto take = [&](size_t i) {
      return [&, i](Outcome outcome) {
        const std::lock_guard lock(mutex);
        outcomes[i] = std::move(outcome);
        if (--left == 0) all_done.notify_all();
      };
    };
    partition_->submit(one(create("k", "with")), take(0));
    partition_->submit(one(purge("k")), take(1));
    partition_->submit(one(create("k", "before")), take(2));
    std::unique_lock lock(mutex);
    all_done.wait(lock, [&] { return left == 0; });
  }
  for (const Outcome& outcome : outcomes) EXPECT_FALSE(outcome.error);
  EXPECT_THAT(rows("k"), ElementsAre("before"));
  // As one transaction it is certain to be one run.
  EXPECT_FALSE(commit(*partition_, all_of(create("k", "x"), purge("k"), create("k", "x"))).error);
  EXPECT_THAT(rows("k"), ElementsAre("x"));
}

TEST_F(PurgeTest, AFailedTransactionLeavesNone) {
  done(create("k", "1"));
  EXPECT_TRUE(commit(*partition_, all_of(purge("k"), remove("k", "1"))).error);
  EXPECT_EQ(partition_->purges_pending(), 0U);
  EXPECT_THAT(rows("k"), ElementsAre("1"));
}

TEST_F(PurgeTest, AnEmptyKeyNeedsNone) {
  const uint64_t lsn = partition_->lsn();
  done(purge("k"));
  EXPECT_EQ(partition_->purges_pending(), 0U);
  EXPECT_EQ(partition_->lsn(), lsn);
}

TEST_F(PurgeTest, UniqueValuesAreFreeAtOnce) {
  schema_->unique_keys = {{path_of("/mail")}};
  done(create("k", "1", "\"mail\":\"a\""));
  done(purge("k"));
  done(create("k", "2", "\"mail\":\"a\""));
  EXPECT_EQ(code_of(commit(*partition_, create("k", "3", "\"mail\":\"a\""))), Code::conflict);
  collect_all();
  EXPECT_EQ(code_of(commit(*partition_, create("k", "3", "\"mail\":\"a\""))), Code::conflict);
  EXPECT_THAT(rows("k"), ElementsAre("2"));
}

TEST_F(PurgeTest, TheHistoryTellsOfRemovals) {
  schema_->history_s = 1'000;
  done(create("k", "1"));
  done(create("k", "2"));
  done(purge("k"));
  done(create("k", "1"));
  collect_all();
  std::vector<std::pair<EventKind, std::string>> events;
  for (const Event& event : partition_->history({})->events) {
    events.emplace_back(event.operation, event.key.row);
  }
  using Pair = std::pair<EventKind, std::string>;
  EXPECT_THAT(events, ElementsAre(Pair(EventKind::create, "1"), Pair(EventKind::create, "2"),
                                  Pair(EventKind::remove, "1"), Pair(EventKind::create, "1"),
                                  Pair(EventKind::remove, "2")));
}

TEST_F(PurgeTest, ARestartKeepsItAndGoesOn) {
  for (int i = 0; i < 10; ++i) done(create("k", std::to_string(i)));
  done(purge("k"));
  collect(3);
  EXPECT_EQ(partition_->usage().items, 7U);
  partition_.reset();
  partition_ = open();
  EXPECT_EQ(partition_->purges_pending(), 1U);
  EXPECT_THAT(rows("k"), IsEmpty());
  done(create("k", "new"));
  collect_all();
  EXPECT_THAT(rows("k"), ElementsAre("new"));
  partition_.reset();
  partition_ = open();
  EXPECT_EQ(partition_->purges_pending(), 0U);
  EXPECT_THAT(rows("k"), ElementsAre("new"));
}

TEST_F(PurgeTest, ASplitKeepsItInTheChildThatHasTheKey) {
  for (int i = 0; i < 4; ++i) {
    done(create("b", std::to_string(i)));
    done(create("y", std::to_string(i)));
    done(create("z", std::to_string(i)));
  }
  done(purge("y"));
  auto cut = partition_->begin_split(kPlainKeys, "m", CutBy::middle);
  ASSERT_TRUE(cut) << cut.error().message;
  Partition::Children children;
  auto times = partition_->finish_split(*cut, {8, "c1"}, {9, "c2"},
                                        [&](const Partition::Children& made) -> Status {
                                          children = made;
                                          return {};
                                        });
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(code_of(commit(*partition_, purge("b"))), Code::moved);
  partition_ = children.second;
  EXPECT_THAT(rows("y"), IsEmpty());
  ASSERT_TRUE(children.first->trim());
  ASSERT_TRUE(children.second->trim());
  collect_all();
  EXPECT_THAT(rows("y"), IsEmpty());
  EXPECT_EQ(partition_->usage().items, 4U);
  // The sibling has no item of it, and forgets it when it is opened again.
  EXPECT_EQ(children.first->usage().items, 4U);
  EXPECT_EQ(children.first->collect_purged(schema_, kOneForEach, 100, 1e9, [](double) {})->items,
            0U);
  children = {};
  partition_.reset();
  identity_ = {.range = 8, .min = "", .max = "m"};
  partition_ = open("c1");
  EXPECT_EQ(partition_->purges_pending(), 0U);
}

TEST_F(PurgeTest, ItRemovesNoMoreAtATimeThanItMay) {
  for (int i = 0; i < 20; ++i) done(create("k", std::to_string(100 + i)));
  done(create("l", "1"));
  done(purge("k"));
  done(purge("l"));
  EXPECT_EQ(collect(1'000, 0.001).items, 1U);
  EXPECT_EQ(collect(5).items, 5U);
  EXPECT_EQ(partition_->usage().items, 15U);
  // Purged again, while items are left and one is new.
  done(create("k", "new"));
  done(purge("k"));
  collect_all();
  EXPECT_EQ(partition_->usage().items, 0U);
}

TEST_F(PurgeTest, ThereAreOnlySoMany) {
  limits_.partition_purges = 2;
  partition_.reset();
  shared_ = std::make_unique<Shared>(limits_, clock_);
  partition_ = open();
  for (std::string_view key : {"a", "b", "c"}) done(create(key, "1"));
  done(purge("a"));
  done(purge("b"));
  EXPECT_EQ(code_of(commit(*partition_, purge("c"))), Code::throttled);
  done(purge("b"));
  collect_all();
  done(purge("c"));
  EXPECT_THAT(rows("c"), IsEmpty());
}

}  // namespace
}  // namespace orrery::partition
