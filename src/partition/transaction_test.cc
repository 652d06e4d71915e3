// Snapshot transactions: what they see, what they refuse, and what they do to one another.
#include "partition/transaction.h"

#include <random>
#include <thread>

#include "partition/partition_fixture.h"
#include "value/json.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;

class TransactionTest : public PartitionTest {
 protected:
  std::shared_ptr<Partition> partition_ = open();

  std::unique_ptr<Transaction> begin(size_t bytes_max = 1 << 20) {
    return Transaction::begin(partition_, schema_, bytes_max).value();
  }
  static Outcome finish(Transaction& transaction) {
    std::promise<Outcome> promise;
    transaction.commit([&](Outcome outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }
  static std::optional<int> number(const Result<std::optional<Item>>& item) {
    if (!item || !*item) return std::nullopt;
    auto json = value::JsonDocument::parse((*item)->body).value();
    return static_cast<int>(json.root().find("n")->number);
  }
  static std::string n(int value) { return "\"n\":" + std::to_string(value); }
  static std::vector<std::string> rows(const Result<Page>& page) {
    std::vector<std::string> out;
    for (const auto& [key, item] : page->items)
      out.push_back(key.row + "=" + std::to_string(*number(Result<std::optional<Item>>(item))));
    return out;
  }
};

TEST_F(TransactionTest, SeesItsSnapshotAndItsOwnWrites) {
  ASSERT_FALSE(commit(*partition_, create("k", "a", n(1))).error);
  auto transaction = begin();
  EXPECT_EQ(transaction->lsn(), 1U);
  EXPECT_EQ(number(transaction->read("k", "a")), 1);
  // Others go on; this one's view does not change.
  ASSERT_FALSE(commit(*partition_, replace("k", "a", n(2))).error);
  ASSERT_FALSE(commit(*partition_, create("k", "b", n(2))).error);
  EXPECT_EQ(number(transaction->read("k", "a")), 1) << "repeatable";
  EXPECT_EQ(number(transaction->read("k", "b")), std::nullopt) << "no phantom";
  EXPECT_THAT(rows(transaction->scan("k", nullptr, 10, SIZE_MAX)), ElementsAre("a=1"));
  ASSERT_TRUE(transaction->stage(create("k", "c", n(3))));
  EXPECT_EQ(number(transaction->read("k", "c")), 3);
  EXPECT_EQ(partition_->read("k", "c").value(), std::nullopt) << "not visible before the commit";
  EXPECT_FALSE(finish(*transaction).error);
  EXPECT_EQ(number(partition_->read("k", "c")), 3);
  EXPECT_EQ(number(partition_->read("k", "a")), 2);
}

TEST_F(TransactionTest, WritesAreCheckedAgainstItsOwnView) {
  const Version first = commit(*partition_, create("k", "a", n(1))).written[0].version;
  auto transaction = begin();
  EXPECT_EQ(transaction->stage(create("k", "a")).error().code, Code::conflict);
  EXPECT_EQ(transaction->stage(replace("k", "b")).error().code, Code::not_found);
  EXPECT_EQ(transaction->stage(remove("k", "b")).error().code, Code::not_found);
  Write tagged = replace("k", "a", n(2));
  tagged.if_version = Version{.lsn = 77};
  EXPECT_EQ(transaction->stage(tagged).error().code, Code::precondition_failed);
  tagged.if_version = first;
  EXPECT_TRUE(transaction->stage(tagged));
  EXPECT_EQ(transaction->stage(tagged).error().code, Code::precondition_failed)
      << "written meanwhile";
  Write absent = upsert("k", "a");
  absent.if_absent = true;
  EXPECT_EQ(transaction->stage(absent).error().code, Code::precondition_failed);
  EXPECT_TRUE(transaction->stage(remove("k", "a")));
  EXPECT_EQ(transaction->stage(replace("k", "a")).error().code, Code::not_found);
  EXPECT_TRUE(transaction->stage(create("k", "a", n(5))));
  EXPECT_EQ(transaction->stage(create("k", "a")).error().code, Code::conflict);
  Write elsewhere = create("\xFF", "a");
  EXPECT_EQ(transaction->stage(elsewhere).error().code, Code::moved);
  EXPECT_EQ(transaction->staged(), 3U);
  const Outcome outcome = finish(*transaction);
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_EQ(outcome.written.size(), 3U);
  EXPECT_EQ(number(partition_->read("k", "a")), 5);
  EXPECT_FALSE(transaction->read("k", "a")) << "it has ended";
  EXPECT_EQ(code_of(finish(*transaction)), Code::internal);
}

TEST_F(TransactionTest, ScanMergesAndPages) {
  for (const char* row : {"a", "c", "e", "g"})
    ASSERT_FALSE(commit(*partition_, create("k", row, n(0))).error);
  ASSERT_FALSE(commit(*partition_, create("l", "z", n(0))).error);
  auto transaction = begin();
  ASSERT_TRUE(transaction->stage(create("k", "b", n(1))));
  ASSERT_TRUE(transaction->stage(replace("k", "c", n(1))));
  ASSERT_TRUE(transaction->stage(remove("k", "e")));
  ASSERT_TRUE(transaction->stage(create("k", "h", n(1))));
  ASSERT_TRUE(transaction->stage(create("j", "x", n(1))));
  const std::vector<std::string> expected = {"a=0", "b=1", "c=1", "g=0", "h=1"};
  EXPECT_EQ(rows(transaction->scan("k", nullptr, 100, SIZE_MAX)), expected);
  for (size_t items_max : {1, 2, 3, 5}) {
    std::vector<std::string> got;
    std::optional<std::string> after;
    for (bool more = true; more;) {
      auto page = transaction->scan("k", after ? &*after : nullptr, items_max, SIZE_MAX);
      ASSERT_TRUE(page);
      for (const std::string& row : rows(page)) got.push_back(row);
      more = page->more;
      if (!page->items.empty()) after = page->items.back().first.row;
    }
    EXPECT_EQ(got, expected) << items_max;
  }
  EXPECT_EQ(transaction->scan("k", nullptr, 100, 1)->items.size(), 1U);
}

TEST_F(TransactionTest, AbortLeavesNothing) {
  {
    auto transaction = begin();
    ASSERT_TRUE(transaction->stage(create("k", "a")));
  }
  EXPECT_EQ(partition_->usage().items, 0U);
  EXPECT_EQ(partition_->lsn(), 0U);
  auto transaction = begin();
  EXPECT_FALSE(finish(*transaction).error) << "nothing to commit";
  EXPECT_EQ(partition_->lsn(), 0U);
}

TEST_F(TransactionTest, TheFirstCommitterWins) {
  ASSERT_FALSE(commit(*partition_, create("k", "a", n(1))).error);
  for (bool by_transaction : {false, true}) {
    auto late = begin();
    if (by_transaction) {
      auto early = begin();
      ASSERT_TRUE(early->stage(replace("k", "a", n(2))));
      ASSERT_FALSE(finish(*early).error);
    } else {
      ASSERT_FALSE(commit(*partition_, replace("k", "a", n(2))).error);
    }
    ASSERT_TRUE(late->stage(create("k", "b", n(3))));
    ASSERT_TRUE(late->stage(replace("k", "a", n(3))));
    ASSERT_TRUE(late->stage(replace("k", "a", n(4))));
    EXPECT_EQ(code_of(finish(*late)), Code::retry);
    EXPECT_EQ(number(partition_->read("k", "a")), 2);
    EXPECT_EQ(partition_->read("k", "b").value(), std::nullopt);
  }
  // Made, and removed, by others.
  auto late = begin();
  ASSERT_TRUE(late->stage(create("k", "c", n(3))));
  ASSERT_FALSE(commit(*partition_, create("k", "c", n(9))).error);
  EXPECT_EQ(code_of(finish(*late)), Code::retry);
  late = begin();
  ASSERT_TRUE(late->stage(remove("k", "c")));
  ASSERT_FALSE(commit(*partition_, remove("k", "c")).error);
  EXPECT_EQ(code_of(finish(*late)), Code::retry);
}

TEST_F(TransactionTest, WriteSkewIsAllowedAsSnapshotIsolationDoes) {
  ASSERT_FALSE(commit(*partition_, all_of(create("k", "a", n(1)), create("k", "b", n(1)))).error);
  auto one_of_them = begin();
  auto other = begin();
  EXPECT_EQ(number(one_of_them->read("k", "b")), 1);
  EXPECT_EQ(number(other->read("k", "a")), 1);
  ASSERT_TRUE(one_of_them->stage(replace("k", "a", n(0))));
  ASSERT_TRUE(other->stage(replace("k", "b", n(0))));
  EXPECT_FALSE(finish(*one_of_them).error);
  EXPECT_FALSE(finish(*other).error);
}

TEST_F(TransactionTest, IsBounded) {
  auto transaction = begin(100);
  EXPECT_TRUE(transaction->stage(create("k", "a", "\"t\":\"" + std::string(40, 'x') + "\"")));
  EXPECT_EQ(
      transaction->stage(create("k", "b", "\"t\":\"" + std::string(40, 'x') + "\"")).error().code,
      Code::too_large);
  EXPECT_TRUE(transaction->stage(create("k", "c")));
  transaction = begin();
  for (size_t i = 0; i < Transaction::kWritesMax; ++i) {
    ASSERT_TRUE(transaction->stage(upsert("k", std::to_string(i % 10), "")));
  }
  EXPECT_EQ(transaction->stage(upsert("k", "one too many")).error().code, Code::too_large);
  EXPECT_FALSE(finish(*transaction).error);
  EXPECT_EQ(partition_->usage().items, 10U);
}

TEST_F(TransactionTest, ExpiredItemsAreNotThere) {
  schema_->default_life_ms = 10'000;
  ASSERT_FALSE(commit(*partition_, create("k", "a", n(1))).error);
  clock_.advance_ms(9'000);
  auto transaction = begin();
  clock_.advance_ms(2'000);
  EXPECT_EQ(number(transaction->read("k", "a")), 1) << "decided when it began";
  transaction = begin();
  EXPECT_EQ(transaction->read("k", "a").value(), std::nullopt);
  EXPECT_TRUE(transaction->scan("k", nullptr, 10, SIZE_MAX)->items.empty());
  EXPECT_TRUE(transaction->stage(create("k", "a", n(2))));
  EXPECT_FALSE(finish(*transaction).error);
}

TEST_F(TransactionTest, EndsWhenThePartitionIsOpenedAgain) {
  ASSERT_FALSE(commit(*partition_, create("k", "a", n(1))).error);
  auto transaction = begin();
  fault::arm("partition.commit", fault::Action::error);
  ASSERT_EQ(code_of(commit(*partition_, create("k", "b"))), Code::read_only);
  fault::disarm_all();
  clock_.advance_ms(1'001);
  ASSERT_FALSE(commit(*partition_, create("k", "b")).error);
  EXPECT_TRUE(transaction->is_outdated());
  EXPECT_EQ(transaction->read("k", "a").error().code, Code::retry);
  EXPECT_EQ(transaction->scan("k", nullptr, 10, SIZE_MAX).error().code, Code::retry);
  EXPECT_EQ(transaction->stage(replace("k", "a")).error().code, Code::retry);
}

TEST_F(TransactionTest, ConcurrentTransfersKeepTheSum) {
  constexpr int kAccounts = 6;
  for (int i = 0; i < kAccounts; ++i)
    ASSERT_FALSE(commit(*partition_, create("k", std::to_string(i), n(100))).error);
  const uint64_t first_lsn = partition_->lsn();
  std::atomic<int> retries = 0;
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 60; ++i) {
          for (;;) {
            auto transaction = begin();
            const std::string from = std::to_string(random() % kAccounts);
            const std::string to = std::to_string(random() % kAccounts);
            if (from == to) continue;
            int sum = 0;
            for (const auto& [key, item] : transaction->scan("k", nullptr, 100, SIZE_MAX)->items) {
              sum += *number(Result<std::optional<Item>>(item));
            }
            ASSERT_EQ(sum, kAccounts * 100) << "a snapshot is of one moment";
            ASSERT_TRUE(transaction->stage(
                replace("k", from, n(*number(transaction->read("k", from)) - 1))));
            ASSERT_TRUE(
                transaction->stage(replace("k", to, n(*number(transaction->read("k", to)) + 1))));
            const Outcome outcome = finish(*transaction);
            if (!outcome.error) break;
            ASSERT_EQ(code_of(outcome), Code::retry);
            ++retries;
          }
          ++done;
        }
      });
    }
  }
  EXPECT_EQ(done, 240);
  int sum = 0;
  for (const auto& [key, item] : items_of(*partition_))
    sum += *number(Result<std::optional<Item>>(item));
  EXPECT_EQ(sum, kAccounts * 100);
  EXPECT_EQ(partition_->lsn(), first_lsn + static_cast<uint64_t>(done)) << retries << " retries";
}

}  // namespace
}  // namespace orrery::partition
