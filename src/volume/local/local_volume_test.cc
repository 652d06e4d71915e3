// The local volume against the contract of all volumes, and what is particular to it.
#include "volume/local/local_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/fault.h"
#include "volume/volume_contract.h"

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;

class LocalPlace final : public VolumePlace {
 public:
  LocalPlace() {
    std::string pattern = (fs::temp_directory_path() / "orrery-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~LocalPlace() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  std::unique_ptr<Volume> open() override { return open_local_volume(root_).value(); }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(Local, VolumeContract, testing::Values(VolumeFactory([] {
                           return std::make_unique<LocalPlace>();
                         })));

TEST(LocalVolume, LinksAreTheSameFile) {
  LocalPlace place;
  auto volume = place.open();
  auto owner = volume->claim("p").value();
  fs::create_directory(owner->directory());
  std::ofstream(owner->directory() + "/table") << "bytes";
  const std::string target = owner->clone_target("q").value();
  fs::create_directory(target);
  ASSERT_TRUE(owner->file_system()
                  ->LinkFile(owner->directory() + "/table", target + "/table", {}, nullptr)
                  .ok());
  struct stat from = {};
  struct stat to = {};
  ASSERT_EQ(::stat((owner->directory() + "/table").c_str(), &from), 0);
  ASSERT_EQ(::stat((target + "/table").c_str(), &to), 0);
  EXPECT_EQ(from.st_ino, to.st_ino);
}

TEST(LocalVolume, ADamagedEpochIsNotTakenForANewPlace) {
  LocalPlace place;
  auto volume = place.open();
  volume->claim("p").value().reset();
  std::ofstream(place.root() + "/partitions/p/EPOCH", std::ios::trunc) << "abc";
  EXPECT_EQ(volume->claim("p").error().code, Code::corrupt);
  std::ofstream(place.root() + "/partitions/p/EPOCH", std::ios::trunc) << std::string(8, '\xFF');
  EXPECT_EQ(volume->claim("p").error().code, Code::corrupt);
}

TEST(LocalVolume, OpeningDeletesNothing) {
  LocalPlace place;
  auto volume = place.open();
  fs::create_directories(volume->claim("p").value()->directory());
  std::ofstream(place.root() + "/partitions/p/db/CURRENT") << "x";
  ASSERT_TRUE(volume->remove("p", 1'700'000'000));
  volume = place.open();
  EXPECT_FALSE(volume->exists("p"));
  ASSERT_FALSE(fs::is_empty(place.root() + "/removed"));
  const fs::path grave = fs::directory_iterator(place.root() + "/removed")->path();
  EXPECT_TRUE(grave.filename().string().starts_with("p.1700000000."));
  EXPECT_TRUE(fs::exists(grave / "db/CURRENT"));
  // To get it back, an operator moves the folder.
  fs::rename(grave, place.root() + "/partitions/p");
  EXPECT_TRUE(volume->exists("p"));
  EXPECT_TRUE(volume->claim("p"));
}

TEST(LocalVolume, WhatOthersPutAmongTheRemovedIsNotDeleted) {
  LocalPlace place;
  auto volume = place.open();
  for (const char* name : {"notes", "p.x.1.1", "p.1", "p."}) {
    fs::create_directories(place.root() + "/removed/" + name);
  }
  EXPECT_FALSE(volume->delete_removed(INT64_MAX).value());
  EXPECT_TRUE(fs::exists(place.root() + "/removed/notes"));
}

TEST(LocalVolume, WithoutDescriptorsAClaimSaysSoAndCanBeTriedAgain) {
  LocalPlace place;
  auto volume = place.open();
  fault::arm("volume.claim", fault::Action::error);
  const auto claimed = volume->claim("p");
  EXPECT_EQ(fault::passes("volume.claim"), 1U);
  fault::disarm_all();
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, Code::overloaded);
  EXPECT_THAT(claimed.error().message, testing::HasSubstr("Too many open files"));
  EXPECT_TRUE(volume->claim("p"));
}

TEST(LocalVolume, StrayFilesAreNotListed) {
  LocalPlace place;
  auto volume = place.open();
  std::ofstream(place.root() + "/partitions/lost+found") << "x";
  EXPECT_TRUE(volume->list()->empty());
}

class LostFilesTest : public testing::TestWithParam<const char*> {
 protected:
  // An owner that syncs 100 bytes, notes that, and appends 50 more without.
  void SetUp() override {
    auto owner = volume_->claim("p").value();
    std::unique_ptr<rocksdb::FSWritableFile> file;
    ASSERT_TRUE(owner->file_system()->NewWritableFile(path_, {}, &file, nullptr).ok());
    ASSERT_TRUE(file->Append(std::string(100, 'x'), {}, nullptr).ok());
    ASSERT_TRUE(file->Sync({}, nullptr).ok());
    ASSERT_TRUE(owner->note_lsn(7, Claim::NoteIs::quick));
    ASSERT_TRUE(file->Append(std::string(50, 'y'), {}, nullptr).ok());
    epoch_ = owner->epoch();
  }
  void expect_lost(std::string_view what) {
    for (int i = 0; i < 2; ++i) {
      auto refused = i == 0 ? volume_->claim("p") : volume_->take_over("p");
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, Code::corrupt);
      EXPECT_THAT(refused.error().message, testing::HasSubstr(place_.root() + "/partitions/p/db"));
      EXPECT_THAT(refused.error().message, testing::HasSubstr(GetParam()));
      EXPECT_THAT(refused.error().message, testing::HasSubstr("had 100 bytes"));
      EXPECT_THAT(refused.error().message, testing::HasSubstr(what));
    }
  }

  LocalPlace place_;
  std::unique_ptr<Volume> volume_ = place_.open();
  const std::string path_ = place_.root() + "/partitions/p/db/" + GetParam();
  uint64_t epoch_ = 0;
};

TEST_P(LostFilesTest, AFileThatIsGoneIsMissed) {
  fs::rename(path_, place_.root() + "/elsewhere");
  expect_lost("is missing");
  fs::rename(place_.root() + "/elsewhere", path_);
  EXPECT_TRUE(volume_->claim("p"));
}

TEST_P(LostFilesTest, AFileThatIsShorterIsMissed) {
  fs::resize_file(path_, 99);
  expect_lost("has 99");
}

TEST_P(LostFilesTest, BytesThatWereNotSyncedAreNotMissed) {
  fs::resize_file(path_, 100);
  EXPECT_EQ(volume_->claim("p").value()->epoch(), epoch_ + 1);
}

TEST_P(LostFilesTest, AClaimThatFindsALossChangesNothing) {
  fs::resize_file(path_, 10);
  EXPECT_EQ(volume_->claim("p").error().code, Code::corrupt);
  fs::resize_file(path_, 150);
  EXPECT_EQ(volume_->claim("p").value()->epoch(), epoch_ + 1);
}

INSTANTIATE_TEST_SUITE_P(Each, LostFilesTest, testing::Values("000012.log", "MANIFEST-1234567"),
                         [](const auto& each) {
                           return std::string(each.param).starts_with("M") ? "manifest" : "log";
                         });

TEST(LocalVolume, APlaceThatCannotBeMadeIsAnError) {
  LocalPlace place;
  std::ofstream(place.root() + "/file") << "x";
  auto opened = open_local_volume(place.root() + "/file");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::invalid);
}

}  // namespace
}  // namespace orrery::volume
