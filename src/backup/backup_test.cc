// Backups of an engine in this process: into a folder and back, over splits, to a point in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backup/archive.h"
#include "backup/backup_run.h"
#include "backup/folder.h"
#include "backup/follower.h"
#include "backup/restore.h"
#include "cluster/engine_fixture.h"
#include "cluster/exporting/export_messages.h"

namespace orrery::backup {
namespace {

class BackupTest : public cluster::EngineTest {
 protected:
  // The engine, with something that happens before a request.
  class EngineSource final : public Source {
   public:
    explicit EngineSource(std::unique_ptr<cluster::Engine>& engine) : engine_(engine) {}
    Result<std::string> ask(const std::string& request) override {
      ++asked;
      if (before) before();
      return engine_->export_files(request);
    }
    std::function<void()> before;
    int asked = 0;

   private:
    std::unique_ptr<cluster::Engine>& engine_;
  };

  std::string backups() const { return target_.path() + "/backups-here"; }
  static RunOptions quietly() {
    RunOptions options;
    options.program = "test";
    options.sleep = [](int64_t) {};
    return options;
  }

  Manifest back_up() {
    auto folder = Folder::open_to_write(backups());
    EXPECT_TRUE(folder) << folder.error().message;
    BackupRun run(*folder, source_, clock_, quietly());
    auto made = run.run();
    EXPECT_TRUE(made) << made.error().message;
    copied_ = run.standing();
    EXPECT_TRUE(folder->sweep());
    return made.value_or(Manifest());
  }

  // Opens the engine on what a backup has.
  Status restore_and_open(const Manifest& manifest, const Replay* replay = nullptr) {
    engine_.reset();
    const std::string into = target_.path() + "/restored-" + std::to_string(++restored_);
    std::filesystem::create_directories(into);
    volume_ = partition::open_test_volume(into);
    {
      const partition::Shared shared(options_.limits, clock_);
      auto folder = Folder::open_to_read(backups());
      if (!folder) return pass(folder.error());
      if (auto done = restore(*folder, manifest, *volume_, shared, {}, replay); !done) return done;
    }
    auto opened = cluster::Engine::open(*volume_, clock_, options_);
    if (!opened) return pass(opened.error());
    engine_ = std::move(*opened);
    return {};
  }

  // As it was at a time.
  Status restore_at(int64_t at_ms) {
    auto folder = Folder::open_to_read(backups());
    if (!folder) return pass(folder.error());
    auto point = find_point(*folder, at_ms);
    if (!point) return pass(point.error());
    return restore_and_open(point->manifest, &point->replay);
  }

  partition::TemporaryDirectory target_;
  EngineSource source_{engine_};
  Standing copied_;
  int restored_ = 0;
};

TEST_F(BackupTest, WhatIsRestoredIsWhatWasThere) {
  open();
  auto routing = make("c", 20'000);
  load(routing, 0, 40);
  make("empty");
  const Manifest manifest = back_up();
  EXPECT_EQ(manifest.items(), 40U);
  EXPECT_EQ(manifest.partitions.size(), 2U);
  load(routing, 40, 50);
  routing.reset();
  auto restored = restore_and_open(manifest);
  ASSERT_TRUE(restored) << restored.error().message;
  expect_all(find("c"), 40);
  EXPECT_TRUE(rows(find("empty")).empty());
  // And it goes on.
  load(find("c"), 40, 45);
  expect_all(find("c"), 45);
}

TEST_F(BackupTest, TheNextOneSharesFiles) {
  open();
  auto routing = make("c");
  load(routing, 0, 100, 5'000);
  back_up();
  const uint64_t first = copied_.bytes_copied;
  EXPECT_EQ(copied_.bytes_shared, 0U);
  load(routing, 100, 101);
  const Manifest second = back_up();
  EXPECT_GT(copied_.bytes_shared, 0U);
  EXPECT_LT(copied_.bytes_copied, first);
  routing.reset();
  auto restored = restore_and_open(second);
  ASSERT_TRUE(restored) << restored.error().message;
  expect_all(find("c"), 101);
}

TEST_F(BackupTest, ASplitInTheMiddleIsFollowed) {
  open();
  auto routing = make("c", 20'000);
  load(routing, 0, 60);
  const uint32_t number = routing->container->number;
  // At every request one range more is split, as long as there are few.
  int splits = 0;
  source_.before = [&] {
    if (splits < 4 && engine_->split(number, std::nullopt)) ++splits;
  };
  const Manifest manifest = back_up();
  source_.before = nullptr;
  EXPECT_EQ(splits, 4);
  EXPECT_EQ(manifest.items(), 60U);
  routing.reset();
  auto restored = restore_and_open(manifest);
  ASSERT_TRUE(restored) << restored.error().message;
  expect_all(find("c"), 60);
}

TEST_F(BackupTest, ADroppedContainerIsLeftOut) {
  open();
  load(make("c"), 0, 10);
  auto going = make("going");
  load(going, 0, 10);
  source_.before = [&] {
    if (source_.asked == 3) EXPECT_TRUE(engine_->remove_container(going->container->number));
  };
  const Manifest manifest = back_up();
  source_.before = nullptr;
  EXPECT_EQ(manifest.items(), 10U);
  going.reset();
  auto restored = restore_and_open(manifest);
  ASSERT_TRUE(restored) << restored.error().message;
  expect_all(find("c"), 10);
  EXPECT_FALSE(find("going"));
}

TEST_F(BackupTest, DamageIsFound) {
  open();
  load(make("c"), 0, 10);
  const Manifest manifest = back_up();
  auto folder = Folder::open_to_read(backups());
  ASSERT_TRUE(folder);
  const auto wrong = [&] {
    std::vector<std::string> found;
    EXPECT_TRUE(
        check_files(*folder, manifest, {}, [&](const auto& what) { found.push_back(what); }));
    return found;
  };
  EXPECT_THAT(wrong(), testing::IsEmpty());
  for (const BackedUpFile& file : manifest.partitions[0].files) {
    const std::string path = folder->path_of(file.sha256);
    std::string bytes;
    {
      std::ifstream in(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    std::string flipped = bytes;
    flipped[flipped.size() / 2] ^= 1;
    std::ofstream(path, std::ios::binary) << flipped;
    EXPECT_THAT(wrong(), testing::ElementsAre(testing::HasSubstr("damaged"))) << file.name;
    auto refused = restore_and_open(manifest);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::corrupt);
    auto opened = cluster::Engine::open(*volume_, clock_, options_);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, testing::ContainsRegex("broken off|files are missing"));
    std::ofstream(path, std::ios::binary) << bytes;
  }
  EXPECT_TRUE(restore_and_open(manifest));
}

TEST_F(BackupTest, AManifestIsWholeOrRefused) {
  Manifest manifest;
  manifest.name = "n";
  manifest.catalog.volume_name = "catalog";
  manifest.catalog.lsn = UINT64_MAX - 9;
  manifest.catalog.files.push_back(
      {.name = "CURRENT", .size = 3, .sha256 = std::string(64, 'A'), .mark = {}});
  const std::string text = encode(manifest);
  auto read = decode_manifest(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode(*read), text);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string flipped = text;
    flipped[i] ^= 1;
    EXPECT_FALSE(decode_manifest(flipped)) << i;
    EXPECT_FALSE(decode_manifest(text.substr(0, i))) << i;
  }
}

TEST_F(BackupTest, AnyTimeInBetweenCanBeRestored) {
  open();
  auto routing = make("c", 20'000);
  load(routing, 0, 10);
  std::vector<std::pair<int64_t, int>> known;  // when, and how many rows were there
  {
    auto folder = Folder::open_to_write(backups());
    ASSERT_TRUE(folder) << folder.error().message;
    FollowOptions options;
    options.run = quietly();
    Follower follower(*folder, source_, clock_, options);
    clock_.advance_ms(5'000);
    for (int i = 1; i < 5; ++i) {
      auto again = follower.step();
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_FALSE(*again);
      load(routing, i * 10, i * 10 + 10);
      known.emplace_back(clock_.now_ms(), i * 10 + 10);
      clock_.advance_ms(60'000);
    }
    ASSERT_FALSE(
        write(routing, write_of(*routing, partition::Verb::remove, "k7", "7")).error.has_value());
    clock_.advance_ms(1'000);
    ASSERT_TRUE(follower.step());
    EXPECT_EQ(folder->names()->size(), 1U);  // nothing but commits was needed
  }
  const int64_t end_ms = clock_.now_ms();
  routing.reset();
  for (const auto& [at_ms, count] : known) {
    auto restored = restore_at(at_ms + 30'000);
    ASSERT_TRUE(restored) << restored.error().message;
    expect_all(find("c"), count);
  }
  auto restored = restore_at(end_ms - 500);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(rows(find("c")).size(), 49U);
  EXPECT_THAT(restore_at(end_ms + 1'000).error().message, testing::HasSubstr("not archived"));
  EXPECT_THAT(restore_at(1).error().message, testing::HasSubstr("no backup that is as old"));
}

TEST_F(BackupTest, ASplitOrAGapMakesANewBackup) {
  open();
  auto routing = make("c", 20'000);
  load(routing, 0, 20);
  int64_t before_ms = 0;
  {
    auto folder = Folder::open_to_write(backups());
    ASSERT_TRUE(folder);
    FollowOptions options;
    options.run = quietly();
    Follower follower(*folder, source_, clock_, options);
    clock_.advance_ms(5'000);
    ASSERT_TRUE(follower.step());
    load(routing, 20, 30);
    before_ms = clock_.now_ms();
    clock_.advance_ms(10'000);
    ASSERT_FALSE(follower.step().value());
    clock_.advance_ms(10'000);
    ASSERT_TRUE(engine_->split(routing->container->number, std::nullopt));
    EXPECT_TRUE(follower.step().value());   // finds it
    EXPECT_FALSE(follower.step().value());  // has it
    EXPECT_EQ(folder->names()->size(), 2U);
    clock_.advance_ms(10'000);
    load(find("c"), 30, 40);
    clock_.advance_ms(10'000);
    ASSERT_FALSE(follower.step().value());
  }
  const int64_t after_ms = clock_.now_ms() - 1;
  routing.reset();
  auto restored = restore_at(before_ms + 1'000);
  ASSERT_TRUE(restored) << restored.error().message;
  expect_all(find("c"), 30);
  restored = restore_at(after_ms);
  ASSERT_TRUE(restored) << restored.error().message;
  expect_all(find("c"), 40);
}

TEST_F(BackupTest, TimesAreReadAsTheyAreWritten) {
  EXPECT_EQ(parse_time("2026-11-16T13:45:00.25Z").value(), 1'794'836'700'250);
  EXPECT_EQ(time_text(1'794'836'700'250), "2026-11-16T13:45:00.250Z");
  for (const char* bad :
       {"", "2026-11-16", "2026-11-16T13:45:00", "2026-11-16T13:45:00+01:00", "now"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

}  // namespace
}  // namespace orrery::backup
