// Changes by key range, by time, with expired items and under many changes of others.
#include <random>
#include <set>

#include "partition/partition_fixture.h"
#include "partition/run.h"
#include "partition/time_order.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;

class ChangesTest : public PartitionTest {
 protected:
  ChangesTest() {
    clock_.set_now_s(1'000);
    partition_ = open();
  }
  void write(std::string_view key, std::string_view row, std::string_view members = "") {
    ASSERT_FALSE(commit(*partition_, upsert(key, row, members)).error);
  }
  std::vector<std::string> rows(const ChangeQuery& query) {
    auto page = partition_->changes(query, *schema_);
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> found;
    for (const Change& change : page->changes) found.push_back(change.key.row);
    return found;
  }
  uint64_t position_at(int64_t time_s) {
    auto position = partition_->position_at(time_s);
    EXPECT_TRUE(position) << position.error().message;
    return position.value_or(UINT64_MAX);
  }
  uint32_t time_of(std::string_view row) {
    auto item = partition_->read("k", row);
    EXPECT_TRUE(item && *item) << row;
    return item && *item ? (*item)->version.time_s : 0;
  }

  std::shared_ptr<Partition> partition_;
};

TEST_F(ChangesTest, OnlyThoseOfTheKeysAskedFor) {
  for (std::string_view key : {"a", "b", "c", "b", "ba"}) {
    write(key, std::string(key) + std::to_string(partition_->lsn()));
  }
  EXPECT_THAT(rows({.min = "b", .max = "c"}), ElementsAre("b1", "b3", "ba4"));
  EXPECT_THAT(rows({.min = "b", .max = "ba", .after = 2}), ElementsAre("b3"));
  EXPECT_THAT(rows({.min = "c", .max = "b"}), ElementsAre());
  EXPECT_EQ(partition_->changes({.min = "x", .max = "y"}, *schema_)->lsn, 5U)
      << "what others wrote is behind it";
}

TEST_F(ChangesTest, APageEndsWhereItIsFull) {
  for (int i = 0; i < 5; ++i) write("k", std::to_string(i));
  const size_t body = body_of("0").size();
  EXPECT_THAT(rows({.bytes_max = 2 * body}), ElementsAre("0", "1"));
  auto page = partition_->changes({.items_max = 3}, *schema_);
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->lsn, 3U);
  page = partition_->changes({.after = page->lsn, .items_max = 2}, *schema_);
  EXPECT_FALSE(page->more);
  EXPECT_EQ(page->lsn, 5U);
}

// The writes of a transaction share an LSN, and come in one page, in their order.
TEST_F(ChangesTest, ATransactionIsOneStep) {
  write("k", "before");
  std::vector<Write> transaction = {create("k", "c"), create("k", "a"), upsert("k", "before"),
                                    create("k", "b"), remove("k", "a"), upsert("k", "c")};
  const Outcome outcome = commit(*partition_, std::move(transaction));
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_EQ(outcome.lsn, 2U);
  std::set<uint16_t> steps;
  std::set<uint64_t> numbers;
  for (const Written& one : outcome.written) {
    EXPECT_EQ(one.version.lsn, 2U);
    EXPECT_TRUE(steps.insert(one.version.step).second) << "a step for each write";
    numbers.insert(one.item.origin.number);
  }
  EXPECT_EQ(numbers, (std::set<uint64_t>{1, 2, 3, 4})) << "a number for each item";
  write("k", "after");
  for (const bool is_reopened : {false, true}) {
    if (is_reopened) {
      partition_.reset();
      partition_ = open();
    }
    const auto page = partition_->changes({.items_max = 1}, *schema_);
    ASSERT_TRUE(page);
    std::vector<std::string> found;
    for (const Change& change : page->changes) {
      EXPECT_EQ(change.lsn, 2U);
      found.push_back(change.key.row);
    }
    EXPECT_THAT(found, ElementsAre("before", "b", "c"));
    EXPECT_TRUE(page->more);
    EXPECT_EQ(page->lsn, 2U);
    EXPECT_THAT(rows({.after = 2}), ElementsAre("after"));
  }
}

TEST_F(ChangesTest, AVeryLargeTransactionTakesSeveralLsnsSoThatPagesStayBounded) {
  schema_->indexed = false;
  std::vector<Write> transaction;
  for (int i = 0; i < 2'500; ++i) transaction.push_back(create("k", std::to_string(i)));
  EXPECT_EQ(commit(*partition_, std::move(transaction)).lsn, 3U);
  EXPECT_EQ(partition_->changes({.items_max = 1}, *schema_)->changes.size(), kLsnWrites);
  const std::string large = "\"text\":\"" + std::string(1'500'000, 'x') + '"';
  transaction.clear();
  for (int i = 0; i < 4; ++i) transaction.push_back(create("l", std::to_string(i), large));
  EXPECT_EQ(commit(*partition_, std::move(transaction)).lsn, 5U);
}

TEST_F(ChangesTest, ManyChangesOfOthersAreWalkedInSteps) {
  schema_->indexed = false;
  std::vector<Write> transaction;
  for (int i = 0; i < 25'000; ++i) transaction.push_back(create("a", std::to_string(i)));
  ASSERT_FALSE(commit(*partition_, std::move(transaction)).error);
  write("b", "mine");
  auto page = partition_->changes({.min = "b", .max = "c"}, *schema_);
  EXPECT_TRUE(page->changes.empty());
  EXPECT_TRUE(page->more);
  EXPECT_GT(page->lsn, 0U);
  EXPECT_THAT(rows({.min = "b", .max = "c", .after = page->lsn}), ElementsAre("mine"));
}

TEST_F(ChangesTest, ExpiredItemsAreLeftOut) {
  schema_->default_life_ms = 10'000;
  write("k", "old");
  clock_.set_now_s(1'005);
  write("k", "new");
  clock_.set_now_s(1'011);
  EXPECT_THAT(rows({}), ElementsAre("new"));
}

TEST_F(ChangesTest, ATimeIsAPosition) {
  EXPECT_EQ(position_at(0), 0U) << "nothing there";
  for (int i = 0; i < 20; ++i) {
    clock_.set_now_s(1'000 + 10 * i);
    write("k", std::to_string(i));
    write("k", "often");
  }
  for (int i = 0; i < 19; ++i) {
    EXPECT_EQ(rows({.after = position_at(1'000 + 10 * i)}).front(), std::to_string(i))
        << "the very second";
    EXPECT_EQ(position_at(1'001 + 10 * i), position_at(1'010 + 10 * i));
  }
  EXPECT_EQ(position_at(0), 0U);
  EXPECT_EQ(position_at(9'999), partition_->lsn());
  clock_.set_now_s(500);  // the clock goes back: everything that came after it does
  write("k", "back");
  EXPECT_THAT(rows({.after = position_at(1'190)}), ElementsAre("19", "often", "back"));
}

TEST_F(ChangesTest, TimesStayWhereTheyAreForASmallCorrectionOfTheClock) {
  write("k", "1");
  clock_.set_now_s(1'000 - kTimeAheadMax_s);
  write("k", "2");
  EXPECT_EQ(time_of("2"), 1'000U);
  clock_.set_now_s(999);
  write("k", "3");
  EXPECT_EQ(time_of("3"), 1'000U);
  clock_.set_now_s(1'001);
  write("k", "4");
  EXPECT_EQ(time_of("4"), 1'001U);
}

// A jump forwards that is undone: only what was written meanwhile has a time that is ahead.
TEST_F(ChangesTest, TimesFollowTheClockBackFromAfar) {
  schema_->default_life_ms = 10'000;
  write("k", "before");
  clock_.set_now_s(1'000'000);
  write("k", "ahead");
  clock_.set_now_s(1'002);
  write("k", "after");
  EXPECT_EQ(time_of("ahead"), 1'000'000U);
  EXPECT_EQ(time_of("after"), 1'002U);
  clock_.set_now_s(1'000 + kTimeAheadMax_s);
  EXPECT_THAT(rows({}), ElementsAre("ahead")) << "expiry is by the clock again";
  for (const bool is_reopened : {false, true}) {
    if (is_reopened) {
      partition_.reset();
      partition_ = open();
    }
    EXPECT_EQ(position_at(1'000), 0U);
    EXPECT_EQ(position_at(1'001), 1U) << "all that was written since: more is no harm";
    EXPECT_EQ(position_at(1'000'000), 1U);
    EXPECT_EQ(position_at(1'000'001), partition_->lsn());
  }
}

// Whatever the clock does, a reader from a time on misses nothing that has this time or a later
// one.
TEST_F(ChangesTest, APositionIsBeforeEverythingOfItsTime) {
  std::mt19937 random(7);
  int64_t now_s = 1'000'000;
  std::vector<std::pair<std::string, uint32_t>> written;
  for (int i = 0; i < 300; ++i) {
    const uint32_t dice = random() % 20;
    now_s += dice == 0 ? -5'000 : dice == 1 ? 5'000 : dice < 6 ? -40 : 30;
    clock_.set_now_s(now_s);
    const std::string row = std::to_string(random() % 200);
    write("k", row);
    std::erase_if(written, [&](const auto& one) { return one.first == row; });
    written.emplace_back(row, time_of(row));
    EXPECT_LE(written.back().second, now_s + kTimeAheadMax_s);
  }
  for (const auto& since : written) {
    const auto found = rows({.after = position_at(since.second)});
    for (const auto& [row, time_s] : written) {
      if (time_s < since.second) continue;
      EXPECT_THAT(found, testing::Contains(row)) << time_s << " since " << since.second;
    }
  }
}

}  // namespace
}  // namespace orrery::partition
