// The watch over files of the local disk, whose syncs the test lets fail.
#include "partition/log_watch.h"

#include "partition/faulty_volume.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

class LogWatchTest : public testing::Test {
 protected:
  std::unique_ptr<rocksdb::FSWritableFile> make(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(watch_.file_system()->NewWritableFile(path(name), {}, &file, nullptr).ok());
    return file;
  }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  uint64_t size(const std::string& name) const { return std::filesystem::file_size(path(name)); }

  TemporaryDirectory directory_;
  std::shared_ptr<DiskFault> disk_ = std::make_shared<DiskFault>();
  LogWatch watch_{std::make_shared<FaultyFileSystem>(rocksdb::FileSystem::Default(), disk_),
                  directory_.path()};
};

TEST_F(LogWatchTest, CutsOffWhatWasNotAcknowledged) {
  EXPECT_TRUE(watch_.cut_back().ok()) << "there is nothing to cut";
  auto first = make("000003.log");
  auto table = make("000004.sst");
  ASSERT_TRUE(first->Append("0123456789", {}, nullptr).ok());
  ASSERT_TRUE(table->Append("0123456789", {}, nullptr).ok());
  watch_.acknowledge();
  ASSERT_TRUE(first->Append("lost", {}, nullptr).ok());
  auto second = make("000005.log");
  ASSERT_TRUE(second->Append("lost too", {}, nullptr).ok());
  ASSERT_TRUE(watch_.cut_back().ok());
  EXPECT_EQ(size("000003.log"), 10U);
  EXPECT_EQ(size("000004.sst"), 10U);
  EXPECT_EQ(size("000005.log"), 0U);
}

TEST_F(LogWatchTest, LogsBeforeTheAcknowledgedOneStay) {
  auto first = make("000003.log");
  ASSERT_TRUE(first->Append("0123456789", {}, nullptr).ok());
  auto second = make("000010.log");
  ASSERT_TRUE(second->Append("01234", {}, nullptr).ok());
  watch_.acknowledge();
  ASSERT_TRUE(watch_.cut_back().ok());
  EXPECT_EQ(size("000003.log"), 10U);
  EXPECT_EQ(size("000010.log"), 5U);
}

TEST_F(LogWatchTest, ASyncOfTheNewestLogFailsAsItDoes) {
  auto log = make("000003.log");
  disk_->sync = DiskFault::Error::io;
  EXPECT_FALSE(log->Sync({}, nullptr).ok());
  disk_->sync = DiskFault::Error::none;
  EXPECT_TRUE(log->Sync({}, nullptr).ok());
}

// RocksDB would end the process if it heard of it, and synced the log again.
TEST_F(LogWatchTest, ASyncOfAnEarlierLogThatFailsIsToldToAllThatFollow) {
  auto earlier = make("000003.log");
  auto newest = make("000004.log");
  auto table = make("000005.sst");
  disk_->sync = DiskFault::Error::io;
  EXPECT_TRUE(earlier->Sync({}, nullptr).ok());
  disk_->sync = DiskFault::Error::none;
  EXPECT_TRUE(earlier->Sync({}, nullptr).ok());
  EXPECT_FALSE(newest->Append("bytes", {}, nullptr).ok());
  EXPECT_FALSE(newest->Sync({}, nullptr).ok());
  EXPECT_FALSE(table->Append("bytes", {}, nullptr).ok());
  EXPECT_FALSE(table->Fsync({}, nullptr).ok());
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::FileSystem& files = *watch_.file_system();
  EXPECT_FALSE(files.NewWritableFile(path("MANIFEST-6"), {}, &file, nullptr).ok());
  EXPECT_FALSE(files.RenameFile(path("000005.sst"), path("x"), {}, nullptr).ok());
  EXPECT_FALSE(files.LinkFile(path("000005.sst"), path("x"), {}, nullptr).ok());
  ASSERT_TRUE(watch_.cut_back().ok());
  EXPECT_TRUE(newest->Append("bytes", {}, nullptr).ok());
}

}  // namespace
}  // namespace orrery::partition
