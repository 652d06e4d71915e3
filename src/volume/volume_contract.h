// What every volume promises (volume.h), as tests that any implementation can run: instantiate
// VolumeContract with a function that opens a volume at a fresh place, and opens the same one again
// each time it is called. Included by tests only.
//
//   INSTANTIATE_TEST_SUITE_P(Local, VolumeContract, testing::Values(VolumeFactory{...}));
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "volume/volume.h"

namespace orrery::volume {

// One place that volumes are opened at; gone when destroyed.
class VolumePlace {
 public:
  virtual ~VolumePlace() = default;
  virtual std::unique_ptr<Volume> open() = 0;
  // Makes it known that processes have ended, where that takes more than the kernel.
  virtual void bury_the_dead() {}
};
using VolumeFactory = std::function<std::unique_ptr<VolumePlace>()>;

class VolumeContract : public testing::TestWithParam<VolumeFactory> {
 protected:
  using Files = std::shared_ptr<rocksdb::FileSystem>;
  using File = std::unique_ptr<rocksdb::FSWritableFile>;

  std::unique_ptr<VolumePlace> place_ = GetParam()();
  std::unique_ptr<Volume> volume_ = place_->open();
  const rocksdb::IOOptions io_;

  std::unique_ptr<Claim> claim(std::string_view name = "p") { return ready(volume_->claim(name)); }
  std::unique_ptr<Claim> take_over(std::string_view name = "p") {
    return ready(volume_->take_over(name));
  }
  // With its directory.
  std::unique_ptr<Claim> ready(Result<std::unique_ptr<Claim>> claimed) {
    EXPECT_TRUE(claimed.has_value()) << claimed.error().message;
    if (!claimed) return nullptr;
    EXPECT_TRUE(
        (*claimed)->file_system()->CreateDirIfMissing((*claimed)->directory(), io_, nullptr).ok());
    return std::move(*claimed);
  }
  File create(const Claim& owner, const std::string& name) {
    File file;
    auto made =
        owner.file_system()->NewWritableFile(owner.directory() + "/" + name, {}, &file, nullptr);
    EXPECT_TRUE(made.ok()) << made.ToString();
    return file;
  }
  void write(const Claim& owner, const std::string& name, const std::string& bytes) {
    File file = create(owner, name);
    ASSERT_TRUE(file->Append(bytes, io_, nullptr).ok());
    ASSERT_TRUE(file->Sync(io_, nullptr).ok());
    ASSERT_TRUE(file->Close(io_, nullptr).ok());
  }
  rocksdb::IOStatus append_and_sync(rocksdb::FSWritableFile& file, const std::string& bytes) {
    rocksdb::IOStatus status = file.Append(bytes, io_, nullptr);
    return status.ok() ? file.Sync(io_, nullptr) : status;
  }
  std::string read(const Claim& owner, const std::string& name) {
    std::string bytes;
    auto got = rocksdb::ReadFileToString(owner.file_system().get(), owner.directory() + "/" + name,
                                         &bytes);
    return got.ok() ? bytes : "(" + got.ToString() + ")";
  }
  uint64_t size(const Claim& owner, const std::string& path) {
    uint64_t bytes = 0;
    EXPECT_TRUE(owner.file_system()->GetFileSize(path, io_, &bytes, nullptr).ok()) << path;
    return bytes;
  }
};

TEST_P(VolumeContract, NamesAreChecked) {
  for (const std::string& name :
       {std::string(), std::string("A"), std::string("a/b"), std::string(".."), std::string("a_b"),
        std::string("a b"), std::string(65, 'a'), std::string("\0", 1)}) {
    EXPECT_EQ(volume_->claim(name).error().code, Code::invalid) << name;
    EXPECT_EQ(volume_->take_over(name).error().code, Code::invalid) << name;
    EXPECT_EQ(volume_->remove(name, 1).error().code, Code::invalid) << name;
    EXPECT_EQ(claim()->clone_target(name).error().code, Code::invalid) << name;
    EXPECT_FALSE(volume_->exists(name));
  }
  EXPECT_TRUE(claim(std::string(64, 'a')));
  EXPECT_TRUE(claim("0-z"));
}

TEST_P(VolumeContract, EpochsGrow) {
  uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    auto owner = claim();
    ASSERT_TRUE(owner);
    EXPECT_GT(owner->epoch(), last);
    last = owner->epoch();
    if (i == 2) volume_ = place_->open();
  }
  auto other = claim("q");
  EXPECT_LT(other->epoch(), last) << "each partition has its own";
}

TEST_P(VolumeContract, ListsWhatIsThereAndRemovesItWhole) {
  EXPECT_THAT(volume_->list().value(), testing::IsEmpty());
  auto a = claim("a");
  auto b = claim("b");
  EXPECT_FALSE(volume_->exists("a")) << "no database yet";
  write(*a, "CURRENT", "x");
  EXPECT_TRUE(volume_->exists("a"));
  EXPECT_FALSE(volume_->exists("c"));
  EXPECT_THAT(volume_->list().value(), testing::UnorderedElementsAre("a", "b"));
  ASSERT_TRUE(volume_->remove("a", 1));
  EXPECT_FALSE(volume_->exists("a"));
  EXPECT_THAT(volume_->list().value(), testing::ElementsAre("b"));
  EXPECT_TRUE(volume_->remove("a", 1)) << "already gone";
  EXPECT_THAT(place_->open()->list().value(), testing::ElementsAre("b"));
}

TEST_P(VolumeContract, ADeposedOwnerCannotChangeAnything) {
  auto old_owner = claim();
  write(*old_owner, "kept", "kept");
  File log = create(*old_owner, "log");
  ASSERT_TRUE(log->Append("before", io_, nullptr).ok());
  ASSERT_TRUE(log->Sync(io_, nullptr).ok());

  auto new_owner = take_over();
  EXPECT_EQ(read(*new_owner, "log"), "before");
  const std::string at = old_owner->directory() + "/";
  rocksdb::FileSystem& files = *old_owner->file_system();
  const auto refused = [](const rocksdb::IOStatus& status) {
    EXPECT_TRUE(status.IsIOFenced()) << status.ToString();
    EXPECT_THAT(status.ToString(), testing::HasSubstr("another owner"));
  };
  // An append may be held in memory, so that only the sync is refused.
  if (auto appended = log->Append("after", io_, nullptr); !appended.ok()) refused(appended);
  refused(log->Sync(io_, nullptr));
  refused(log->Append("after", io_, nullptr));
  refused(log->Append("after", io_, rocksdb::DataVerificationInfo(), nullptr));
  refused(log->Fsync(io_, nullptr));
  refused(log->Truncate(0, io_, nullptr));
  File file;
  refused(files.NewWritableFile(at + "new", {}, &file, nullptr));
  refused(files.ReopenWritableFile(at + "kept", {}, &file, nullptr));
  refused(files.ReuseWritableFile(at + "new", at + "kept", {}, &file, nullptr));
  refused(files.RenameFile(at + "kept", at + "new", io_, nullptr));
  refused(files.LinkFile(at + "kept", at + "new", io_, nullptr));
  refused(files.DeleteFile(at + "kept", io_, nullptr));
  refused(files.Truncate(at + "kept", 0, io_, nullptr));
  refused(files.CreateDir(at + "new", io_, nullptr));
  refused(files.DeleteDir(old_owner->directory(), io_, nullptr));
  log->Close(io_, nullptr).PermitUncheckedError();
  log.reset();

  EXPECT_EQ(read(*new_owner, "kept"), "kept");
  EXPECT_EQ(read(*new_owner, "log"), "before");
  std::vector<std::string> names;
  ASSERT_TRUE(
      new_owner->file_system()->GetChildren(new_owner->directory(), io_, &names, nullptr).ok());
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  EXPECT_THAT(names, testing::UnorderedElementsAre("kept", "log"));
  write(*new_owner, "mine", "mine");
  EXPECT_EQ(read(*old_owner, "mine"), "mine") << "reading is not fenced";
}

TEST_P(VolumeContract, AnOldClaimStaysDeposedWhenTheNewOneEnds) {
  auto old_owner = claim();
  take_over().reset();
  File file;
  EXPECT_TRUE(old_owner->file_system()
                  ->NewWritableFile(old_owner->directory() + "/x", {}, &file, nullptr)
                  .IsIOFenced());
}

TEST_P(VolumeContract, RemovingDeposesEvenIfTheNameIsUsedAgain) {
  auto old_owner = claim();
  File log = create(*old_owner, "log");
  ASSERT_TRUE(volume_->remove("p", 1));
  EXPECT_TRUE(append_and_sync(*log, "after").IsIOFenced());
  auto new_owner = claim();
  write(*new_owner, "mine", "mine");
  EXPECT_TRUE(append_and_sync(*log, "after").IsIOFenced());
  EXPECT_TRUE(old_owner->file_system()
                  ->DeleteFile(new_owner->directory() + "/mine", io_, nullptr)
                  .IsIOFenced());
  File file;
  EXPECT_TRUE(old_owner->file_system()
                  ->NewWritableFile(new_owner->directory() + "/x", {}, &file, nullptr)
                  .IsIOFenced());
  EXPECT_EQ(read(*new_owner, "mine"), "mine");
}

TEST_P(VolumeContract, OfManyClaimersOneGetsIt) {
  for (int round = 0; round < 5; ++round) {
    std::vector<Result<std::unique_ptr<Claim>>> claims(8);
    {
      std::vector<std::jthread> threads;
      for (auto& one : claims) threads.emplace_back([&] { one = place_->open()->claim("p"); });
    }
    EXPECT_EQ(std::ranges::count_if(claims, [](const auto& one) { return one.has_value(); }), 1);
    for (const auto& one : claims) {
      if (!one) EXPECT_EQ(one.error().code, Code::moved) << one.error().message;
      if (!one) continue;
      EXPECT_TRUE(
          (*one)->file_system()->CreateDirIfMissing((*one)->directory(), io_, nullptr).ok());
    }
  }
}

TEST_P(VolumeContract, OfManyTakersExactlyOneCanWrite) {
  for (int round = 0; round < 5; ++round) {
    std::vector<std::unique_ptr<Claim>> owners(8);
    {
      std::vector<std::jthread> threads;
      for (auto& owner : owners) {
        threads.emplace_back([&] { owner = place_->open()->take_over("p").value(); });
      }
    }
    std::set<uint64_t> epochs;
    int writers = 0;
    for (auto& owner : owners) {
      epochs.insert(owner->epoch());
      if (owner->file_system()->CreateDirIfMissing(owner->directory(), io_, nullptr).ok())
        ++writers;
    }
    EXPECT_EQ(epochs.size(), owners.size());
    EXPECT_EQ(writers, 1);
  }
}

TEST_P(VolumeContract, TakingAndRemovingAtOnceEndsWithOneOwnerAtMost) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<Claim>> owners(4);
    {
      std::vector<std::jthread> threads;
      for (auto& owner : owners) {
        threads.emplace_back([&] { owner = volume_->take_over("p").value(); });
      }
      threads.emplace_back([&] { EXPECT_TRUE(volume_->remove("p", 1)); });
    }
    int writers = 0;
    for (auto& owner : owners) {
      if (owner->file_system()->CreateDirIfMissing(owner->directory(), io_, nullptr).ok())
        ++writers;
    }
    EXPECT_LE(writers, 1);
  }
}

// The old owner appends as fast as it can. Once take_over() has returned, the file never changes
// again.
TEST_P(VolumeContract, NothingIsWrittenOnceATakeOverHasReturned) {
  for (int round = 0; round < 10; ++round) {
    // A volume may keep logs in another way than other files.
    const std::string name = round % 2 == 0 ? "000001.log" : "000002.sst";
    auto old_owner = claim();
    File log = create(*old_owner, name);
    std::atomic<uint64_t> synced = 0;
    std::jthread writer([&] {
      for (uint64_t appended = 1;; ++appended) {
        if (!log->Append("0123456789", io_, nullptr).ok()) return;
        if (appended % 16 != 0) continue;
        if (!log->Sync(io_, nullptr).ok()) return;
        synced = appended;
      }
    });
    while (synced < 100) std::this_thread::yield();
    auto new_owner = take_over();
    const uint64_t bytes = size(*new_owner, new_owner->directory() + "/" + name);
    writer.join();
    EXPECT_EQ(size(*new_owner, new_owner->directory() + "/" + name), bytes);
    EXPECT_GE(bytes, synced * 10) << "what was synced is there";
    EXPECT_EQ(bytes % 10, 0U);
  }
}

// A process that owns "p" and appends to a log, and tells by its exit what became of that.
class OwningProcess {
 public:
  static constexpr int kFenced = 42;

  explicit OwningProcess(VolumePlace& place) {
    EXPECT_EQ(::pipe(ready_), 0);
    child_ = ::fork();
    EXPECT_GE(child_, 0) << "there is no process to be had";
    if (child_ == 0) ::_exit(own(place));
    ::close(ready_[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready_[0], &byte, 1), 1) << "it did not get the partition";
    ::close(ready_[0]);
  }
  ~OwningProcess() {
    if (child_ > 0) end();
  }
  OwningProcess(const OwningProcess&) = delete;
  OwningProcess& operator=(const OwningProcess&) = delete;

  bool is_alive() {
    const pid_t ended = ::waitpid(child_, &status_, WNOHANG);
    if (ended == child_) child_ = -1;
    return ended == 0;
  }
  void end() {
    // To kill(), -1 is every process of the machine.
    if (child_ > 0) ::kill(child_, SIGKILL);
    static_cast<void>(exit_status());
  }
  // Waits for it. -1 when it was killed.
  int exit_status() {
    if (child_ > 0) EXPECT_EQ(::waitpid(child_, &status_, 0), child_);
    child_ = -1;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  int own(VolumePlace& place) {
    const rocksdb::IOOptions io;
    auto volume = place.open();
    auto owner = volume->claim("p");
    if (!owner) return 1;
    rocksdb::FileSystem& files = *(*owner)->file_system();
    files.CreateDirIfMissing((*owner)->directory(), io, nullptr).PermitUncheckedError();
    std::unique_ptr<rocksdb::FSWritableFile> log;
    if (!files.NewWritableFile((*owner)->directory() + "/log", {}, &log, nullptr).ok()) return 2;
    for (uint64_t i = 0; i < 100'000'000; ++i) {
      rocksdb::IOStatus status = log->Append("0123456789", io, nullptr);
      if (status.ok() && i > 90) status = log->Sync(io, nullptr);
      if (!status.ok()) return status.IsIOFenced() ? kFenced : 3;
      if (i == 100 && ::write(ready_[1], "r", 1) != 1) return 4;
      // Often enough to be met in the middle, and no disk is filled.
      if (i > 1'000) ::usleep(100);
    }
    return 5;
  }

  int ready_[2] = {-1, -1};
  pid_t child_ = -1;
  int status_ = 0;
};

TEST_P(VolumeContract, NothingIsWrittenByAnotherProcessEither) {
  for (int round = 0; round < 3; ++round) {
    OwningProcess old_owner(*place_);
    auto new_owner = take_over();
    const uint64_t bytes = size(*new_owner, new_owner->directory() + "/log");
    EXPECT_EQ(old_owner.exit_status(), OwningProcess::kFenced);
    EXPECT_EQ(size(*new_owner, new_owner->directory() + "/log"), bytes);
    EXPECT_EQ(bytes % 10, 0U);
  }
}

TEST_P(VolumeContract, AClaimLeavesALivingOwnerAlone) {
  auto owner = claim();
  File log = create(*owner, "log");
  for (const auto& other : {place_->open(), place_->open()}) {
    auto refused = other->claim("p");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::moved);
    EXPECT_THAT(refused.error().message, testing::HasSubstr(volume_->place("p")));
  }
  EXPECT_EQ(volume_->claim("p").error().code, Code::moved) << "by the same volume either";
  EXPECT_TRUE(log->Append("goes on", io_, nullptr).ok());
  const uint64_t epoch = owner->epoch();
  log.reset();
  owner.reset();
  EXPECT_EQ(claim()->epoch(), epoch + 1) << "refused claims left no trace";
}

TEST_P(VolumeContract, AClaimLeavesTheOwnerInAnotherProcessAloneAndFollowsItsDeath) {
  OwningProcess owner(*place_);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(volume_->claim("p").error().code, Code::moved);
  EXPECT_TRUE(owner.is_alive());
  owner.end();
  place_->bury_the_dead();
  auto heir = claim();
  ASSERT_TRUE(heir);
  write(*heir, "mine", "mine");
}

TEST_P(VolumeContract, WhoeverTookOverIsLeftAloneToo) {
  auto deposed = claim();
  auto owner = take_over();
  EXPECT_EQ(volume_->claim("p").error().code, Code::moved);
  deposed.reset();
  EXPECT_EQ(volume_->claim("p").error().code, Code::moved);
  write(*owner, "mine", "mine");
  auto still_deposed = take_over();
  owner.reset();
  EXPECT_EQ(volume_->claim("p").error().code, Code::moved);
  still_deposed.reset();
  EXPECT_TRUE(claim()) << "released";
}

TEST_P(VolumeContract, LinksAcrossPartitionsCopyNothing) {
  auto owner = claim("p");
  const std::string block(1 << 20, 'x');
  File file = create(*owner, "big");
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(file->Append(block, io_, nullptr).ok());
  ASSERT_TRUE(file->Close(io_, nullptr).ok());
  auto target = owner->clone_target("q");
  ASSERT_TRUE(target) << target.error().message;
  rocksdb::FileSystem& files = *owner->file_system();
  // As RocksDB makes a checkpoint.
  const std::string unfinished = *target + ".tmp";
  ASSERT_TRUE(files.CreateDir(unfinished, io_, nullptr).ok());
  const auto started = std::chrono::steady_clock::now();
  ASSERT_TRUE(files.LinkFile(owner->directory() + "/big", unfinished + "/big", io_, nullptr).ok());
  ASSERT_TRUE(files.RenameFile(unfinished, *target, io_, nullptr).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(1));
  auto clone = claim("q");
  EXPECT_EQ(clone->directory(), *target);
  EXPECT_EQ(size(*clone, *target + "/big"), 64ULL << 20);
  bool same = false;
  if (files.AreFilesSame(owner->directory() + "/big", *target + "/big", io_, &same, nullptr).ok()) {
    EXPECT_TRUE(same);
  }
  // Each goes its own way.
  ASSERT_TRUE(volume_->remove("p", 1));
  EXPECT_EQ(size(*clone, *target + "/big"), 64ULL << 20);
}

TEST_P(VolumeContract, ACloneTargetIsMadeOnlyWhereThereIsNothing) {
  auto owner = claim("p");
  auto target = owner->clone_target("q");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_TRUE(owner->file_system()->FileExists(*target, io_, nullptr).IsNotFound());
  EXPECT_EQ(owner->clone_target("q").error().code, Code::conflict) << "not twice";
  EXPECT_EQ(owner->clone_target("p").error().code, Code::conflict) << "nor over itself";

  auto other = claim("r");
  write(*other, "CURRENT", "precious");
  auto refused = owner->clone_target("r");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message, testing::HasSubstr(volume_->place("r")));
  EXPECT_EQ(read(*other, "CURRENT"), "precious");
  write(*other, "more", "and its owner goes on");
  other.reset();
  EXPECT_EQ(owner->clone_target("r").error().code, Code::conflict) << "without an owner either";
  EXPECT_EQ(read(*claim("r"), "CURRENT"), "precious");
}

TEST_P(VolumeContract, ADeposedOwnerMakesNoPlaceForAClone) {
  auto deposed = claim("p");
  auto owner = take_over("p");
  EXPECT_EQ(deposed->clone_target("q").error().code, Code::read_only);
  EXPECT_THAT(volume_->list().value(), testing::ElementsAre("p"));
  EXPECT_TRUE(owner->clone_target("q"));
}

TEST_P(VolumeContract, WhatWasRemovedIsKeptUntilItIsDeletedOldestFirst) {
  EXPECT_FALSE(volume_->delete_removed(INT64_MAX).value()) << "nothing yet";
  for (const char* name : {"a", "b", "c"}) write(*claim(name), "CURRENT", name);
  ASSERT_TRUE(volume_->remove("b", 100));
  ASSERT_TRUE(volume_->remove("a", 200));
  write(*claim("a"), "CURRENT", "again");
  ASSERT_TRUE(volume_->remove("a", 200)) << "the same name in the same second";
  EXPECT_THAT(volume_->list().value(), testing::ElementsAre("c"));

  volume_ = place_->open();
  EXPECT_FALSE(volume_->delete_removed(99).value());
  EXPECT_TRUE(volume_->delete_removed(100).value());
  EXPECT_FALSE(volume_->delete_removed(199).value());
  EXPECT_TRUE(volume_->delete_removed(INT64_MAX).value());
  EXPECT_TRUE(volume_->delete_removed(INT64_MAX).value());
  EXPECT_FALSE(volume_->delete_removed(INT64_MAX).value());
  EXPECT_THAT(volume_->list().value(), testing::ElementsAre("c"));
  EXPECT_EQ(read(*claim("c"), "CURRENT"), "c");
}

TEST_P(VolumeContract, TellsHowMuchSpaceIsFree) {
  const double free = volume_->free_share().value();
  EXPECT_GE(free, 0);
  EXPECT_LE(free, 1);
}

TEST_P(VolumeContract, WhatWasNotedIsThereForTheNextOwner) {
  {
    auto owner = claim();
    EXPECT_EQ(owner->noted_lsn(), 0U);
    for (uint64_t lsn = 1; lsn <= 100; ++lsn) {
      ASSERT_TRUE(owner->note_lsn(lsn, Claim::NoteIs::quick));
    }
    EXPECT_EQ(owner->noted_lsn(), 100U);
    ASSERT_TRUE(owner->note_lsn(99, Claim::NoteIs::synced));
    EXPECT_EQ(owner->noted_lsn(), 100U) << "it never goes back";
  }
  volume_ = place_->open();
  auto deposed = claim();
  EXPECT_EQ(deposed->noted_lsn(), 100U);
  auto owner = take_over();
  EXPECT_EQ(owner->noted_lsn(), 100U);
  EXPECT_FALSE(deposed->note_lsn(200, Claim::NoteIs::synced));
  ASSERT_TRUE(owner->note_lsn(101, Claim::NoteIs::quick));
  deposed.reset();
  owner.reset();
  EXPECT_EQ(claim()->noted_lsn(), 101U);
  EXPECT_EQ(claim("q")->noted_lsn(), 0U) << "each partition has its own";
}

TEST_P(VolumeContract, FilesThatTheOwnerDeletedOrCutAreNotMissed) {
  auto owner = claim();
  write(*owner, "000001.log", "gone");
  write(*owner, "000002.log", "shortened");
  write(*owner, "MANIFEST-000003", "replaced");
  write(*owner, "000004.log", "kept");
  ASSERT_TRUE(owner->note_lsn(4, Claim::NoteIs::synced));
  rocksdb::FileSystem& files = *owner->file_system();
  const std::string at = owner->directory() + "/";
  ASSERT_TRUE(files.DeleteFile(at + "000001.log", io_, nullptr).ok());
  File shortened;
  ASSERT_TRUE(files.ReopenWritableFile(at + "000002.log", {}, &shortened, nullptr).ok());
  ASSERT_TRUE(shortened->Truncate(5, io_, nullptr).ok());
  ASSERT_TRUE(shortened->Close(io_, nullptr).ok());
  shortened.reset();
  ASSERT_TRUE(files.RenameFile(at + "MANIFEST-000003", at + "elsewhere", io_, nullptr).ok());
  owner.reset();
  owner = claim();
  ASSERT_TRUE(owner);
  EXPECT_EQ(read(*owner, "000002.log"), "short");
  EXPECT_EQ(read(*owner, "000004.log"), "kept");
  EXPECT_EQ(owner->noted_lsn(), 4U);
}

}  // namespace orrery::volume
