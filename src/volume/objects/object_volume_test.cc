// The object volume, over a shared directory, against the contract of all volumes, and what is
// particular to it.
#include "volume/objects/object_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <future>

#include "volume/objects/block_cache.h"
#include "volume/objects/directory_store.h"
#include "volume/objects/file_entry.h"
#include "volume/objects/forwarding_store.h"
#include "volume/volume_contract.h"

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;

constexpr LeaseTimes kShortLease{
    .lease_us = 200'000, .revoke_wait_us = 210'000, .renew_every_us = 20'000};

class DirectoryPlace final : public VolumePlace {
 public:
  DirectoryPlace() {
    std::string pattern = (fs::temp_directory_path() / "orrery-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~DirectoryPlace() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  const std::string& root() const { return root_; }
  std::shared_ptr<ObjectStore> store() { return open_directory_store(root_).value(); }
  std::unique_ptr<Volume> open() override {
    return open_object_volume(store(),
                              {.node_name = std::to_string(::getpid()), .lease_times = kShortLease})
        .value();
  }
  // Only of processes that are gone: on a busy machine others may look as if they were.
  void bury_the_dead() override {
    auto objects = store();
    for (const std::string& name : objects->list("lease.").value()) {
      const std::string incarnation = name.substr(6);
      const auto row = read_lease(*objects, incarnation).value();
      if (row && ::kill(std::stoi(row->name), 0) != 0) {
        EXPECT_TRUE(end_lease(*objects, incarnation, kShortLease).value());
      }
    }
  }

 private:
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(Objects, VolumeContract, testing::Values(VolumeFactory([] {
                           return std::make_unique<DirectoryPlace>();
                         })));

using File = std::unique_ptr<rocksdb::FSWritableFile>;

// Counts the bytes that are read.
class CountingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<size_t> read(const std::string& object, uint64_t offset, std::span<char> into) override {
    bytes_read += into.size();
    return ForwardingStore::read(object, offset, into);
  }

  std::atomic<uint64_t> bytes_read = 0;
};

TEST(ObjectVolume, WhatWasReadOfATableIsKeptLocallyOverRestarts) {
  DirectoryPlace place;
  auto store = std::make_shared<CountingStore>(place.store());
  const std::string cache_file = place.root() + "/cache";
  std::string bytes;
  for (size_t i = 0; bytes.size() < kStripeBytes + 300'000; ++i) bytes += std::to_string(i) + ",";
  const auto open = [&] {
    return open_object_volume(store, {.lease_times = kShortLease,
                                      .cache_file = cache_file,
                                      .cache_bytes = 64 * BlockCache::kPieceBytes})
        .value();
  };
  const auto read_at = [&](Claim& owner, uint64_t offset) {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    EXPECT_TRUE(owner.file_system()
                    ->NewRandomAccessFile(owner.directory() + "/1.sst", {}, &file, nullptr)
                    .ok());
    std::string scratch(10'000, '\0');
    rocksdb::Slice got;
    EXPECT_TRUE(file->Read(offset, scratch.size(), {}, &got, scratch.data(), nullptr).ok());
    EXPECT_EQ(got.ToString(), bytes.substr(offset, scratch.size())) << offset;
  };
  // Within a piece, over the end of one, over the end of a stripe, and at the end of the file.
  const std::vector<uint64_t> offsets = {0, 60'000, kStripeBytes - 3'000, bytes.size() - 5'000};
  {
    auto volume = open();
    auto owner = volume->claim("p").value();
    std::unique_ptr<rocksdb::FSWritableFile> file;
    ASSERT_TRUE(owner->file_system()
                    ->NewWritableFile(owner->directory() + "/1.sst", {}, &file, nullptr)
                    .ok());
    ASSERT_TRUE(file->Append(bytes, {}, nullptr).ok());
    ASSERT_TRUE(file->Close({}, nullptr).ok());
    for (uint64_t offset : offsets) read_at(*owner, offset);
    EXPECT_GT(store->bytes_read, 0U);
  }
  store->bytes_read = 0;
  auto volume = open();
  auto owner = volume->claim("p").value();
  for (uint64_t offset : offsets) read_at(*owner, offset);
  EXPECT_EQ(store->bytes_read, 0U);
}

// A store that is nearly full, or gives no answer to changes of files and roots.
class TroubledStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Outcome apply(const std::string& object, const ObjectChange& change) override {
    Outcome outcome = ForwardingStore::apply(object, change);
    // It was applied all the same: nobody can tell.
    if (is_silent && !object.starts_with("lease.")) outcome.applied = Applied::unknown;
    return outcome;
  }
  Result<double> free_share() override { return free; }

  std::atomic<bool> is_silent = false;
  std::atomic<double> free = 1;
};

TEST(ObjectVolume, GrowsNoMoreWhenTheStoreIsNearlyFull) {
  DirectoryPlace place;
  auto store = std::make_shared<TroubledStore>(place.store());
  store->free = 0.03;
  auto volume = open_object_volume(store, {.lease_times = kShortLease}).value();
  auto refused = volume->room(Need::growth);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::read_only);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("3.0 %"));
  EXPECT_TRUE(volume->room(Need::compaction)) << "they give back more than they take";
}

// A store that tells its space once, and then not before it is let.
class ThoughtfulStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<double> free_share() override {
    if (++looks > 1) may_tell.get_future().wait();
    return 1.0;
  }
  std::atomic<int> looks = 0;
  std::promise<void> may_tell;
};

TEST(ObjectVolume, WritesDoNotWaitForAStoreThatDoesNotTellItsSpace) {
  DirectoryPlace place;
  auto store = std::make_shared<ThoughtfulStore>(place.store());
  std::atomic<int64_t> now_us = 0;
  auto volume = open_object_volume(store, {.clock = [&] { return now_us.load(); }}).value();
  EXPECT_TRUE(volume->room(Need::growth));
  now_us += 2'000'000;
  auto asked = std::async(std::launch::async, [&] { return volume->room(Need::growth); });
  // So long only if it waits for the store.
  const bool was_told = asked.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  EXPECT_TRUE(was_told);
  for (int i = 0; i < 10; ++i) {
    now_us += 2'000'000;
    if (was_told) EXPECT_TRUE(volume->room(Need::growth));
  }
  store->may_tell.set_value();
  EXPECT_TRUE(asked.get());
}

TEST(ObjectVolume, AClaimInDoubtChangesNothingUntilItIsClaimedAgain) {
  DirectoryPlace place;
  auto store = std::make_shared<TroubledStore>(place.store());
  auto volume = open_object_volume(store, {.lease_times = kShortLease}).value();
  auto owner = volume->claim("p").value();
  const std::string path = owner->directory() + "/000001.log";
  File log;
  ASSERT_TRUE(owner->file_system()->NewWritableFile(path, {}, &log, nullptr).ok());
  ASSERT_TRUE(log->Append("told ", {}, nullptr).ok());
  ASSERT_TRUE(log->Sync({}, nullptr).ok());
  store->is_silent = true;
  ASSERT_TRUE(log->Append("untold", {}, nullptr).ok());
  EXPECT_FALSE(log->Sync({}, nullptr).ok());
  store->is_silent = false;
  EXPECT_FALSE(log->Append("more", {}, nullptr).ok());
  EXPECT_FALSE(owner->file_system()->DeleteFile(path, {}, nullptr).ok());
  log.reset();
  owner.reset();

  auto again = volume->claim("p");
  ASSERT_TRUE(again) << again.error().message;
  std::string bytes;
  ASSERT_TRUE(rocksdb::ReadFileToString((*again)->file_system().get(), path, &bytes).ok());
  EXPECT_EQ(bytes, "told untold") << "what the log has is committed, whoever was told";
}

// A store in which something happens right after an epoch was raised.
class SlowStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Outcome apply(const std::string& object, const ObjectChange& change) override {
    const Outcome outcome = ForwardingStore::apply(object, change);
    if (object.starts_with("root.") && outcome.is_done()) {
      if (auto happens = std::exchange(after_raise, nullptr)) happens();
    }
    return outcome;
  }

  std::function<void()> after_raise;
};

// A machine that hung in the middle of a claim goes on when another has the partition.
TEST(ObjectVolume, ALateClaimSealsNoLogOfTheNextOwner) {
  DirectoryPlace place;
  auto store = std::make_shared<SlowStore>(place.store());
  auto late = open_object_volume(store, {}).value();
  auto heirs = open_object_volume(place.store(), {}).value();
  {
    auto made = late->claim("p").value();
  }
  std::unique_ptr<Claim> heir;
  File log;
  store->after_raise = [&] {
    heir = heirs->take_over("p").value();
    ASSERT_TRUE(heir->file_system()
                    ->NewWritableFile(heir->directory() + "/000001.log", {}, &log, nullptr)
                    .ok());
  };
  EXPECT_EQ(late->claim("p").error().code, Code::moved);
  ASSERT_TRUE(log->Append("acknowledged", {}, nullptr).ok());
  EXPECT_TRUE(log->Sync({}, nullptr).ok());
}

// The same of one that takes over: it was deposed before it had begun, and tries no second time,
// which would depose the heir.
TEST(ObjectVolume, ALateTakeOverLeavesTheNextOwnerAlone) {
  DirectoryPlace place;
  auto store = std::make_shared<SlowStore>(place.store());
  auto late = open_object_volume(store, {}).value();
  auto heirs = open_object_volume(place.store(), {}).value();
  {
    auto made = late->claim("p").value();
  }
  std::unique_ptr<Claim> heir;
  store->after_raise = [&] { heir = heirs->take_over("p").value(); };
  auto deposed = late->take_over("p").value();
  EXPECT_LT(deposed->epoch(), heir->epoch());
  const auto may_write = [](Claim& claim) {
    return claim.file_system()->CreateDirIfMissing(claim.directory(), {}, nullptr).ok();
  };
  EXPECT_FALSE(may_write(*deposed));
  EXPECT_TRUE(may_write(*heir));
}

TEST(ObjectVolume, TellsWhenItsLeaseWasEnded) {
  DirectoryPlace place;
  auto store = place.store();
  std::promise<void> told;
  auto volume = open_object_volume(
                    store, {.lease_times = kShortLease, .on_lease_lost = [&] { told.set_value(); }})
                    .value();
  auto owner = volume->claim("p").value();
  const std::string incarnation = store->list("lease.")->front().substr(6);
  ASSERT_TRUE(bury(*store, incarnation));
  told.get_future().wait();
  EXPECT_EQ(volume->claim("q").error().code, Code::moved);

  auto heir = open_object_volume(store, {.lease_times = kShortLease}).value();
  EXPECT_TRUE(heir->claim("p"));
  File file;
  EXPECT_TRUE(owner->file_system()
                  ->NewWritableFile(owner->directory() + "/x", {}, &file, nullptr)
                  .IsIOFenced());
}

TEST(ObjectVolume, SweepsNowAndThen) {
  DirectoryPlace place;
  auto store = place.store();
  {
    auto lease = Lease::take(*store, {.node_name = "gone"});
  }
  ASSERT_EQ(store->list("lease.")->size(), 1U);
  auto volume = open_object_volume(store, {.sweep_every_s = 1}).value();
  while (store->list("lease.")->size() > 1) std::this_thread::yield();
}

}  // namespace
}  // namespace orrery::volume
