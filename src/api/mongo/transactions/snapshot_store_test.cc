// Snapshots for reads outside transactions: how long they are kept, and how many.
// What they have is tested with the driver (tests/sdk/mongo_snapshots.test.mjs).
#include "api/mongo/transactions/snapshot_store.h"

#include <gtest/gtest.h>

#include <memory>

#include "cluster/engine_fixture.h"

namespace orrery::mongo {
namespace {

class SnapshotStoreTest : public cluster::EngineTest {
 protected:
  void SetUp() override {
    open();
    store_ = std::make_unique<SnapshotStore>(*engine_, clock_);
  }
  void TearDown() override { store_.reset(); }
  std::shared_ptr<Snapshot> take() {
    auto taken = store_->take("d", "c");
    EXPECT_TRUE(taken);
    return *taken;
  }

  std::unique_ptr<SnapshotStore> store_;
};

TEST_F(SnapshotStoreTest, EndsWhenItsTimeIsOver) {
  const auto snapshot = take();
  EXPECT_EQ(store_->find(snapshot->time()), snapshot);
  clock_.advance_ms(SnapshotStore::kLifetimeS * 1000 - 1);
  EXPECT_EQ(store_->find(snapshot->time()), snapshot);
  EXPECT_FALSE(snapshot->ended());
  clock_.advance_ms(1);
  store_->sweep();
  EXPECT_EQ(store_->find(snapshot->time()), nullptr);
  ASSERT_TRUE(snapshot->ended());
  EXPECT_EQ(snapshot->ended()->code, kSnapshotUnavailable);
  EXPECT_EQ(store_->counts().open, 0);
}

TEST_F(SnapshotStoreTest, HasATimeOfItsOwn) {
  const auto first = take();
  const auto second = take();
  EXPECT_LT(first->time(), second->time());
  EXPECT_EQ(store_->find(first->time()), first);
  EXPECT_EQ(store_->find(second->time()), second);
  EXPECT_EQ(store_->find(second->time() + 1), nullptr);
}

TEST_F(SnapshotStoreTest, TheOldestGoesWhenThereAreTooMany) {
  const auto first = take();
  for (size_t i = 0; i < SnapshotStore::kSnapshotsMax; ++i) take();
  EXPECT_TRUE(first->ended());
  EXPECT_EQ(store_->find(first->time()), nullptr);
  EXPECT_EQ(store_->counts().open, SnapshotStore::kSnapshotsMax);
  EXPECT_EQ(store_->counts().evicted, 1);
}

}  // namespace
}  // namespace orrery::mongo
