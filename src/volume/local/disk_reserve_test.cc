// The reserve over a disk that the test fills and frees.
#include "volume/local/disk_reserve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kReserve = 4ULL << 20;
constexpr uint64_t kBallast = 2ULL << 20;
constexpr uint64_t kPiece = kBallast / 4;

class DiskReserveTest : public testing::Test {
 protected:
  DiskReserveTest() {
    std::string pattern = (fs::temp_directory_path() / "orrery-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    ballast_ = root_ + "/BALLAST";
  }
  ~DiskReserveTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  DiskReserve reserve(uint64_t bytes = kReserve) {
    return DiskReserve(ballast_, bytes, [this] { return free_bytes_; }, /*look_every_us=*/0);
  }

  std::string root_;
  std::string ballast_;
  std::optional<uint64_t> free_bytes_ = 100ULL << 20;
};

TEST_F(DiskReserveTest, RefusesGrowthBelowTheReserveAndGoesOnAbove) {
  DiskReserve disk = reserve();
  EXPECT_TRUE(disk.room());
  free_bytes_ = kReserve;
  EXPECT_TRUE(disk.room());
  free_bytes_ = kReserve - 1;
  const Status refused = disk.room();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::read_only);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(kReserve - 1) + " bytes are free"));
  EXPECT_THAT(refused.error().message, HasSubstr("disk-reserve-bytes"));
  EXPECT_TRUE(fs::exists(ballast_)) << "it is for worse";
  free_bytes_ = kReserve;
  EXPECT_TRUE(disk.room());
}

TEST_F(DiskReserveTest, GivesTheBallastBackPieceByPieceWhenOthersFillTheDisk) {
  DiskReserve disk = reserve();
  for (uint64_t left = kBallast; left > 0; left -= kPiece) {
    EXPECT_EQ(fs::file_size(ballast_), left);
    free_bytes_ = kPiece;
    EXPECT_FALSE(disk.room());
    EXPECT_EQ(fs::file_size(ballast_), left) << "there is something left";
    free_bytes_ = 0;
    EXPECT_FALSE(disk.room());
  }
  EXPECT_FALSE(fs::exists(ballast_));
  EXPECT_FALSE(disk.room());
  // The ballast comes before anything else that grows.
  free_bytes_ = kReserve + kBallast - 1;
  EXPECT_FALSE(disk.room());
  EXPECT_FALSE(fs::exists(ballast_));
  free_bytes_ = kReserve + kBallast;
  EXPECT_TRUE(disk.room());
  EXPECT_EQ(fs::file_size(ballast_), kBallast);
}

TEST_F(DiskReserveTest, AStartOnAFullDiskGivesAPieceBackAtOnce) {
  reserve();
  EXPECT_EQ(fs::file_size(ballast_), kBallast);
  free_bytes_ = 0;
  DiskReserve disk = reserve();
  EXPECT_EQ(fs::file_size(ballast_), kBallast - kPiece);
  EXPECT_FALSE(disk.room());
}

TEST_F(DiskReserveTest, ABallastOfAnotherReserveIsMadeAgain) {
  for (const uint64_t other : {kReserve * 2, kReserve / 2}) {
    reserve(other);
    EXPECT_EQ(fs::file_size(ballast_), other / 2);
  }
  DiskReserve disk = reserve();
  EXPECT_EQ(fs::file_size(ballast_), kBallast);
}

TEST_F(DiskReserveTest, WithoutAReserveThereIsNoBallast) {
  reserve();
  free_bytes_ = 0;
  DiskReserve disk = reserve(0);
  EXPECT_TRUE(disk.room());
  EXPECT_FALSE(fs::exists(ballast_));
}

TEST_F(DiskReserveTest, ADiskThatCannotBeMeasuredIsLeftAlone) {
  DiskReserve disk = reserve();
  free_bytes_ = std::nullopt;
  EXPECT_TRUE(disk.room());
}

TEST_F(DiskReserveTest, MeasuresARealDisk) {
  EXPECT_GT(DiskReserve::free_bytes_of(root_)(), 0U);
  EXPECT_EQ(DiskReserve::free_bytes_of(root_ + "/missing")(), std::nullopt);
}

}  // namespace
}  // namespace orrery::volume
