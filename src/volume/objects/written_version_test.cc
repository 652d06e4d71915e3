// Who may use a volume while the version that is written in it is raised. That no order of these
// steps lets an older program in is what the simulation of nodes shows.
#include "volume/objects/written_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "volume/objects/directory_store.h"
#include "volume/objects/object_volume.h"

namespace orrery::volume {
namespace {

constexpr SpokenVersions kOld{.oldest = 1, .newest = 1};
constexpr SpokenVersions kNew{.oldest = 1, .newest = 2};

class WrittenVersionTest : public testing::Test {
 protected:
  WrittenVersionTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    store_ = open_directory_store(folder_).value();
  }
  ~WrittenVersionTest() override { std::filesystem::remove_all(folder_); }

  Result<std::shared_ptr<Lease>> start(SpokenVersions versions) {
    return take_lease(*store_, {.versions = versions, .lease_renews_itself = false});
  }
  uint32_t written() { return read_written_version(*store_).value().written; }

  std::string folder_;
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(WrittenVersionTest, IsReadAsItWasWritten) {
  const WrittenVersion version{.written = 3, .announced = 4, .turn = 17};
  EXPECT_EQ(decode_written_version(encode(version)), version);
  for (const char* text :
       {"", "1", "1 0", "0 0 1", "1 0 1 ", " 1 0 1", "1 0 x", "-1 0 0", "1  0"}) {
    EXPECT_FALSE(decode_written_version(text)) << text;
  }
  EXPECT_EQ(read_written_version(*store_).value(), WrittenVersion());
}

TEST_F(WrittenVersionTest, IsRaisedWhenTheLastOldProgramHasGone) {
  auto one = start(kNew).value();
  auto other = start(kOld).value();
  EXPECT_EQ(raise_written_version(*store_, 2), 1U);
  other.reset();
  EXPECT_EQ(raise_written_version(*store_, 2), 2U);
  EXPECT_EQ(written(), 2U);
  EXPECT_EQ(raise_written_version(*store_, 2), 2U);
  EXPECT_EQ(raise_written_version(*store_, 1), 2U) << "it is never lowered";
}

TEST_F(WrittenVersionTest, AnOldProgramStaysOutAndLeavesNoLease) {
  auto one = start(kNew).value();
  ASSERT_EQ(raise_written_version(*store_, 2), 2U);
  const auto refused = start(kOld);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("version 2"));
  EXPECT_THAT(list_leases(*store_).value(), testing::ElementsAre(one->incarnation()));
  const auto too_new = start({.oldest = 3, .newest = 4});
  ASSERT_FALSE(too_new);
  EXPECT_THAT(too_new.error().message, testing::HasSubstr("release in between"));
}

TEST_F(WrittenVersionTest, AnAnnouncementThatWasLeftBehindKeepsNobodyOut) {
  ASSERT_TRUE(
      store_
          ->apply(kVersionObject,
                  {.set_attributes = {{"state", encode(WrittenVersion{
                                                    .written = 1, .announced = 2, .turn = 5})}}})
          .is_done());
  auto old = start(kOld);
  ASSERT_TRUE(old);
  EXPECT_EQ(read_written_version(*store_).value(), (WrittenVersion{.written = 1, .turn = 6}));
  old->reset();
  EXPECT_EQ(raise_written_version(*store_, 2), 2U);
}

TEST_F(WrittenVersionTest, WhatIsNoVersionIsSaid) {
  ASSERT_TRUE(store_->apply(kVersionObject, {.set_attributes = {{"state", "two"}}}).is_done());
  EXPECT_EQ(start(kNew).error().code, Code::corrupt);
}

}  // namespace
}  // namespace orrery::volume
