// Changes by key range, by time, with expired items and under many changes of others.
#include "partition/partition_fixture.h"

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
  schema_->default_ttl_s = 10;
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
  clock_.set_now_s(500);  // the clock goes back, the times of writes do not
  write("k", "back");
  EXPECT_THAT(rows({.after = position_at(1'190)}), ElementsAre("19", "often", "back"));
}

}  // namespace
}  // namespace orrery::partition
