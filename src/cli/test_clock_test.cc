// A clock that a test moves by writing into a file.
#include "cli/test_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace orrery::cli {
namespace {

class TestClockTest : public testing::Test {
 protected:
  ~TestClockTest() override { std::filesystem::remove(path_); }
  // As a test does it: in place.
  void write(int64_t offset_s, int64_t stopped_us) {
    const std::array<int64_t, 2> settings{offset_s, stopped_us};
    std::ofstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    if (!file) file.open(path_, std::ios::binary | std::ios::out);
    file.write(reinterpret_cast<const char*>(settings.data()), sizeof settings);
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("orrery-clock-" + std::to_string(::getpid())))
          .string();
};

TEST_F(TestClockTest, IsMovedByWhatIsWrittenIntoItsFile) {
  write(0, 0);
  auto clock = TestClock::open(path_.c_str());
  ASSERT_TRUE(clock && *clock);
  const RealClock real;
  const auto ahead_s = [&] { return (*clock)->now_s() - real.now_s(); };
  EXPECT_LE(std::abs(ahead_s()), 1);
  const int64_t before_us = real.steady_us();
  EXPECT_GE((*clock)->steady_us(), before_us);
  write(-1'000'000, 42);
  EXPECT_LE(std::abs(ahead_s() + 1'000'000), 1);
  EXPECT_EQ((*clock)->steady_us(), 42);
  write(5'000, 0);
  EXPECT_LE(std::abs(ahead_s() - 5'000), 1);
  EXPECT_GT((*clock)->steady_us(), 42);
}

TEST_F(TestClockTest, AFileThatIsNoneIsAnError) {
  EXPECT_FALSE(TestClock::open(path_.c_str())) << "there is none";
  std::ofstream(path_) << "short";
  auto clock = TestClock::open(path_.c_str());
  ASSERT_FALSE(clock);
  EXPECT_NE(clock.error().message.find(path_), std::string::npos);
}

}  // namespace
}  // namespace orrery::cli
