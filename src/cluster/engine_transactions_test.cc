// Transactions of several steps: they go on across splits, and the first committer wins.
#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

constexpr size_t kBytes = 1 << 20;

class EngineTransactionsTest : public EngineTest {
 protected:
  std::unique_ptr<partition::Transaction> begin(const RoutingPtr& routing, std::string_view key) {
    auto begun = engine_->begin_transaction(routing, place(*routing, key), {}, kBytes);
    EXPECT_TRUE(begun) << begun.error().message;
    return begun ? std::move(begun->transaction) : nullptr;
  }
};

TEST_F(EngineTransactionsTest, AreCommittedWholeAndCharged) {
  open();
  auto routing = make("c");
  auto transaction = begin(routing, "k");
  for (const char* row : {"1", "2"}) {
    ASSERT_TRUE(transaction->stage(write_of(*routing, partition::Verb::create, "k", row)));
  }
  EXPECT_FALSE(read(routing, "k", "1")->item);
  const WriteReply reply = engine_->write_and_wait(routing, transaction->take());
  ASSERT_FALSE(reply.error) << reply.error->message;
  EXPECT_EQ(reply.written.size(), 2U);
  EXPECT_GT(reply.receipt.charge, 2);
  EXPECT_TRUE(read(routing, "k", "1")->item);
  EXPECT_TRUE(read(routing, "k", "2")->item);
}

TEST_F(EngineTransactionsTest, TheSecondCommitterIsToldToDoItAgain) {
  open();
  auto routing = make("c");
  ASSERT_FALSE(upsert(routing, "k", "1").error);
  auto first = begin(routing, "k");
  auto second = begin(routing, "k");
  for (auto* transaction : {first.get(), second.get()}) {
    ASSERT_TRUE(transaction->stage(write_of(*routing, partition::Verb::replace, "k", "1")));
  }
  EXPECT_FALSE(engine_->write_and_wait(routing, first->take()).error);
  const WriteReply reply = engine_->write_and_wait(routing, second->take());
  ASSERT_TRUE(reply.error);
  EXPECT_EQ(reply.error->code, Code::retry);
}

TEST_F(EngineTransactionsTest, GoOnAcrossASplit) {
  open();
  auto routing = make("c");
  load(routing, 0, 20);
  auto transaction = begin(routing, "k7");
  ASSERT_TRUE(transaction->stage(write_of(*routing, partition::Verb::replace, "k7", "7", pad(50))));
  auto split = engine_->split(routing->container->number, std::nullopt);
  ASSERT_TRUE(split) << split.error().message;
  const WriteReply reply = engine_->write_and_wait(routing, transaction->take());
  ASSERT_FALSE(reply.error) << reply.error->message;
  EXPECT_NE(reply.receipt.range, split->parent);
  // With the old routing it begins in the child as well.
  auto after = engine_->begin_transaction(routing, place(*routing, "k7"), {}, kBytes);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->receipt.range, reply.receipt.range);
  EXPECT_EQ(after->transaction->read(place(*routing, "k7"), "7").value()->version,
            reply.written[0].version);
}

TEST_F(EngineTransactionsTest, HoldTheSessionToItsToken) {
  open();
  auto routing = make("c");
  const LsnDemand ahead([](const catalog::PartitionRange&) { return std::optional<uint64_t>(9); });
  auto begun = engine_->begin_transaction(routing, place(*routing, "k"), ahead, kBytes);
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, Code::behind);
}

}  // namespace
}  // namespace orrery::cluster
