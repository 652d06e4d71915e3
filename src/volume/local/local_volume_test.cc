// The local volume against the contract of all volumes, and what is particular to it.
#include "volume/local/local_volume.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

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
  const std::string target = volume->clone_target("q").value();
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
}

TEST(LocalVolume, WhatACrashLeftOfARemovalIsDeleted) {
  LocalPlace place;
  auto volume = place.open();
  const std::string left = place.root() + "/removed/p.1.0";
  fs::create_directories(left + "/db");
  std::ofstream(left + "/db/CURRENT") << "x";
  EXPECT_FALSE(volume->exists("p"));
  volume = place.open();
  EXPECT_FALSE(fs::exists(left));
}

TEST(LocalVolume, StrayFilesAreNotListed) {
  LocalPlace place;
  auto volume = place.open();
  std::ofstream(place.root() + "/partitions/lost+found") << "x";
  EXPECT_TRUE(volume->list()->empty());
}

TEST(LocalVolume, APlaceThatCannotBeMadeIsAnError) {
  LocalPlace place;
  std::ofstream(place.root() + "/file") << "x";
  auto opened = open_local_volume(place.root() + "/file");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::invalid);
}

}  // namespace
}  // namespace orrery::volume
