// Private files: for the owner alone, whatever was there before and whatever the umask.
#include "base/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace orrery {
namespace {

class PrivateFileTest : public testing::Test {
 protected:
  PrivateFileTest() {
    char pattern[] = "/tmp/orrery-private-XXXXXX";
    folder_ = mkdtemp(pattern);
    path_ = folder_ + "/file";
    before_ = ::umask(0);
  }
  ~PrivateFileTest() override {
    ::umask(before_);
    std::filesystem::remove_all(folder_);
  }
  static mode_t mode_of(const std::string& path) {
    struct stat found{};
    EXPECT_EQ(::stat(path.c_str(), &found), 0);
    return found.st_mode & 0777;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string folder_;
  std::string path_;
  mode_t before_ = 0;
};

TEST_F(PrivateFileTest, IsTheOwnersAlone) {
  ASSERT_TRUE(write_private_file(path_, "one"));
  EXPECT_EQ(mode_of(path_), 0600U);
  EXPECT_EQ(read(path_), "one");
  ASSERT_TRUE(write_private_file(path_, ""));
  EXPECT_EQ(read(path_), "");
}

TEST_F(PrivateFileTest, TakesNoRightsFromWhatWasThere) {
  std::ofstream(path_) << "old";
  std::ofstream(path_ + ".new") << "left behind";
  ::chmod(path_.c_str(), 0666);
  ::chmod((path_ + ".new").c_str(), 0666);
  ASSERT_TRUE(write_private_file(path_, "new"));
  EXPECT_EQ(mode_of(path_), 0600U);
  EXPECT_EQ(read(path_), "new");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(PrivateFileTest, FollowsNoLink) {
  const std::string elsewhere = folder_ + "/elsewhere";
  std::ofstream(elsewhere) << "mine";
  std::filesystem::create_symlink(elsewhere, path_ + ".new");
  ASSERT_TRUE(write_private_file(path_, "secret"));
  EXPECT_EQ(read(elsewhere), "mine");
  EXPECT_EQ(read(path_), "secret");
}

TEST_F(PrivateFileTest, TellsWhatFailed) {
  auto failed = write_private_file(folder_ + "/nowhere/file", "x");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("nowhere/file"), std::string::npos);
}

}  // namespace
}  // namespace orrery
