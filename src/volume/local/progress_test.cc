// What is kept of a partition's progress, and what a damaged note is worth.
#include "volume/local/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;
using Kind = TrackedFile::Kind;

class ProgressTest : public testing::Test {
 protected:
  ProgressTest() {
    std::string pattern = (fs::temp_directory_path() / "orrery-XXXXXX").string();
    place_ = ::mkdtemp(pattern.data());
  }
  ~ProgressTest() override { fs::remove_all(place_); }

  Progress take() {
    fence_.reset();
    Noted noted;
    fence_ = Fence::take(place_, LivingOwner::is_left_alone, [&](std::string_view notes) -> Status {
               noted = read_noted(notes);
               return {};
             }).value();
    return {fence_, noted};
  }
  Noted noted() {
    std::ifstream in(place_ + "/EPOCH", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    return read_noted(bytes.size() < 1024 ? "" : bytes.substr(1024));
  }
  void damage(size_t at) {
    std::fstream file(place_ + "/EPOCH", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('\x5A');
  }

  std::string place_;
  std::shared_ptr<Fence> fence_;
};

TEST_F(ProgressTest, KnowsItsFilesByName) {
  EXPECT_EQ(tracked_file("/a/db", "/a/db/000012.log"), (TrackedFile{Kind::log, 12}));
  EXPECT_EQ(tracked_file("/a/db", "/a/db//1234567.log"), (TrackedFile{Kind::log, 1234567}));
  EXPECT_EQ(tracked_file("/a/db", "/a/db/MANIFEST-000003"), (TrackedFile{Kind::manifest, 3}));
  for (const char* other : {"/a/db/000012.sst", "/a/db/CURRENT", "/a/db/x.log", "/a/db/.log",
                            "/a/db/MANIFEST-", "/b/db/000012.log", "/a/db/sub/000012.log",
                            "/a/db.tmp/000012.log", "/a/db/000012.log.1", ""}) {
    EXPECT_FALSE(tracked_file("/a/db", other)) << other;
  }
}

TEST_F(ProgressTest, ANoteTakesAllThatWasSyncedBefore) {
  Progress progress = take();
  progress.synced({Kind::log, 4}, 100);
  progress.synced({Kind::log, 4}, 90);
  EXPECT_EQ(noted().sequence, 0U);
  ASSERT_TRUE(progress.note(5, false));
  progress.synced({Kind::log, 4}, 300);
  progress.synced({Kind::log, 6}, 0);
  const Noted found = noted();
  EXPECT_EQ(found.lsn, 5U);
  EXPECT_THAT(found.files, testing::ElementsAre(std::pair(TrackedFile{Kind::log, 4}, 100U)));
}

TEST_F(ProgressTest, AFileGoesFromTheNoteBeforeItGoes) {
  Progress progress = take();
  progress.synced({Kind::log, 4}, 100);
  progress.synced({Kind::manifest, 3}, 50);
  ASSERT_TRUE(progress.note(5, false));
  progress.synced({Kind::manifest, 3}, 70);
  progress.synced({Kind::log, 8}, 10);
  ASSERT_TRUE(progress.shrink({Kind::log, 4}, 0));
  // The manifest's new size says where the log's commits are now; the new log's name may not be
  // durable yet.
  EXPECT_THAT(noted().files, testing::ElementsAre(std::pair(TrackedFile{Kind::manifest, 3}, 70U)));
  ASSERT_TRUE(progress.note(6, false));
  EXPECT_EQ(noted().files.size(), 2U);
}

TEST_F(ProgressTest, ADamagedNoteLeavesTheOneBefore) {
  {
    Progress progress = take();
    for (uint64_t lsn : {1, 2, 3}) ASSERT_TRUE(progress.note(lsn, true));
  }
  const size_t newest = 1024 + noted().sequence % 2 * 1024;
  damage(newest + 40);
  EXPECT_EQ(noted().lsn, 2U);
  damage(1024 + 1024 - (newest - 1024) + 16);
  EXPECT_EQ(noted().sequence, 0U) << "as if there were none";
  EXPECT_EQ(take().lsn(), 0U);
}

TEST_F(ProgressTest, OfTooManyFilesTheNewestAreKept) {
  Progress progress = take();
  for (uint64_t number = 1; number <= 1'000; ++number) progress.synced({Kind::log, number}, number);
  progress.synced({Kind::manifest, 7}, 7);
  ASSERT_TRUE(progress.note(5, false));
  const Noted found = noted();
  EXPECT_EQ(found.lsn, 5U);
  EXPECT_GT(found.files.size(), 50U);
  EXPECT_TRUE(found.files.contains({Kind::manifest, 7}));
  EXPECT_TRUE(found.files.contains({Kind::log, 1'000}));
  EXPECT_FALSE(found.files.contains({Kind::log, 1}));
}

}  // namespace
}  // namespace orrery::volume
