// What running out of memory does to a partition: to its writer, and to a split.
#include <gmock/gmock.h>

#include <atomic>
#include <new>

#include "base/await.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

using fault::Action;

class PartitionMemoryTest : public PartitionTest {
 protected:
  // Outcomes of writes that are queued while the writer is at another one.
  static std::vector<Outcome> outcomes_of(Partition& partition, std::vector<Write> writes) {
    std::vector<std::promise<Outcome>> promises(writes.size());
    for (size_t i = 0; i < writes.size(); ++i) {
      partition.submit(one(std::move(writes[i])), [&promises, i](Outcome outcome) {
        promises[i].set_value(std::move(outcome));
      });
    }
    std::vector<Outcome> outcomes;
    for (auto& promise : promises) outcomes.push_back(promise.get_future().get());
    return outcomes;
  }
};

class FinisherWithoutMemory final : public Finisher {
 public:
  std::string finish(std::string_view, const Version&, const Origin&) const override {
    throw std::bad_alloc();
  }
  std::span<const std::string_view> added_names() const override { return {}; }
  void each_added(const Version&, const Origin&,
                  const std::function<void(const value::Value&)>&) const override {}
};

TEST_F(PartitionMemoryTest, AWritersJobThatCannotRunFailsWhatWaits) {
  auto partition = open();
  fault::arm("pool.writer", Action::memory);
  EXPECT_EQ(code_of(commit(*partition, create("k", "a"))), Code::overloaded);
  EXPECT_EQ(shared_->writers.failed(), 1U);
  EXPECT_EQ(code_of(commit(*partition, create("k", "a"))), std::nullopt);
  partition->drain();
}

TEST_F(PartitionMemoryTest, ARunWithoutMemoryFailsWholeAndIsNotDone) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "before")).error);
  const uint64_t lsn = partition->lsn();
  Write broken = create("k", "broken");
  broken.finisher = std::make_shared<FinisherWithoutMemory>();
  EXPECT_EQ(code_of(commit(*partition, std::move(broken))), Code::overloaded);
  EXPECT_EQ(partition->lsn(), lsn);
  EXPECT_EQ(partition->read_only_reason(), "");
  const auto outcomes =
      outcomes_of(*partition, all_of(create("k", "a"), create("k", "b"), create("k", "before")));
  EXPECT_EQ(code_of(outcomes[0]), std::nullopt);
  EXPECT_EQ(code_of(outcomes[1]), std::nullopt);
  EXPECT_EQ(code_of(outcomes[2]), Code::conflict);
  EXPECT_EQ(items_of(*partition).size(), 3U);
}

TEST_F(PartitionMemoryTest, ACompletionThatThrowsDoesNotKeepTheOthersFromTheirs) {
  auto partition = open();
  std::atomic<int> destroyed{0};
  {
    auto held = std::shared_ptr<int>(new int(0), [&](const int* number) {
      delete number;
      ++destroyed;
    });
    partition->submit(one(create("k", "a")), [held](const Outcome&) { throw std::bad_alloc(); });
  }
  EXPECT_EQ(code_of(commit(*partition, create("k", "b"))), std::nullopt);
  partition->drain();
  EXPECT_EQ(destroyed, 1) << "whoever it held has heard of it";
  EXPECT_EQ(items_of(*partition).size(), 2U);
}

TEST_F(PartitionMemoryTest, ACommitWithoutMemoryCountsAsOneThatFailed) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  fault::arm("partition.commit", Action::memory);
  const Outcome lost = commit(*partition, create("k", "b", R"("other":"shape")"));
  EXPECT_EQ(code_of(lost), Code::read_only);
  EXPECT_THAT(lost.error->message, testing::HasSubstr("out of memory"));
  clock_.advance_ms(2000);
  EXPECT_EQ(code_of(commit(*partition, create("k", "c", R"("other":"shape")"))), std::nullopt);
  EXPECT_EQ(items_of(*partition).size(), 2U);
  EXPECT_EQ(sorted_terms(*partition), expected_terms(*partition, schema_->index));
}

TEST_F(PartitionMemoryTest, ASplitWithoutMemoryLeavesThePartitionWriting) {
  auto partition = open();
  for (int i = 0; i < 10; ++i) {
    ASSERT_FALSE(commit(*partition, create("k" + std::to_string(i), "r")).error);
  }
  fault::arm("split.begin", Action::memory);
  EXPECT_THROW(static_cast<void>(partition->begin_split(kPlainKeys, "k5")), std::bad_alloc);
  fault::disarm_all();
  for (const char* point : {"split.cloned_left", "split.cloned_right", "split.opened"}) {
    auto cut = partition->begin_split(kPlainKeys, "k5");
    ASSERT_TRUE(cut) << cut.error().message;
    fault::arm(point, Action::memory);
    auto split = partition->finish_split(*cut, {8, "p8"}, {9, "p9"},
                                         [](const auto&) -> Status { return {}; });
    ASSERT_FALSE(split) << point;
    EXPECT_EQ(split.error().code, Code::overloaded);
    fault::disarm_all();
    EXPECT_EQ(code_of(commit(*partition, upsert("k1", "r"))), std::nullopt) << point;
    EXPECT_FALSE(volume_->exists("p8"));
  }
  EXPECT_EQ(items_of(*partition).size(), 10U);
}

}  // namespace
}  // namespace orrery::partition
