// The guard over a disk whose room the test sets.
#include "partition/compaction_guard.h"

#include "partition/faulty_volume.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

class CompactionGuardTest : public testing::Test {
 protected:
  // What an append to a new table says, or to another file.
  bool append(rocksdb::Env::IOPriority priority, std::string_view name = "1.sst") {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const std::string path = directory_.path() + "/" + std::string(name);
    EXPECT_TRUE(guard_.file_system()->NewWritableFile(path, {}, &file, nullptr).ok());
    file->SetIOPriority(priority);
    const rocksdb::IOStatus appended = file->Append("bytes", {}, nullptr);
    EXPECT_TRUE(appended.ok() || appended.subcode() == rocksdb::IOStatus::kNoSpace);
    return appended.ok();
  }
  bool compacts() { return append(rocksdb::Env::IO_LOW); }

  TemporaryDirectory directory_;
  ManualClock clock_;
  std::shared_ptr<DiskFault> disk_ = std::make_shared<DiskFault>();
  FaultyVolume volume_{volume::open_local_volume(directory_.path()).value(), disk_};
  CompactionGuard guard_{rocksdb::FileSystem::Default(), volume_, clock_};
};

TEST_F(CompactionGuardTest, StopsCompactionsAndNothingElse) {
  EXPECT_TRUE(compacts());
  disk_->low = true;
  EXPECT_TRUE(compacts()) << "they may use some of the reserve";
  disk_->low_for_compaction = true;
  EXPECT_FALSE(compacts());
  EXPECT_TRUE(append(rocksdb::Env::IO_HIGH)) << "a flush";
  EXPECT_TRUE(append(rocksdb::Env::IO_LOW, "1.log"));
}

TEST_F(CompactionGuardTest, WaitsLongerEachTimeUnlessItemsWereRemoved) {
  for (int64_t wait_ms = 1'000; wait_ms <= 32'000; wait_ms *= 2) {
    disk_->low_for_compaction = true;
    EXPECT_FALSE(compacts());
    disk_->low_for_compaction = false;
    clock_.advance_ms(wait_ms - 1);
    EXPECT_FALSE(compacts()) << wait_ms;
    clock_.advance_ms(1);
    EXPECT_TRUE(compacts()) << wait_ms;
  }
  disk_->low_for_compaction = true;
  EXPECT_FALSE(compacts());
  disk_->low_for_compaction = false;
  guard_.try_again();
  EXPECT_TRUE(compacts());
}

}  // namespace
}  // namespace orrery::partition
