// Merging: what the merged partition holds, positions and histories of readers from before, writers
// that live through it, and failures at every step.
#include "partition/merge.h"

#include <functional>
#include <thread>

#include "base/fault.h"
#include "partition/merged_record.h"
#include "partition/note.h"
#include "partition/partition_fixture.h"
#include "partition/verify.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kNoLimit = UINT64_MAX;

class MergeTest : public PartitionTest {
 protected:
  MergeTest() {
    left_ = open_range("left", {.range = 1, .min = "", .max = "m"});
    right_ = open_range("right", {.range = 2, .min = "m", .max = "\xFF"});
  }

  std::shared_ptr<Partition> open_range(std::string_view name,
                                        const Partition::Identity& identity) {
    identity_ = identity;
    return open(name);
  }
  Result<std::shared_ptr<Partition>> merged(uint32_t range = 3, const std::string& name = "child") {
    std::shared_ptr<Partition> child;
    auto times = merge(
        *left_, *right_, {range, name}, schema_->history_s > 0, [] { return false; },
        [&](const std::shared_ptr<Partition>& made) -> Status {
          child = made;
          return {};
        });
    if (!times) return pass(times.error());
    return child;
  }
  void expect_sound(const Partition& partition) const {
    EXPECT_EQ(sorted_terms(partition), expected_terms(partition, schema_->index));
    auto found = partition.verify(*schema_, nullptr);
    ASSERT_TRUE(found) << found.error().message;
    for (const Flaw& flaw : found->flaws) ADD_FAILURE() << flaw.what;
    EXPECT_EQ(partition.usage().bytes, found->usage.bytes);
    EXPECT_EQ(partition.usage().items, found->usage.items);
  }
  // Rows of the changes of [min, max) after a position, in order.
  std::vector<std::string> changed(const Partition& partition, std::string_view min,
                                   std::string_view max, uint64_t after) const {
    std::vector<std::string> rows;
    auto page = partition.changes({.min = min, .max = max, .after = after}, *schema_);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return rows;
    for (const Change& change : page->changes) rows.push_back(change.key.row);
    return rows;
  }
  std::vector<std::string> told(const Partition& partition, std::string_view min,
                                std::string_view max, uint64_t after) const {
    std::vector<std::string> rows;
    auto page = partition.history({.min = min, .max = max, .after = after});
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return rows;
    for (const Event& event : page->events) {
      rows.push_back((event.operation == EventKind::remove ? "-" : "") + event.key.row);
    }
    return rows;
  }
  static void close(std::shared_ptr<Partition>& partition) {
    while (partition.use_count() > 1) std::this_thread::yield();
    partition.reset();
  }

  std::shared_ptr<Partition> left_;
  std::shared_ptr<Partition> right_;
};

TEST_F(MergeTest, TheChildHoldsBothAndGoesOn) {
  schema_->unique_keys = {{path_of("/u")}};
  for (int i = 0; i < 30; ++i) {
    const std::string row = std::to_string(i);
    ASSERT_FALSE(commit(*left_, create("a" + row, row, "\"u\":1,\"n\":" + row)).error);
    if (i < 10) ASSERT_FALSE(commit(*right_, create("z" + row, row, "\"u\":1,\"t\":true")).error);
  }
  ASSERT_FALSE(commit(*left_, remove("a7", "7")).error);
  auto before = items_of(*left_);
  before.merge(items_of(*right_));
  const uint64_t lsn = left_->lsn();
  ASSERT_GT(lsn, right_->lsn());

  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ((*child)->identity().min, "");
  EXPECT_EQ((*child)->identity().max, "\xFF");
  EXPECT_EQ((*child)->lsn(), lsn) << "the larger of both";
  const auto after = items_of(**child);
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [key, item] : before) {
    EXPECT_EQ(after.at(key).body, item.body);
    EXPECT_EQ(after.at(key).version, item.version) << "versions stay";
  }
  expect_sound(**child);

  // Both parents send writers on; the child takes them, and knows the unique values of both.
  EXPECT_EQ(code_of(commit(*left_, create("a1", "new", "\"u\":2"))), Code::moved);
  EXPECT_EQ(code_of(commit(*right_, create("z1", "new", "\"u\":2"))), Code::moved);
  const Outcome fresh = commit(**child, create("z1", "new", "\"u\":2"));
  EXPECT_EQ(fresh.lsn, lsn + 1) << "no LSN is given twice";
  EXPECT_EQ(fresh.written[0].version.range, 3U);
  EXPECT_EQ(code_of(commit(**child, create("a1", "clash", "\"u\":1"))), Code::conflict);
  EXPECT_EQ(code_of(commit(**child, create("z1", "clash", "\"u\":1"))), Code::conflict);
  ASSERT_FALSE(commit(**child, replace("a3", "3", "\"u\":3")).error);
  ASSERT_FALSE(commit(**child, remove("z2", "2")).error);
  expect_sound(**child);

  // And all of it is in its files.
  const auto kept = items_of(**child);
  close(*child);
  identity_ = {.range = 3, .min = "", .max = "\xFF"};
  auto again = open("child");
  ASSERT_TRUE(again);
  EXPECT_EQ(items_of(*again).size(), kept.size());
  expect_sound(*again);
}

// The same LSNs in both: neither takes the place of the other.
TEST_F(MergeTest, PositionsInTheChangesStayValid) {
  for (int i = 0; i < 6; ++i) {
    const std::string row = std::to_string(i);
    ASSERT_FALSE(commit(*left_, create("a", "l" + row)).error);
    if (i < 3) ASSERT_FALSE(commit(*right_, create("z", "r" + row)).error);
  }
  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_THAT(changed(**child, "", "m", 4), ElementsAre("l4", "l5"));
  EXPECT_THAT(changed(**child, "m", "\xFF", 1), ElementsAre("r1", "r2"));
  EXPECT_THAT(changed(**child, "m", "\xFF", 3), IsEmpty()) << "it had read all of the right one";
  EXPECT_THAT(changed(**child, "", "\xFF", 1),
              testing::UnorderedElementsAre("l1", "l2", "l3", "l4", "l5", "r1", "r2"));
  ASSERT_FALSE(commit(**child, create("z", "r3")).error);
  ASSERT_FALSE(commit(**child, upsert("a", "l0", "\"n\":1")).error);
  EXPECT_THAT(changed(**child, "m", "\xFF", 3), ElementsAre("r3"));
  EXPECT_THAT(changed(**child, "", "m", 6), ElementsAre("l0"));
}

TEST_F(MergeTest, HistoriesGoOnFromWhereTheirReadersWere) {
  schema_->history_s = 1'000;
  for (int i = 0; i < 4; ++i) {
    ASSERT_FALSE(commit(*left_, upsert("a", "x", "\"n\":" + std::to_string(i))).error);
  }
  ASSERT_FALSE(commit(*right_, create("z", "y")).error);
  ASSERT_FALSE(commit(*right_, remove("z", "y")).error);
  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_THAT(told(**child, "", "m", 1), ElementsAre("x", "x", "x"));
  EXPECT_THAT(told(**child, "m", "\xFF", 0), ElementsAre("y", "-y"));
  EXPECT_THAT(told(**child, "m", "\xFF", 1), ElementsAre("-y"));
  ASSERT_FALSE(commit(**child, create("z", "y2")).error);
  EXPECT_THAT(told(**child, "m", "\xFF", 2), ElementsAre("y2"));
  EXPECT_THAT(told(**child, "", "m", 4), IsEmpty());
}

// One parent has forgotten, the other has not: each reader is told of what it reads.
TEST_F(MergeTest, ForgottenHistoryOfOneSideIsNotTakenForThatOfTheOther) {
  schema_->history_s = 1'000;
  ASSERT_FALSE(commit(*left_, create("a", "1")).error);
  ASSERT_FALSE(commit(*left_, create("a", "2")).error);
  for (int i = 0; i < 9; ++i) ASSERT_FALSE(commit(*right_, upsert("z", "1")).error);
  clock_.advance_ms(100'000);
  ASSERT_FALSE(commit(*right_, upsert("z", "2")).error);
  ASSERT_TRUE(right_->forget_history(clock_.now_s()));
  ASSERT_EQ(right_->history({.after = 3}).error().code, Code::invalid);
  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_THAT(told(**child, "", "m", 1), ElementsAre("2"));
  EXPECT_EQ((*child)->history({.min = "m", .max = "\xFF", .after = 3}).error().code, Code::invalid);
  EXPECT_THAT(told(**child, "m", "\xFF", 9), ElementsAre("2"));
}

TEST_F(MergeTest, APositionOfATimeMissesNothing) {
  ASSERT_FALSE(commit(*right_, create("z", "old")).error);
  for (int i = 0; i < 5; ++i)
    ASSERT_FALSE(commit(*right_, create("z", "o" + std::to_string(i))).error);
  clock_.advance_ms(1'000'000);
  const int64_t since = clock_.now_s();
  ASSERT_FALSE(commit(*left_, create("a", "new")).error);
  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  const uint64_t position = (*child)->position_at(since).value();
  EXPECT_THAT(changed(**child, "", "m", position), ElementsAre("new"));
  clock_.advance_ms(1'000'000);
  ASSERT_FALSE(commit(**child, create("a", "newest")).error);
  EXPECT_THAT(changed(**child, "", "\xFF", (*child)->position_at(clock_.now_s()).value()),
              ElementsAre("newest"));
}

TEST_F(MergeTest, WhatIsWrittenMeanwhileIsThereOnce) {
  for (int i = 0; i < 200; ++i) {
    const std::string row = std::to_string(i);
    ASSERT_FALSE(commit(*left_, create("a" + row, row)).error);
    ASSERT_FALSE(commit(*right_, create("z" + row, row)).error);
  }
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::vector<std::vector<Write>> returned;
  std::thread writing([&] {
    for (int i = 200; !stop; ++i) {
      const std::string row = std::to_string(i);
      for (auto& [partition, key] : {std::pair(left_, "a" + row), std::pair(right_, "z" + row)}) {
        Outcome outcome = commit(*partition, create(key, row, "\"n\":1"));
        if (code_of(outcome) == Code::moved) {
          returned.push_back(std::move(outcome.returned));
        } else {
          EXPECT_FALSE(outcome.error);
        }
        ++written;
      }
    }
  });
  while (written < 20) std::this_thread::yield();
  auto child = merged();
  const int at_merge = written;
  while (written < at_merge + 2) std::this_thread::yield();
  stop = true;
  writing.join();
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_FALSE(returned.empty());
  for (auto& transaction : returned) {
    ASSERT_FALSE(commit(**child, std::move(transaction)).error);
  }
  EXPECT_EQ(items_of(**child).size(), 400U + static_cast<size_t>(written));
  expect_sound(**child);
}

// A parent that is a child of a split and was not trimmed has what its sibling had.
TEST_F(MergeTest, WhatIsOutOfRangeIsLeftBehind) {
  schema_->history_s = 1'000;
  close(right_);
  close(left_);
  identity_ = {.range = 7, .min = "", .max = "\xFF"};
  auto parent = open("whole");
  for (const char* key : {"b", "d", "n", "q"}) {
    Write write = create(key, "1");
    write.note = std::make_shared<Note>(Note{
        .owner = "o", .number = 1, .part = 0, .body = std::string("of ") + key, .life_s = 1'000});
    ASSERT_FALSE(commit(*parent, std::move(write)).error);
  }
  auto cut = parent->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(cut);
  ASSERT_TRUE(parent->finish_split(*cut, {8, "c1"}, {9, "c2"}, [&](const auto& made) -> Status {
    left_ = made.first;
    right_ = made.second;
    return {};
  }));
  ASSERT_FALSE(commit(*left_, remove("b", "1")).error);
  ASSERT_FALSE(commit(*right_, upsert("q", "1", "\"n\":2")).error);
  auto child = merged(10);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(items_of(**child).size(), 3U);
  EXPECT_THAT(told(**child, "", "m", 4), ElementsAre("-1"));
  EXPECT_THAT(told(**child, "m", "\xFF", 4), ElementsAre("1"));
  EXPECT_EQ((*child)->notes("o", 1)->size(), 4U) << "of each write one";
  expect_sound(**child);
}

TEST_F(MergeTest, PurgesGoOn) {
  ASSERT_FALSE(commit(*left_, create("a", "1")).error);
  ASSERT_FALSE(commit(*right_, create("z", "1")).error);
  Write purge;
  purge.verb = Verb::purge;
  purge.placement = "z";
  purge.schema = schema_;
  ASSERT_FALSE(commit(*right_, std::move(purge)).error);
  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ((*child)->purges_pending(), 1U);
  EXPECT_FALSE((*child)->read("z", "1").value());
  EXPECT_TRUE((*child)->read("a", "1").value());
}

TEST_F(MergeTest, IndexesOfDifferentRulesAreToBeMadeAnew) {
  ASSERT_FALSE(commit(*left_, create("a", "1", "\"x\":1,\"y\":2")).error);
  auto newer = std::make_shared<Schema>(*schema_);
  newer->index_version = 2;
  newer->index = policy_of({{"/*", true}, {"/y/?", false}});
  schema_ = newer;
  ASSERT_FALSE(commit(*right_, create("z", "1", "\"x\":1,\"y\":2")).error);
  auto child = merged();
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_FALSE((*child)->is_indexed(*schema_));
  while (!(*child)->reindex(schema_, 100).value()) continue;
  EXPECT_TRUE((*child)->is_indexed(*schema_));
  expect_sound(**child);
}

TEST_F(MergeTest, WhatCannotBeMergedSaysWhy) {
  ASSERT_FALSE(commit(*left_, create("a", "1", "\"t\":\"" + std::string(1'000, 'x') + "\"")).error);
  EXPECT_TRUE(check_merge(*left_, *right_, kNoLimit));
  EXPECT_EQ(check_merge(*right_, *left_, kNoLimit).error().code, Code::conflict);
  EXPECT_EQ(check_merge(*left_, *right_, 500).error().code, Code::conflict);
  auto cut = left_->begin_split(kPlainKeys, "c", CutBy::middle);
  ASSERT_TRUE(cut);
  auto busy = merged();
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::conflict);
  left_->abandon_split();
  // More shapes than one index tells apart.
  for (size_t i = 0; i < kMaxShapes; ++i) {
    const std::string name = "\"n" + std::to_string(i) + "\":1";
    ASSERT_FALSE(commit(*(i % 2 == 0 ? left_ : right_),
                        create(i % 2 == 0 ? "a" : "z", std::to_string(i + 10), name))
                     .error);
  }
  auto shapes = check_merge(*left_, *right_, kNoLimit);
  ASSERT_FALSE(shapes);
  EXPECT_EQ(shapes.error().code, Code::conflict);
  EXPECT_THAT(shapes.error().message, testing::HasSubstr("shapes"));
}

TEST_F(MergeTest, AFailureLeavesBothAsTheyWere) {
  ASSERT_FALSE(commit(*left_, create("a", "1")).error);
  ASSERT_FALSE(commit(*right_, create("z", "1")).error);
  int attempt = 0;
  for (const char* point : {"merge.copied", "merge.opened", "publish"}) {
    const std::string name = "child" + std::to_string(++attempt);
    if (std::string_view(point) != "publish") fault::arm(point, fault::Action::error);
    auto done = merge(
        *left_, *right_, {3, name}, false, [] { return false; },
        [](const std::shared_ptr<Partition>&) -> Status { return fail(Code::conflict, "no"); });
    fault::disarm_all();
    EXPECT_FALSE(done) << point;
    EXPECT_FALSE(volume_->exists(name)) << point;
    ASSERT_FALSE(commit(*left_, create("a", name)).error) << point;
    ASSERT_FALSE(commit(*right_, create("z", name)).error) << point;
  }
  auto child = merged(4, "child");
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(items_of(**child).size(), 8U);
  expect_sound(**child);
}

TEST(MergedRecord, AContainerWithoutHistoryGetsNone) {
  PartitionRecord left, right;
  left.lsn = 10;
  right.lsn = 20;
  EXPECT_EQ(merged_record(left, right, 3, false).history_after, kNoHistory);
  EXPECT_EQ(merged_record(left, right, 3, true).history_after, 10U)
      << "it begins with the next write";
  left.history_after = 4;
  EXPECT_EQ(merged_record(left, right, 3, false).history_after, 4U)
      << "it has begun, and the caller does not know it yet";
  right.index_version = left.index_version + 1;
  EXPECT_EQ(merged_record(left, right, 3, false).history_after, kNoHistory)
      << "it was given up, and the left one does not know it yet";
}

TEST(MergedRecord, FloorsOfMoreThanThereIsRoomForAreDrawnTogether) {
  PartitionRecord left, right;
  left.min = "";
  left.max = right.min = "m";
  right.max = "\xFF";
  left.lsn = 1'000;
  right.lsn = 2'000;
  left.history_after = 5;
  right.history_after = kNoHistory;
  PartitionRecord merged = merged_record(left, right, 3, true);
  EXPECT_EQ(merged.history_after, 5U);
  EXPECT_EQ(merged.history_from("", "m"), 5U);
  EXPECT_EQ(merged.history_from("n", "o"), 2'000U) << "it has kept none up to there";
  for (size_t i = 0; i < kHistoryFloorsMax; ++i) {
    left.history_floors.push_back({.min = "a", .max = "b", .after = 10 + i});
  }
  merged = merged_record(left, right, 3, true);
  EXPECT_EQ(merged.history_floors.size(), 1U);
  EXPECT_EQ(merged.history_from("", "a"), 2'000U);
  EXPECT_TRUE(decode_record(encode_record(merged)));
}

}  // namespace
}  // namespace orrery::partition
