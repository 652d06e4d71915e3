// What every volume promises (volume.h), as tests that any implementation can run: instantiate
// VolumeContract with a function that opens a volume at a fresh place, and opens the same one again
// each time it is called. Included by tests only.
//
//   INSTANTIATE_TEST_SUITE_P(Local, VolumeContract, testing::Values(VolumeFactory{...}));
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
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
};
using VolumeFactory = std::function<std::unique_ptr<VolumePlace>()>;

class VolumeContract : public testing::TestWithParam<VolumeFactory> {
 protected:
  using Files = std::shared_ptr<rocksdb::FileSystem>;
  using File = std::unique_ptr<rocksdb::FSWritableFile>;

  std::unique_ptr<VolumePlace> place_ = GetParam()();
  std::unique_ptr<Volume> volume_ = place_->open();
  const rocksdb::IOOptions io_;

  std::unique_ptr<Claim> claim(std::string_view name = "p") {
    auto claimed = volume_->claim(name);
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
    EXPECT_EQ(volume_->remove(name).error().code, Code::invalid) << name;
    EXPECT_EQ(volume_->clone_target(name).error().code, Code::invalid) << name;
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
  ASSERT_TRUE(volume_->remove("a"));
  EXPECT_FALSE(volume_->exists("a"));
  EXPECT_THAT(volume_->list().value(), testing::ElementsAre("b"));
  EXPECT_TRUE(volume_->remove("a")) << "already gone";
  EXPECT_THAT(place_->open()->list().value(), testing::ElementsAre("b"));
}

TEST_P(VolumeContract, ADeposedOwnerCannotChangeAnything) {
  auto old_owner = claim();
  write(*old_owner, "kept", "kept");
  File log = create(*old_owner, "log");
  ASSERT_TRUE(log->Append("before", io_, nullptr).ok());
  ASSERT_TRUE(log->Sync(io_, nullptr).ok());

  auto new_owner = claim();
  EXPECT_EQ(read(*new_owner, "log"), "before");
  const std::string at = old_owner->directory() + "/";
  rocksdb::FileSystem& files = *old_owner->file_system();
  const auto refused = [](const rocksdb::IOStatus& status) {
    EXPECT_TRUE(status.IsIOFenced()) << status.ToString();
    EXPECT_THAT(status.ToString(), testing::HasSubstr("another owner"));
  };
  refused(log->Append("after", io_, nullptr));
  refused(log->Append("after", io_, rocksdb::DataVerificationInfo(), nullptr));
  refused(log->Sync(io_, nullptr));
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
  claim().reset();
  File file;
  EXPECT_TRUE(old_owner->file_system()
                  ->NewWritableFile(old_owner->directory() + "/x", {}, &file, nullptr)
                  .IsIOFenced());
}

TEST_P(VolumeContract, RemovingDeposesEvenIfTheNameIsUsedAgain) {
  auto old_owner = claim();
  File log = create(*old_owner, "log");
  ASSERT_TRUE(volume_->remove("p"));
  EXPECT_TRUE(log->Append("after", io_, nullptr).IsIOFenced());
  auto new_owner = claim();
  write(*new_owner, "mine", "mine");
  EXPECT_TRUE(log->Append("after", io_, nullptr).IsIOFenced());
  EXPECT_TRUE(old_owner->file_system()
                  ->DeleteFile(new_owner->directory() + "/mine", io_, nullptr)
                  .IsIOFenced());
  File file;
  EXPECT_TRUE(old_owner->file_system()
                  ->NewWritableFile(new_owner->directory() + "/x", {}, &file, nullptr)
                  .IsIOFenced());
  EXPECT_EQ(read(*new_owner, "mine"), "mine");
}

TEST_P(VolumeContract, OfManyClaimersExactlyOneCanWrite) {
  for (int round = 0; round < 5; ++round) {
    std::vector<std::unique_ptr<Claim>> owners(8);
    {
      std::vector<std::jthread> threads;
      for (auto& owner : owners) {
        threads.emplace_back([&] { owner = place_->open()->claim("p").value(); });
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

TEST_P(VolumeContract, ClaimingAndRemovingAtOnceEndsWithOneOwnerAtMost) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<Claim>> owners(4);
    {
      std::vector<std::jthread> threads;
      for (auto& owner : owners) {
        threads.emplace_back([&] { owner = volume_->claim("p").value(); });
      }
      threads.emplace_back([&] { EXPECT_TRUE(volume_->remove("p")); });
    }
    int writers = 0;
    for (auto& owner : owners) {
      if (owner->file_system()->CreateDirIfMissing(owner->directory(), io_, nullptr).ok())
        ++writers;
    }
    EXPECT_LE(writers, 1);
  }
}

// The old owner appends as fast as it can. Once claim() has returned, the file never changes again.
TEST_P(VolumeContract, NothingIsWrittenOnceTheClaimHasReturned) {
  for (int round = 0; round < 10; ++round) {
    auto old_owner = claim();
    File log = create(*old_owner, "log");
    std::atomic<uint64_t> appended = 0;
    std::jthread writer([&] {
      for (;;) {
        if (!log->Append("0123456789", io_, nullptr).ok()) return;
        if (appended % 16 == 0 && !log->Sync(io_, nullptr).ok()) return;
        ++appended;
      }
    });
    while (appended < 100) std::this_thread::yield();
    auto new_owner = claim();
    const uint64_t bytes = size(*new_owner, new_owner->directory() + "/log");
    writer.join();
    EXPECT_EQ(size(*new_owner, new_owner->directory() + "/log"), bytes);
    EXPECT_GE(bytes, appended * 10) << "what succeeded is there";
    EXPECT_EQ(bytes % 10, 0U);
  }
}

// The same with the old owner in another process, which tells by its exit how it was refused.
TEST_P(VolumeContract, NothingIsWrittenByAnotherProcessEither) {
  for (int round = 0; round < 3; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto volume = place_->open();
      auto owner = volume->claim("p");
      if (!owner) ::_exit(1);
      (*owner)
          ->file_system()
          ->CreateDirIfMissing((*owner)->directory(), io_, nullptr)
          .PermitUncheckedError();
      File log;
      if (!(*owner)
               ->file_system()
               ->NewWritableFile((*owner)->directory() + "/log", {}, &log, nullptr)
               .ok())
        ::_exit(2);
      for (uint64_t i = 0;; ++i) {
        rocksdb::IOStatus status = log->Append("0123456789", io_, nullptr);
        if (!status.ok()) ::_exit(status.IsIOFenced() ? 42 : 3);
        if (i == 100 && ::write(ready[1], "r", 1) != 1) ::_exit(4);
      }
    }
    char byte = 0;
    ::close(ready[1]);
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    auto new_owner = claim();
    const uint64_t bytes = size(*new_owner, new_owner->directory() + "/log");
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
    EXPECT_EQ(size(*new_owner, new_owner->directory() + "/log"), bytes);
    EXPECT_EQ(bytes % 10, 0U);
  }
}

TEST_P(VolumeContract, LinksAcrossPartitionsCopyNothing) {
  auto owner = claim("p");
  const std::string block(1 << 20, 'x');
  File file = create(*owner, "big");
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(file->Append(block, io_, nullptr).ok());
  ASSERT_TRUE(file->Close(io_, nullptr).ok());
  auto target = volume_->clone_target("q");
  ASSERT_TRUE(target) << target.error().message;
  rocksdb::FileSystem& files = *owner->file_system();
  ASSERT_TRUE(files.CreateDir(*target, io_, nullptr).ok());
  const auto started = std::chrono::steady_clock::now();
  ASSERT_TRUE(files.LinkFile(owner->directory() + "/big", *target + "/big", io_, nullptr).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(1));
  auto clone = claim("q");
  EXPECT_EQ(clone->directory(), *target);
  EXPECT_EQ(size(*clone, *target + "/big"), 64ULL << 20);
  bool same = false;
  if (files.AreFilesSame(owner->directory() + "/big", *target + "/big", io_, &same, nullptr).ok()) {
    EXPECT_TRUE(same);
  }
  // Each goes its own way.
  ASSERT_TRUE(volume_->remove("p"));
  EXPECT_EQ(size(*clone, *target + "/big"), 64ULL << 20);
}

TEST_P(VolumeContract, ACloneTargetIsFreshAndDeposesWhatWasThere) {
  auto leftover = claim("q");
  write(*leftover, "CURRENT", "old");
  EXPECT_TRUE(volume_->exists("q"));
  auto target = volume_->clone_target("q");
  ASSERT_TRUE(target);
  EXPECT_FALSE(volume_->exists("q"));
  auto owner = claim("p");
  EXPECT_TRUE(owner->file_system()->FileExists(*target, io_, nullptr).IsNotFound());
  ASSERT_TRUE(owner->file_system()->CreateDir(*target, io_, nullptr).ok());
  File file;
  EXPECT_TRUE(
      leftover->file_system()->NewWritableFile(*target + "/x", {}, &file, nullptr).IsIOFenced());
}

}  // namespace orrery::volume
