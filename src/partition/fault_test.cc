// What the disk or the process can do to a partition: being killed, damaged files, a disk that is
// full or fails, a new owner.
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

#include "partition/faulty_volume.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

using testing::HasSubstr;

class FaultTest : public PartitionTest {
 protected:
  static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void spit(const std::string& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  // The log that is being written.
  std::string newest_log(std::string_view name) const { return files_of(name, ".log").back(); }
  const std::string self_ = std::filesystem::read_symlink("/proc/self/exe").string();

  std::shared_ptr<Partition> take_over() {
    return Partition::open(*shared_, *volume_, "p1", identity_, Partition::Opening::take_over)
        .value();
  }

  // Closes it for sure: the writer's job may hold the last reference for a moment.
  void close(std::shared_ptr<Partition>& partition) {
    partition.reset();
    shared_.reset();
    shared_ = std::make_unique<Shared>(limits_, clock_);
  }
};

// Another process writes and tells each acknowledgement through a pipe, until it is killed. It is
// this program again, running only this test, which does nothing unless told where.
constexpr const char* kChildRoot = "ORRERY_TEST_CHILD_ROOT";
constexpr const char* kChildRound = "ORRERY_TEST_CHILD_ROUND";
constexpr int kChildPipe = 1;  // standard output

TEST_F(FaultTest, DISABLED_WriteUntilKilled) {
  const char* root = ::getenv(kChildRoot);  // NOLINT(concurrency-mt-unsafe)
  if (root == nullptr) GTEST_SKIP() << "only as a child process";
  const auto round = static_cast<uint32_t>(std::stoul(::getenv(kChildRound)));  // NOLINT
  volume_ = volume::open_local_volume(root).value();
  auto partition = open();
  for (uint32_t i = 0;; ++i) {
    const uint32_t number = round << 24 | i;
    partition->submit(one(create("k", std::to_string(number))), [number](const Outcome& outcome) {
      // With a mark, since the test program writes its own lines there too.
      const std::string line = "\nack " + std::to_string(number) + "\n";
      if (outcome.error || ::write(kChildPipe, line.data(), line.size()) < 0) ::_exit(2);
    });
    if (i % 64 == 63) partition->drain();
  }
}

TEST_F(FaultTest, EveryAcknowledgedWriteSurvivesKillMinusNine) {
  std::mt19937 random(4);
  std::set<std::string> acknowledged;
  uint64_t lsn = 0;
  for (int round = 0; round < 4; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const std::string root = std::string(kChildRoot) + "=" + directory_.path();
    const std::string number = std::string(kChildRound) + "=" + std::to_string(round);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::dup2(ends[1], kChildPipe);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execl("/usr/bin/env", "env", root.c_str(), number.c_str(), self_.c_str(),
              "--gtest_also_run_disabled_tests", "--gtest_filter=*.DISABLED_WriteUntilKilled",
              nullptr);
      ::_exit(1);
    }
    ::close(ends[1]);
    const size_t wanted = acknowledged.size() + 200 + random() % 300;
    FILE* lines = ::fdopen(ends[0], "r");
    std::array<char, 200> line{};
    bool killed = false;
    // Past the kill too: what the pipe holds was acknowledged.
    while (::fgets(line.data(), line.size(), lines) != nullptr) {
      std::string_view text(line.data());
      if (!text.starts_with("ack ") || !text.ends_with('\n')) continue;
      acknowledged.emplace(text.substr(4, text.size() - 5));
      if (acknowledged.size() >= wanted && !killed) killed = ::kill(child, SIGKILL) == 0;
    }
    ::fclose(lines);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    ASSERT_GE(acknowledged.size(), wanted);

    auto partition = open();
    const auto items = items_of(*partition);
    for (const std::string& row : acknowledged) {
      EXPECT_TRUE(items.contains({"k", row})) << row;
    }
    EXPECT_EQ(sorted_terms(*partition), expected_terms(*partition, schema_->index));
    EXPECT_EQ(partition->usage().bytes, recomputed_usage(*partition).bytes);
    EXPECT_EQ(partition->usage().items, items.size());
    EXPECT_GT(partition->lsn(), lsn);
    lsn = partition->lsn();
    close(partition);
  }
}

TEST_F(FaultTest, DamageInTheMiddleOfTheLogIsSeen) {
  auto partition = open();
  for (int i = 0; i < 50; ++i)
    ASSERT_FALSE(commit(*partition, create("k", std::to_string(i))).error);
  close(partition);
  const std::string log = newest_log("p1");
  std::string bytes = slurp(log);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x40);
  spit(log, bytes);
  auto opened = try_open();
  ASSERT_FALSE(opened) << "opened with damage";
  EXPECT_EQ(opened.error().code, Code::corrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("damaged"));
  EXPECT_THAT(opened.error().message, HasSubstr(database_of("p1")));
}

TEST_F(FaultTest, DamageInATableIsSeenByReaders) {
  auto partition = open();
  const std::string text = "\"t\":\"" + std::string(2'000, 'x') + "\"";
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(commit(*partition, create("k" + std::to_string(i), "a", text)).error);
  }
  // A split that is begun flushes; giving it up leaves the tables.
  ASSERT_TRUE(partition->begin_split(kPlainKeys, "m"));
  partition->abandon_split();
  close(partition);
  const auto tables = files_of("p1", ".sst");
  ASSERT_FALSE(tables.empty());
  const auto largest = std::ranges::max_element(
      tables, {}, [](const std::string& path) { return std::filesystem::file_size(path); });
  for (const std::string& table : tables) {
    std::string bytes = slurp(table);
    for (size_t at = 10; at < bytes.size() / 2; at += 500)
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
    spit(table, bytes);
  }
  ASSERT_NE(largest, tables.end());
  // Fresh caches, or the blocks would be served from memory.
  shared_ = std::make_unique<Shared>(limits_, clock_);
  auto opened = try_open();
  if (!opened) {
    EXPECT_EQ(opened.error().code, Code::corrupt);
    return;
  }
  auto read = (*opened)->read("k5", "a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::corrupt);
  EXPECT_THAT(read.error().message, HasSubstr("damaged"));
  EXPECT_EQ((*opened)->scan("", "\xFF", nullptr, 1'000, SIZE_MAX, *schema_).error().code,
            Code::corrupt);
  EXPECT_EQ(code_of(commit(**opened, replace("k5", "a"))), Code::corrupt);
}

TEST_F(FaultTest, ALostBeginningIsNotTakenForANewPartition) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  close(partition);
  ASSERT_TRUE(std::filesystem::remove(database_of("p1") + "/CURRENT"));
  EXPECT_TRUE(volume_->exists("p1"));
  auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::corrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("CURRENT"));
}

TEST_F(FaultTest, ALostRecordIsNotTakenForANewPartition) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  close(partition);
  {
    // As its owner would: to the volume nothing is lost.
    auto claim = volume_->claim("p1").value();
    const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(claim->file_system());
    rocksdb::DB* db = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const char* name : {"default", "items", "terms", "changes", "history"})
      families.push_back({name, {}});
    rocksdb::DBOptions options;
    options.env = env.get();
    ASSERT_TRUE(rocksdb::DB::Open(options, database_of("p1"), families, &handles, &db).ok());
    ASSERT_TRUE(db->Delete({}, kRecordKey).ok());
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
  }
  auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::corrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("record"));
}

class LossTest : public FaultTest, public testing::WithParamInterface<Loss> {
 protected:
  // Twice five items, the first of them in tables.
  void fill() {
    for (int round = 0; round < 2; ++round) {
      auto partition = open();  // which writes what is in the log to tables
      for (int i = 0; i < 5; ++i) {
        const std::string row = std::to_string(round) + "-" + std::to_string(i);
        ASSERT_FALSE(commit(*partition, create("k", row)).error);
      }
      close(partition);
    }
  }
  void expect_noticed() {
    std::filesystem::copy(database_of("p1"), directory_.path() + "/copy",
                          std::filesystem::copy_options::recursive);
    GetParam().happen(database_of("p1"));
    for (int i = 0; i < 2; ++i) {
      auto opened = try_open();
      ASSERT_FALSE(opened) << "opened with less";
      EXPECT_EQ(opened.error().code, Code::corrupt) << opened.error().message;
      EXPECT_THAT(opened.error().message, HasSubstr(database_of("p1")));
    }
    // The advice: a copy.
    std::filesystem::remove_all(database_of("p1"));
    std::filesystem::rename(directory_.path() + "/copy", database_of("p1"));
    EXPECT_EQ(items_of(*open()).size(), 10U);
  }
};

TEST_P(LossTest, IsNoticed) {
  fill();
  expect_noticed();
}

TEST_P(LossTest, IsNoticedToAfterAnOrderlyEndWithRelaxedDurability) {
  shared_ = std::make_unique<Shared>(limits_, clock_, /*sync_commits=*/false);
  fill();
  expect_noticed();
}

INSTANTIATE_TEST_SUITE_P(Each, LossTest, testing::ValuesIn(losses()),
                         [](const auto& each) { return each.param.name; });

class DiskTest : public FaultTest {
 protected:
  DiskTest() { volume_ = std::make_unique<FaultyVolume>(std::move(volume_), disk_); }

  // The disk fails, is refused, recovers. Whatever failed is not there, whatever was acknowledged
  // is.
  void fail_and_recover(std::atomic<DiskFault::Error>& which, DiskFault::Error error,
                        std::string_view message) {
    schema_->unique_keys = {{path_of("/u")}};
    auto partition = open();
    for (int i = 0; i < 10; ++i) {
      ASSERT_FALSE(
          commit(*partition, create("k", std::to_string(i), "\"u\":" + std::to_string(i))).error);
    }
    which = error;
    const Outcome failed = commit(*partition, create("k", "lost", "\"u\":100"));
    ASSERT_TRUE(failed.error);
    EXPECT_EQ(failed.error->code, Code::read_only);
    EXPECT_THAT(failed.error->message, HasSubstr(message));
    EXPECT_GT(disk_->hits, 0);
    EXPECT_THAT(partition->read_only_reason(), HasSubstr(message));
    // Reads go on, writes are refused.
    EXPECT_EQ(items_of(*partition).size(), 10U);
    EXPECT_FALSE(partition->read("k", "lost").value());
    int hits = disk_->hits;
    const Outcome refused = commit(*partition, create("k", "refused", "\"u\":101"));
    EXPECT_EQ(code_of(refused), Code::read_only);
    EXPECT_THAT(refused.error->message, HasSubstr("takes no writes now"));
    // Still failing at the next attempts.
    for (int i = 0; i < 3; ++i) {
      clock_.advance_ms(1'001);
      EXPECT_EQ(code_of(commit(*partition, create("k", "refused", "\"u\":102"))), Code::read_only);
      EXPECT_GT(disk_->hits, hits);
      hits = disk_->hits;
      EXPECT_EQ(items_of(*partition).size(), 10U);
    }
    which = DiskFault::Error::none;
    EXPECT_EQ(code_of(commit(*partition, create("k", "early", "\"u\":103"))), Code::read_only);
    clock_.advance_ms(1'001);
    const Outcome recovered = commit(*partition, create("k", "after", "\"u\":100"));
    ASSERT_FALSE(recovered.error) << recovered.error->message;
    EXPECT_EQ(recovered.lsn, 11U);
    EXPECT_EQ(partition->read_only_reason(), "");
    for (int opened = 0; opened < 2; ++opened) {
      const auto items = items_of(*partition);
      EXPECT_EQ(items.size(), 11U);
      EXPECT_TRUE(items.contains({"k", "after"}));
      EXPECT_FALSE(items.contains({"k", "lost"})) << "a failed write came back";
      EXPECT_EQ(partition->lsn(), 11U);
      EXPECT_EQ(partition->usage().bytes, recomputed_usage(*partition).bytes);
      EXPECT_EQ(partition->usage().items, 11U);
      EXPECT_EQ(sorted_terms(*partition), expected_terms(*partition, schema_->index));
      EXPECT_EQ(partition->changes({.items_max = 100}, *schema_)->changes.size(), 11U);
      close(partition);
      partition = open();
    }
    for (int i = 0; i < 10; ++i) {
      EXPECT_FALSE(
          commit(*partition, replace("k", std::to_string(i), "\"u\":" + std::to_string(i))).error);
    }
  }

  std::shared_ptr<DiskFault> disk_ = std::make_shared<DiskFault>();
};

TEST_F(DiskTest, AFullDiskStopsWritesUntilThereIsSpace) {
  fail_and_recover(disk_->append, DiskFault::Error::no_space, "free space");
}
TEST_F(DiskTest, AFailingDiskStopsWritesUntilItRecovers) {
  fail_and_recover(disk_->append, DiskFault::Error::io, "disk reports errors");
}
TEST_F(DiskTest, ASyncThatFailsIsNotAcknowledgedThoughItsBytesAreInTheLog) {
  fail_and_recover(disk_->sync, DiskFault::Error::io, "disk reports errors");
}
TEST_F(DiskTest, ASyncWithoutSpaceIsNotAcknowledgedEither) {
  fail_and_recover(disk_->sync, DiskFault::Error::no_space, "free space");
}

// Half of its bytes reach the log, and the process ends before the log is cut there.
TEST_F(DiskTest, ALogThatEndsInTheMiddleOfACommitThatFailedOpens) {
  auto partition = open();
  for (int i = 0; i < 19; ++i)
    ASSERT_FALSE(commit(*partition, create("k", std::to_string(i))).error);
  const auto before = std::filesystem::file_size(newest_log("p1"));
  disk_->append = DiskFault::Error::no_space;
  EXPECT_TRUE(commit(*partition, create("k", "lost")).error);
  EXPECT_GT(std::filesystem::file_size(newest_log("p1")), before);
  disk_->append = DiskFault::Error::none;
  close(partition);
  for (int i = 0; i < 2; ++i) {
    partition = open();
    ASSERT_TRUE(partition);
    EXPECT_EQ(items_of(*partition).size(), 19U);
    EXPECT_EQ(partition->lsn(), 19U);
    EXPECT_EQ(partition->usage().items, 19U);
    EXPECT_EQ(sorted_terms(*partition), expected_terms(*partition, schema_->index));
    close(partition);
  }
}

TEST_F(DiskTest, AnInjectedFailureThatRocksDbNeverSawRecoversToo) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  fault::arm("partition.commit", fault::Action::error);
  EXPECT_EQ(code_of(commit(*partition, create("k", "b"))), Code::read_only);
  fault::disarm_all();
  EXPECT_EQ(code_of(commit(*partition, create("k", "b"))), Code::read_only);
  clock_.advance_ms(1'001);
  EXPECT_FALSE(commit(*partition, create("k", "b")).error);
  EXPECT_EQ(partition->lsn(), 2U);
}

TEST_F(DiskTest, ReadersAndWritersLiveThroughFailures) {
  auto partition = open();
  std::atomic<bool> stop = false;
  std::set<std::string> acknowledged;
  std::set<std::string> failed;
  std::vector<std::jthread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        auto page = partition->scan("", "\xFF", nullptr, 50, SIZE_MAX, Schema{});
        ASSERT_TRUE(page) << page.error().message;
        for (const auto& [key, item] : page->items) {
          auto read = partition->read(key.placement, key.row);
          ASSERT_TRUE(read) << read.error().message;
          EXPECT_TRUE(read->has_value());
        }
        ASSERT_TRUE(partition->changes({.items_max = 50}, *schema_));
      }
    });
  }
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string row = std::to_string(round) + "-" + std::to_string(i);
      if (i == 10) (round % 2 == 0 ? disk_->append : disk_->sync) = DiskFault::Error::io;
      (commit(*partition, create("k", row)).error ? failed : acknowledged).insert(row);
    }
    disk_->append = disk_->sync = DiskFault::Error::none;
    clock_.advance_ms(1'001);
  }
  ASSERT_FALSE(commit(*partition, create("k", "last")).error);
  acknowledged.insert("last");
  stop = true;
  readers.clear();
  std::set<std::string> rows;
  for (const auto& [key, item] : items_of(*partition)) rows.insert(key.row);
  EXPECT_EQ(rows, acknowledged);
  EXPECT_EQ(failed.size(), 60U);
}

// All that is submitted in a completion is taken by the run after it.
TEST_F(DiskTest, WhatAFailedRunWouldHaveChangedIsNoReasonToRefuse) {
  auto partition = open();
  auto newer = std::make_shared<Schema>(*schema_);
  newer->index_version = schema_->index_version + 1;
  ASSERT_FALSE(commit(*partition, create("k", "there")).error);
  std::vector<std::vector<Write>> run;
  run.push_back(one(create("k", "there")));  // refused by what is stored
  run.push_back(one(write_of(Verb::create, "k", "new", newer)));
  run.push_back(one(write_of(Verb::create, "k", "new", newer)));  // the one before has made it
  run.push_back(one(write_of(Verb::remove, "k", "there", newer)));
  run.push_back(one(write_of(Verb::replace, "k", "there", newer)));  // is gone
  run.push_back(one(create("k", "older rules")));
  std::promise<void> done;
  std::vector<Outcome> outcomes;
  partition->submit(one(upsert("k", "first")), [&](const Outcome&) {
    disk_->append = DiskFault::Error::no_space;
    const size_t count = run.size();
    for (std::vector<Write>& transaction : run) {
      partition->submit(std::move(transaction), [&, count](Outcome outcome) {
        outcomes.push_back(std::move(outcome));
        if (outcomes.size() == count) done.set_value();
      });
    }
  });
  done.get_future().wait();
  EXPECT_EQ(disk_->hits, 1) << "they were one commit";
  EXPECT_EQ(code_of(outcomes[0]), Code::conflict);
  for (size_t i = 1; i < outcomes.size(); ++i) {
    EXPECT_EQ(code_of(outcomes[i]), Code::read_only) << i;
    EXPECT_EQ(outcomes[i].failed_write, std::nullopt) << i;
    EXPECT_EQ(outcomes[i].lsn, 2U) << i;
  }
  disk_->heal();
  clock_.advance_ms(1'001);
  EXPECT_FALSE(commit(*partition, create("k", "older rules")).error);
  EXPECT_FALSE(commit(*partition, write_of(Verb::replace, "k", "there", newer)).error);
  EXPECT_FALSE(commit(*partition, write_of(Verb::create, "k", "new", newer)).error);
}

TEST_F(DiskTest, ASplitOnAFullDiskLeavesThePartitionAsItWas) {
  auto partition = open();
  for (int i = 0; i < 10; ++i)
    ASSERT_FALSE(commit(*partition, create(std::to_string(i), "a")).error);
  auto cut = partition->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(cut);
  ASSERT_FALSE(commit(*partition, create("5", "b")).error);
  disk_->append = DiskFault::Error::no_space;
  auto finished =
      partition->finish_split(*cut, {8, "c8"}, {9, "c9"}, [](const auto&) { return Status(); });
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::read_only);
  disk_->append = DiskFault::Error::none;
  EXPECT_FALSE(volume_->exists("c8"));
  EXPECT_FALSE(volume_->exists("c9"));
  commit(*partition, create("5", "c"));
  clock_.advance_ms(1'001);
  EXPECT_FALSE(commit(*partition, create("5", "d")).error);
  EXPECT_TRUE(items_of(*partition).contains({"5", "b"}));
}

TEST_F(FaultTest, OpeningAPartitionThatIsServedElsewhereChangesNothingThere) {
  auto owner = open();
  const uint64_t epoch = owner->epoch();
  ASSERT_FALSE(commit(*owner, create("k", "a")).error);
  auto elsewhere = volume::open_local_volume(directory_.path()).value();
  for (int i = 0; i < 3; ++i) {
    auto refused = Partition::open(*shared_, *elsewhere, "p1", identity_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::moved);
    EXPECT_FALSE(commit(*owner, create("k", std::to_string(i))).error);
  }
  close(owner);
  EXPECT_EQ(open()->epoch(), epoch + 1);
}

TEST_F(FaultTest, ADeposedPartitionCannotWriteAndItsWritesAreNeverSeen) {
  auto old_owner = open();
  ASSERT_FALSE(commit(*old_owner, create("k", "a")).error);
  auto new_owner = take_over();
  EXPECT_TRUE(items_of(*new_owner).contains({"k", "a"}));
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = commit(*old_owner, create("k", "old" + std::to_string(i)));
    EXPECT_EQ(code_of(outcome), Code::read_only);
    EXPECT_THAT(outcome.error->message, HasSubstr("another owner has taken this partition over"));
    clock_.advance_ms(1'001);
  }
  ASSERT_FALSE(commit(*new_owner, create("k", "b")).error);
  EXPECT_EQ(items_of(*new_owner).size(), 2U);
  EXPECT_EQ(items_of(*old_owner).size(), 1U) << "it may still read what it had";
  old_owner.reset();
  close(new_owner);
  EXPECT_EQ(items_of(*open()).size(), 2U);
}

TEST_F(FaultTest, OwnersThatFightLoseNothingThatWasAcknowledged) {
  std::set<std::string> acknowledged;
  std::shared_ptr<Partition> owner = open();
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> stop = false;
    std::vector<std::string> mine;
    std::jthread writer([&, old = owner] {
      for (int i = 0; !stop; ++i) {
        const std::string row = std::to_string(round) + "-" + std::to_string(i);
        if (!commit(*old, create("k", row)).error) mine.push_back(row);
      }
    });
    while (owner->usage().items < acknowledged.size() + 5) std::this_thread::yield();
    auto next = take_over();
    const auto items = items_of(*next);
    stop = true;
    writer.join();
    for (const std::string& row : mine) EXPECT_TRUE(items.contains({"k", row})) << row;
    for (const std::string& row : acknowledged) EXPECT_TRUE(items.contains({"k", row})) << row;
    for (const auto& [key, item] : items) acknowledged.insert(key.row);
    EXPECT_EQ(items_of(*next).size(), items.size()) << "a deposed write became visible";
    owner = next;
  }
}

}  // namespace
}  // namespace orrery::partition
