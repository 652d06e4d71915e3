// What a sweep removes, and what it leaves: a process ends after each operation of a history of
// files, clones and removals.
#include "volume/objects/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "volume/objects/directory_store.h"
#include "volume/objects/file_entry.h"
#include "volume/objects/forwarding_store.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_volume.h"
#include "volume/objects/root.h"

namespace orrery::volume {
namespace {

constexpr const char* kLate = "this process is dead";

// A process that ends before its n-th change: from there on nothing it does has an effect.
class MortalStore final : public ForwardingStore {
 public:
  MortalStore(std::shared_ptr<ObjectStore> base, int64_t changes)
      : ForwardingStore(std::move(base)), left_(changes) {}

  Outcome apply(const std::string& object, const ObjectChange& change) override {
    // Renewals come when they come, and are not counted.
    if (!object.starts_with("lease.")) left_.fetch_sub(1);
    if (is_dead()) return {.applied = Applied::failed, .message = kLate};
    return ForwardingStore::apply(object, change);
  }

  bool is_dead() const { return left_ < 0; }

 private:
  std::atomic<int64_t> left_;
};

class SweepTest : public testing::Test {
 protected:
  using File = std::unique_ptr<rocksdb::FSWritableFile>;

  SweepTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SweepTest() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<ObjectStore> store(int round) {
    return open_directory_store(folder_ + "/" + std::to_string(round)).value();
  }

  static bool write(Claim& owner, const std::string& path, const std::string& bytes) {
    File file;
    return owner.file_system()->NewWritableFile(path, {}, &file, nullptr).ok() &&
           file->Append(bytes, {}, nullptr).ok() && file->Sync({}, nullptr).ok() &&
           file->Close({}, nullptr).ok();
  }
  static std::string read(Claim& owner, const std::string& path) {
    std::string bytes;
    auto got = rocksdb::ReadFileToString(owner.file_system().get(), path, &bytes);
    return got.ok() ? bytes : "(" + got.ToString() + ")";
  }

  // Small and large files, a log, a clone, deletions, a removal. Each step is tried, whatever
  // became of those before.
  static void live(Volume& volume) {
    auto owner = volume.claim("p");
    if (!owner) return;
    const std::string at = (*owner)->directory();
    rocksdb::FileSystem& files = *(*owner)->file_system();
    if (!write(**owner, at + "/CURRENT", "small")) return;
    if (!write(**owner, at + "/000001.log", "log")) return;
    if (!write(**owner, at + "/000002.sst", std::string(kStripeBytes + 100, 'a'))) return;
    if (!write(**owner, at + "/000003.sst", std::string(kStripeBytes + 100, 'b'))) return;
    auto target = (*owner)->clone_target("q");
    if (!target) return;
    const std::string unfinished = *target + ".tmp";
    if (!files.CreateDir(unfinished, {}, nullptr).ok()) return;
    for (const char* name : {"/000002.sst", "/000003.sst"}) {
      if (!files.LinkFile(at + name, unfinished + name, {}, nullptr).ok()) return;
    }
    if (!write(**owner, unfinished + "/CURRENT", "small")) return;
    if (!files.RenameFile(unfinished, *target, {}, nullptr).ok()) return;
    files.DeleteFile(at + "/000003.sst", {}, nullptr).PermitUncheckedError();
    files.DeleteFile(at + "/000001.log", {}, nullptr).PermitUncheckedError();
    owner->reset();
    if (!volume.remove("p", 1)) return;
    static_cast<void>(volume.delete_removed(1));
  }

  static void sweep_counting(ObjectStore& objects, SweepReport& total) {
    auto report = sweep(objects);
    ASSERT_TRUE(report) << report.error().message;
    total.roots += report->roots;
    total.tokens += report->tokens;
    total.objects += report->objects;
    total.leases += report->leases;
  }

  // Every object that a root names is there, unless it is being deleted.
  static void expect_whole(ObjectStore& objects) {
    for (const std::string& name : objects.list("root.").value()) {
      const ObjectState root = objects.inspect(name).value();
      if (root.attribute(kState) == kDead) continue;
      for (const auto& [path, text] : root.entries) {
        const auto entry = path.ends_with('/') ? std::nullopt : decode_file_entry(text);
        if (!entry || entry->kind != FileEntry::Kind::stripes || entry->size == 0) continue;
        auto first = objects.inspect(entry->object(0));
        ASSERT_TRUE(first) << path;
        EXPECT_THAT(std::string(first->attribute(kRefs)), testing::HasSubstr(entry->token + " "));
        EXPECT_TRUE(objects.inspect(entry->object(1))) << path;
      }
    }
  }

  std::string folder_;
};

TEST_F(SweepTest, WhateverWasBrokenOffNothingIsLostAndNothingStays) {
  int round = 0;
  SweepReport swept;
  for (bool dead = true; dead; ++round) {
    ASSERT_LT(round, 200);
    auto objects = store(round);
    auto mortal = std::make_shared<MortalStore>(objects, round);
    {
      // Before its lease is listed it has none.
      auto volume = open_object_volume(mortal);
      if (volume) live(**volume);
      dead = mortal->is_dead();
    }
    for (const std::string& name : objects->list("lease.").value()) {
      ASSERT_TRUE(bury(*objects, name.substr(6)));
    }
    sweep_counting(*objects, swept);
    expect_whole(*objects);

    auto volume = open_object_volume(objects).value();
    for (const std::string& name : volume->list().value()) {
      auto owner = volume->claim(name);
      ASSERT_TRUE(owner) << owner.error().message;
      const std::string table = read(**owner, (*owner)->directory() + "/000002.sst");
      EXPECT_TRUE(table.starts_with("(") || table.size() <= 200 ||
                  table == std::string(kStripeBytes + 100, 'a'));
      EXPECT_TRUE((*owner)->file_system()->FileExists((*owner)->directory(), {}, nullptr).ok() ||
                  name == "q");
    }
    // A second one, after all have new owners, finds what only an epoch's end could tell.
    sweep_counting(*objects, swept);
    expect_whole(*objects);
    for (const std::string& name : volume->list().value()) ASSERT_TRUE(volume->remove(name, 2));
    while (volume->delete_removed(2).value()) {
    }
    volume.reset();
    sweep_counting(*objects, swept);
    EXPECT_THAT(objects->list("file.").value(), testing::IsEmpty()) << "round " << round;
    EXPECT_THAT(objects->list("root.").value(), testing::IsEmpty()) << "round " << round;
    EXPECT_THAT(objects->list("lease.").value(), testing::IsEmpty()) << "round " << round;
  }
  EXPECT_GT(round, 20) << "it ended after each of many changes";
  // Each kind of garbage was there at some time.
  EXPECT_GT(swept.roots, 0U);
  EXPECT_GT(swept.tokens, 0U);
  EXPECT_GT(swept.objects, 0U);
  EXPECT_GT(swept.leases, 0U);
}

TEST_F(SweepTest, LeavesLivingProcessesAlone) {
  auto objects = store(0);
  auto volume = open_object_volume(objects).value();
  auto owner = volume->claim("p").value();
  const std::string at = owner->directory();
  File log;
  ASSERT_TRUE(owner->file_system()->NewWritableFile(at + "/000001.log", {}, &log, nullptr).ok());
  ASSERT_TRUE(log->Append("log", {}, nullptr).ok());
  ASSERT_TRUE(log->Sync({}, nullptr).ok());
  File table;
  ASSERT_TRUE(owner->file_system()->NewWritableFile(at + "/000002.sst", {}, &table, nullptr).ok());
  ASSERT_TRUE(table->Append(std::string(2 * kStripeBytes, 'a'), {}, nullptr).ok());
  auto target = owner->clone_target("q").value();

  auto report = sweep(*objects);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->roots + report->tokens + report->objects + report->leases, 0U);

  ASSERT_TRUE(table->Close({}, nullptr).ok());
  ASSERT_TRUE(log->Append("more", {}, nullptr).ok());
  ASSERT_TRUE(log->Sync({}, nullptr).ok());
  EXPECT_EQ(read(*owner, at + "/000001.log"), "logmore");
  EXPECT_EQ(read(*owner, at + "/000002.sst").size(), 2 * kStripeBytes);
}

TEST_F(SweepTest, ARootThatCannotBeReadEndsIt) {
  auto objects = store(0);
  {
    auto volume = open_object_volume(objects).value();
    auto owner = volume->claim("p").value();
    ASSERT_TRUE(write(*owner, owner->directory() + "/1.sst", std::string(100'000, 'a')));
  }
  const std::string root = objects->list("root.").value().front();
  ASSERT_TRUE(objects->apply(root, {.set_entries = {{"db/1.sst", "nonsense"}}}).is_done());
  EXPECT_EQ(sweep(*objects).error().code, Code::corrupt);
  EXPECT_EQ(objects->list("file.")->size(), 1U);
}

}  // namespace
}  // namespace orrery::volume
