// Transactions of sessions: who has them, how they end, what is written.
#include "api/mongo/transactions/transaction_store.h"

#include <gtest/gtest.h>

#include <string>

#include "cluster/engine_fixture.h"

namespace orrery::mongo {
namespace {

using End = TransactionStore::End;
using Found = TransactionStore::Found;
using Kind = OpenTransaction::Outcome::Kind;
using cluster::place;
using partition::Verb;

class TransactionStoreTest : public cluster::EngineTest {
 protected:
  void SetUp() override {
    open();
    store_ = std::make_unique<TransactionStore>(*engine_, clock_);
  }
  void TearDown() override { store_.reset(); }

  // A transaction that has staged one new row, and is given back open.
  std::shared_ptr<OpenTransaction> stage(const cluster::RoutingPtr& routing,
                                         const std::string& session, int64_t number,
                                         std::string_view row) {
    auto begun = store_->begin(session, number, false);
    EXPECT_TRUE(begun);
    auto staged = (*begun)->transaction()->stage(
        routing, cluster::write_of(*routing, Verb::create, "k", row));
    EXPECT_TRUE(staged && *staged);
    (*begun)->set_end(End::none);
    return (*begun)->transaction();
  }
  static std::shared_ptr<const partition::Note> note(const std::string& session, uint64_t number) {
    return std::make_shared<const partition::Note>(
        partition::Note{.owner = session, .number = number, .part = 0, .body = "x", .life_s = 60});
  }
  bool is_there(const cluster::RoutingPtr& routing, std::string_view row) {
    return read(routing, "k", row)->item.has_value();
  }

  std::unique_ptr<TransactionStore> store_;
};

TEST_F(TransactionStoreTest, IsLentToOneAtATime) {
  const auto routing = make("c");
  stage(routing, "s", 1, "a");
  auto first = store_->lend("s", 1);
  EXPECT_EQ(first.found, Found::open);
  EXPECT_EQ(store_->lend("s", 1).found, Found::busy);
  first.lent->set_end(End::none);
  first.lent.reset();
  EXPECT_EQ(store_->lend("other", 1).found, Found::none);
  EXPECT_EQ(store_->lend("s", 2).found, Found::none);
  EXPECT_EQ(store_->lend("s", 0).found, Found::old);
}

TEST_F(TransactionStoreTest, WhatIsNotGivenBackWellIsAborted) {
  const auto routing = make("c");
  stage(routing, "s", 1, "a");
  store_->lend("s", 1);
  EXPECT_EQ(store_->lend("s", 1).found, Found::aborted);
  EXPECT_FALSE(is_there(routing, "a"));
  EXPECT_EQ(store_->begin("s", 1, false).error().code, kConflictingOperationInProgress);
  EXPECT_EQ(store_->begin("s", 0, false).error().code, kTransactionTooOld);
}

TEST_F(TransactionStoreTest, CommitsAllAtOnceAndRemembersIt) {
  const auto routing = make("c");
  const auto transaction = stage(routing, "s", 1, "a");
  EXPECT_FALSE(is_there(routing, "a"));
  auto seen = transaction->read(routing, {place(*routing, "k"), "a"});
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->has_value()) << "it sees what it wrote";
  {
    auto lending = store_->lend("s", 1);
    EXPECT_EQ(lending.lent->transaction()->commit(note("s", 1), false).kind, Kind::committed);
    lending.lent->set_end(End::committed);
  }
  EXPECT_TRUE(is_there(routing, "a"));
  EXPECT_EQ(store_->lend("s", 1).found, Found::committed);
  EXPECT_TRUE(transaction->ended());
  EXPECT_EQ(engine_->notes(routing, "s", 1)->size(), 1U);
  EXPECT_EQ(store_->counts().committed, 1);
}

TEST_F(TransactionStoreTest, TheFirstCommitterWins) {
  const auto routing = make("c");
  ASSERT_FALSE(upsert(routing, "k", "a").error);
  const auto change = [&](const std::string& session) {
    auto begun = store_->begin(session, 1, false);
    auto staged = (*begun)->transaction()->stage(
        routing, cluster::write_of(*routing, Verb::replace, "k", "a"));
    EXPECT_TRUE(staged && *staged);
    (*begun)->set_end(End::none);
    return (*begun)->transaction();
  };
  const auto one = change("one");
  const auto two = change("two");
  EXPECT_EQ(one->commit(note("one", 1), false).kind, Kind::committed);
  const auto lost = two->commit(note("two", 1), false);
  EXPECT_EQ(lost.kind, Kind::refused);
  EXPECT_EQ(lost.error->code, Code::retry);
}

TEST_F(TransactionStoreTest, ACommitWhoseOutcomeIsUnknownIsDoneOnce) {
  const auto routing = make("c");
  const auto transaction = stage(routing, "s", 1, "a");
  EXPECT_EQ(transaction->commit(note("s", 1), false).kind, Kind::committed);
  // As if nobody knew: it is found by its note, and not written again.
  EXPECT_EQ(transaction->commit(note("s", 1), true).kind, Kind::committed);
  const auto fresh = stage(routing, "t", 1, "b");
  EXPECT_EQ(fresh->commit(note("t", 1), true).kind, Kind::committed);
  EXPECT_TRUE(is_there(routing, "b"));
}

TEST_F(TransactionStoreTest, WritesOneLogicalPartition) {
  const auto routing = make("c");
  const auto other = make("d");
  const auto transaction = stage(routing, "s", 1, "a");
  const auto refused = [&](const cluster::RoutingPtr& to, std::string_view key) {
    auto staged = transaction->stage(to, cluster::write_of(*to, Verb::create, key, "x"));
    return staged ? 0 : staged.error().code;
  };
  EXPECT_EQ(refused(routing, "other key"), kOperationNotSupportedInTransaction);
  EXPECT_EQ(refused(other, "k"), kOperationNotSupportedInTransaction);
  EXPECT_TRUE(transaction->read(other, {place(*other, "k"), "x"})) << "may be read";
  EXPECT_EQ(refused(routing, "k"), 0);
}

TEST_F(TransactionStoreTest, IsBoundedInBytes) {
  const auto routing = make("c");
  const auto transaction = stage(routing, "s", 1, "a");
  const auto large = cluster::write_of(*routing, Verb::upsert, "k", "large",
                                       cluster::pad(OpenTransaction::kBytesMax / 2));
  EXPECT_TRUE(transaction->stage(routing, large));
  EXPECT_EQ(transaction->stage(routing, large).error().code, kTransactionTooLarge);
}

TEST_F(TransactionStoreTest, EndsWhenItsTimeIsOver) {
  const auto routing = make("c");
  stage(routing, "s", 1, "a");
  clock_.advance_ms(TransactionStore::kLifetimeS * 1000 - 1);
  {
    auto lending = store_->lend("s", 1);
    ASSERT_EQ(lending.found, Found::open);
    clock_.advance_ms(1);
    store_->sweep();  // it is in use: its end waits
    lending.lent->set_end(End::none);
  }
  EXPECT_EQ(store_->lend("s", 1).found, Found::aborted);
  EXPECT_EQ(store_->counts().open, 0);
}

TEST_F(TransactionStoreTest, EndsWithItsSessionAndWithTheNext) {
  const auto routing = make("c");
  stage(routing, "s", 1, "a");
  stage(routing, "t", 1, "b");
  store_->abort_if([](std::string_view session) { return session == "s"; });
  EXPECT_EQ(store_->lend("s", 1).found, Found::aborted);
  store_->supersede("t", 1);
  stage(routing, "t", 2, "b");
  EXPECT_EQ(store_->lend("t", 1).found, Found::old);
  store_->supersede("t", 3);
  EXPECT_EQ(store_->lend("t", 2).found, Found::aborted);
  EXPECT_EQ(store_->counts().aborted, 3);
}

}  // namespace
}  // namespace orrery::mongo
