// The data folder: one server at a time, keys that stay and that only the owner reads.
#include "cli/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/bytes.h"
#include "cli/admin_client.h"
#include "partition/partition_fixture.h"

namespace orrery::cli {
namespace {

using testing::HasSubstr;

class DataFolderTest : public testing::Test {
 protected:
  void put(std::string_view name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  mode_t mode_of(std::string_view name) const {
    struct stat found{};
    EXPECT_EQ(::stat(path(name).c_str(), &found), 0);
    return found.st_mode & 0777;
  }

  partition::TemporaryDirectory directory_;
  const std::string& folder_ = directory_.path();
};

TEST_F(DataFolderTest, IsUsedByOneServerAtATime) {
  const std::string fresh = path("a/b");
  auto first = FolderLock::take(fresh);
  ASSERT_TRUE(first) << first.error().message;
  auto second = FolderLock::take(fresh);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_THAT(second.error().message, HasSubstr(fresh));
  EXPECT_THAT(second.error().message, HasSubstr("--data"));
  first->reset();
  EXPECT_TRUE(FolderLock::take(fresh));
}

TEST_F(DataFolderTest, IsMadeForItsOwnerAlone) {
  const mode_t before = ::umask(0);
  auto lock = FolderLock::take(path("fresh"));
  ::umask(before);
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(mode_of("fresh"), 0700U);
  EXPECT_EQ(mode_of("fresh/LOCK"), 0600U);
}

TEST_F(DataFolderTest, IsClosedToOthersWhoCouldLookIntoIt) {
  namespace fs = std::filesystem;
  fs::create_directories(path("open/partitions/c1"));
  put("open/partitions/c1/000001.sst", "x");
  put("elsewhere", "x");
  fs::create_symlink(path("elsewhere"), path("open/link"));
  for (const char* name : {"open", "open/partitions", "open/partitions/c1"}) {
    ::chmod(path(name).c_str(), 0755);
  }
  for (const char* name : {"open/partitions/c1/000001.sst", "elsewhere"}) {
    ::chmod(path(name).c_str(), 0664);
  }
  ASSERT_TRUE(FolderLock::take(path("open")));
  for (const char* name : {"open", "open/partitions", "open/partitions/c1"}) {
    EXPECT_EQ(mode_of(name), 0700U) << name;
  }
  EXPECT_EQ(mode_of("open/partitions/c1/000001.sst"), 0600U);
  EXPECT_EQ(mode_of("elsewhere"), 0664U) << "what a link leads to is not the folder's";
}

TEST_F(DataFolderTest, AFolderThatCannotBeMadeIsToldOf) {
  put("file", "");
  auto lock = FolderLock::take(path("file/below"));
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr("file/below"));
}

TEST_F(DataFolderTest, KeysAreMadeOnceAndOnlyTheOwnerReadsThem) {
  EXPECT_EQ(read_keys(folder_).error().code, Code::not_found);
  auto made = ensure_keys(folder_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(mode_of("keys.json"), 0600);
  const std::set<std::string> distinct = {made->primary, made->secondary, made->primary_readonly,
                                          made->secondary_readonly};
  EXPECT_EQ(distinct.size(), 4);
  for (const std::string& key : distinct) EXPECT_EQ(from_base64(key)->size(), 64);
  auto again = ensure_keys(folder_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->primary, made->primary);
  EXPECT_EQ(again->secondary_readonly, made->secondary_readonly);
}

TEST_F(DataFolderTest, DamagedKeysAreToldOfAndNotReplaced) {
  put("keys.json", "{");
  EXPECT_EQ(ensure_keys(folder_).error().code, Code::corrupt);
  put("keys.json", R"({"secondary":"x"})");
  auto missing = ensure_keys(folder_);
  EXPECT_EQ(missing.error().code, Code::corrupt);
  EXPECT_THAT(missing.error().message, HasSubstr("primary"));
}

TEST_F(DataFolderTest, TheSecretStays) {
  auto made = ensure_secret(folder_);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 32);
  EXPECT_EQ(mode_of("secret"), 0600);
  EXPECT_EQ(ensure_secret(folder_).value(), *made);
  put("secret", "short");
  EXPECT_EQ(ensure_secret(folder_).error().code, Code::corrupt);
}

TEST_F(DataFolderTest, TheMetricsTokenStays) {
  auto made = ensure_metrics_token(folder_);
  ASSERT_TRUE(made);
  EXPECT_GE(made->size(), 43U);
  EXPECT_EQ(mode_of("metrics-token"), 0600);
  EXPECT_EQ(ensure_metrics_token(folder_).value(), *made);
  put("metrics-token", "of-my-own\r\n");
  EXPECT_EQ(ensure_metrics_token(folder_).value(), "of-my-own");
  for (const char* bad : {"", "\n", "two words\n", "two\nlines\n"}) {
    put("metrics-token", bad);
    EXPECT_EQ(ensure_metrics_token(folder_).error().code, Code::corrupt) << bad;
  }
}

TEST_F(DataFolderTest, TheRunningServerIsFound) {
  EXPECT_EQ(read_running_server(folder_).error().code, Code::not_found);
  ASSERT_TRUE(write_running_server(folder_, {.address = "127.0.0.1",
                                             .port = 65'535,
                                             .dev = true,
                                             .certificate = "-----\nabc\n",
                                             .account = "shop",
                                             .faces = {{"table", 10'002}}}));
  auto found = read_running_server(folder_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->certificate, "-----\nabc\n");
  EXPECT_EQ(found->address, "127.0.0.1");
  EXPECT_EQ(found->account, "shop");
  EXPECT_EQ(found->faces.at("table"), 10'002);
  EXPECT_EQ(found->port, 65'535);
  EXPECT_TRUE(found->dev);
  remove_running_server(folder_);
  EXPECT_FALSE(read_running_server(folder_));
  remove_running_server(folder_);
}

TEST_F(DataFolderTest, TablesAreFoundAtTheirPort) {
  ServerAddress address;
  address.data = folder_;
  RunningServer running{.address = "127.0.0.1",
                        .port = 8081,
                        .dev = true,
                        .certificate = "pem",
                        .account = "shop",
                        .faces = {{"table", 10'002}}};
  ASSERT_TRUE(write_running_server(folder_, running));
  auto found = find_table_endpoint(address);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->port, 10'002);
  EXPECT_EQ(found->table_account, "shop");
  EXPECT_EQ(found->certificate, "pem");
  address.port = 7;  // of tables, then
  EXPECT_EQ(find_table_endpoint(address)->port, 7);
  address.port = 0;
  running.faces.clear();
  ASSERT_TRUE(write_running_server(folder_, running));
  EXPECT_THAT(find_table_endpoint(address).error().message, HasSubstr("--table-port"));
}

TEST_F(DataFolderTest, CommandsSayWhenThereIsNoServer) {
  ServerAddress address;
  address.data = folder_;
  auto nowhere = call_admin(address, "GET", "/admin/partitions", "");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("--data"));
  // Port 1 is nobody's.
  ASSERT_TRUE(write_running_server(
      folder_, {.address = "127.0.0.1", .port = 1, .dev = true, .certificate = ""}));
  auto gone = call_admin(address, "GET", "/admin/partitions", "");
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("no server answers on 127.0.0.1:1"));
}

TEST_F(DataFolderTest, OneKeyIsRegeneratedAndTheOthersStay) {
  using enum account::KeyName;
  EXPECT_FALSE(regenerate_key(folder_, primary)) << "there are no keys yet";
  auto before = ensure_keys(folder_);
  ASSERT_TRUE(before);
  for (const account::KeyName name : {primary, secondary, primary_readonly, secondary_readonly}) {
    auto after = regenerate_key(folder_, name);
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_NE(account::key_of(*after, name), account::key_of(*before, name));
    account::key_of(*before, name) = account::key_of(*after, name);
    auto read = read_keys(folder_);
    ASSERT_TRUE(read);
    for (const account::KeyName each : {primary, secondary, primary_readonly, secondary_readonly}) {
      EXPECT_EQ(account::key_of(*read, each), account::key_of(*before, each));
    }
  }
  EXPECT_EQ(mode_of("keys.json"), 0600U);
}

}  // namespace
}  // namespace orrery::cli
