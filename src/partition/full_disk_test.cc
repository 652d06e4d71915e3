// A disk without space under a partition: at each operation in turn, at the opening, and for long.
#include <algorithm>
#include <random>
#include <thread>

#include "partition/faulty_volume.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

using testing::HasSubstr;

class FullDiskTest : public PartitionTest {
 protected:
  FullDiskTest() { volume_ = std::make_unique<FaultyVolume>(std::move(volume_), disk_); }

  // Closes it for sure: the writer's job may hold the last reference for a moment.
  void close(std::shared_ptr<Partition>& partition) {
    partition.reset();
    shared_.reset();
    shared_ = std::make_unique<Shared>(limits_, clock_);
  }
  // As a kill leaves it: what is in memory reaches no table.
  void kill(std::shared_ptr<Partition>& partition) {
    disk_->append = DiskFault::Error::no_space;
    close(partition);
    disk_->append = DiskFault::Error::none;
  }
  // Bytes that do not compress.
  std::string noise(size_t count) {
    std::string text = "\"t\":\"";
    for (size_t i = 0; i < count; ++i) text += static_cast<char>('a' + random_() % 26);
    return text + '"';
  }
  std::set<std::string> fill(Partition& partition, int items, size_t bytes) {
    std::set<std::string> rows;
    for (int i = 0; i < items; ++i) {
      const std::string row = std::to_string(i);
      const Outcome done = commit(partition, create("k" + row, row, noise(bytes)));
      EXPECT_FALSE(done.error) << done.error->message;
      rows.insert(row);
    }
    return rows;
  }
  static std::set<std::string> rows_of(const Partition& partition) {
    std::set<std::string> rows;
    for (const auto& [key, item] : items_of(partition)) rows.insert(key.row);
    return rows;
  }
  void expect_sound(const Partition& partition, const std::set<std::string>& rows) {
    EXPECT_EQ(rows_of(partition), rows);
    EXPECT_EQ(partition.usage().items, rows.size());
    EXPECT_EQ(partition.usage().bytes, recomputed_usage(partition).bytes);
    EXPECT_EQ(sorted_terms(partition), expected_terms(partition, schema_->index));
  }

  std::shared_ptr<DiskFault> disk_ = std::make_shared<DiskFault>();
  std::mt19937 random_{1};
};

TEST_F(FullDiskTest, RocksDbWritesNoLogFileOfItsOwn) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  close(partition);
  disk_->append = DiskFault::Error::no_space;
  partition = open();  // to be read only
  EXPECT_TRUE(files_of("p1", "LOG").empty());
  EXPECT_TRUE(files_of("p1", "LOG.old").empty());
}

TEST_F(FullDiskTest, WithoutRoomOnlyReadsAndRemovalsAreServed) {
  auto partition = open();
  std::set<std::string> rows = fill(*partition, 20, 1'000);
  disk_->low = true;
  for (const Write& write :
       {create("k", "new"), upsert("k", "new"), replace("k1", "1"), upsert("k1", "1")}) {
    const Outcome refused = commit(*partition, write);
    EXPECT_EQ(code_of(refused), Code::read_only);
    EXPECT_THAT(refused.error->message, HasSubstr("nearly full"));
  }
  EXPECT_EQ(code_of(commit(*partition, all_of(remove("k1", "1"), create("k1", "1")))),
            Code::read_only);
  EXPECT_EQ(partition->begin_split(kPlainKeys, "m").error().code, Code::read_only);
  EXPECT_EQ(partition->read_only_reason(), "") << "it does take removals";
  Write small_note = upsert("k", "note");
  small_note.needs_room = false;
  EXPECT_FALSE(commit(*partition, small_note).error);
  EXPECT_FALSE(commit(*partition, all_of(remove("k2", "2"), remove("k2", "3"))).error ==
               std::nullopt)
      << "a transaction is checked as ever";
  EXPECT_FALSE(commit(*partition, remove("k2", "2")).error);
  rows.erase("2");
  rows.insert("note");
  expect_sound(*partition, rows);
  disk_->low = false;
  EXPECT_FALSE(commit(*partition, create("k", "new")).error) << "it goes on by itself";
}

// What the disk had in its log is more than there is space for in tables.
TEST_F(FullDiskTest, ALogThatCannotBeFlushedIsOpenedAndTakesRemovals) {
  auto partition = open();
  std::set<std::string> rows = fill(*partition, 100, 40'000);  // two memtables' worth
  kill(partition);
  const size_t tables = files_of("p1", ".sst").size();
  for (const bool low : {true, false}) {  // told by the volume, or found out
    disk_->low = disk_->low_for_compaction = low;
    disk_->space_bytes = 600'000;
    partition = open();
    ASSERT_TRUE(partition);
    EXPECT_EQ(partition->read_only_reason(), "");
    EXPECT_EQ(rows_of(*partition), rows);
    for (int i = 0; i < 10; ++i) {
      const std::string row = *rows.begin();
      const Outcome done = commit(*partition, remove("k" + row, row));
      ASSERT_FALSE(done.error) << done.error->message;
      rows.erase(row);
    }
    expect_sound(*partition, rows);
    EXPECT_LE(files_of("p1", ".sst").size(), tables) << "the space is for the removals";
    kill(partition);
  }
  disk_->low = disk_->low_for_compaction = true;
  disk_->space_bytes = 600'000;
  partition = open();
  EXPECT_EQ(code_of(commit(*partition, create("k", "new"))), Code::read_only);
  // With room for it, it tries to flush, less and less often while that fails.
  disk_->low_for_compaction = false;
  for (const int64_t wait_ms : {1'000, 2'000, 4'000, 8'000}) {
    clock_.advance_ms(wait_ms - 1);
    const int hits = disk_->hits;
    EXPECT_EQ(code_of(commit(*partition, create("k", "new"))), Code::read_only);
    EXPECT_EQ(disk_->hits, hits) << wait_ms;
    clock_.advance_ms(1);
    EXPECT_EQ(code_of(commit(*partition, create("k", "new"))), Code::read_only);
    EXPECT_GT(disk_->hits, hits) << wait_ms;
  }
  EXPECT_EQ(partition->read_only_reason(), "");
  disk_->heal();
  EXPECT_EQ(code_of(commit(*partition, create("k", "new"))), Code::read_only) << "not yet";
  clock_.advance_ms(1'001);
  ASSERT_FALSE(commit(*partition, create("k", "new")).error);
  rows.insert("new");
  expect_sound(*partition, rows);
  EXPECT_GT(files_of("p1", ".sst").size(), tables) << "with room it flushes again";
  close(partition);
  partition = open();
  expect_sound(*partition, rows);
}

TEST_F(FullDiskTest, OnADiskThatTakesNothingItOpensToBeRead) {
  for (const DiskFault::Error error : {DiskFault::Error::no_space, DiskFault::Error::io}) {
    auto partition = open();
    ASSERT_TRUE(partition);
    ASSERT_FALSE(commit(*partition, upsert("k", "a")).error);
    ASSERT_FALSE(commit(*partition, upsert("k", "b")).error);
    const uint64_t lsn = partition->lsn();
    kill(partition);
    disk_->append = error;
    partition = open();
    ASSERT_TRUE(partition);
    EXPECT_THAT(partition->read_only_reason(),
                HasSubstr(error == DiskFault::Error::io ? "disk reports errors" : "free space"));
    expect_sound(*partition, {"a", "b"});
    EXPECT_EQ(partition->lsn(), lsn);
    for (int i = 0; i < 2; ++i) {
      const Outcome refused = commit(*partition, remove("k", "a"));
      EXPECT_EQ(code_of(refused), Code::read_only);
      EXPECT_THAT(refused.error->message, HasSubstr("takes no writes now"));
      EXPECT_FALSE(partition->begin_split(kPlainKeys, "m"));
      clock_.advance_ms(1'001);
    }
    disk_->heal();
    const Outcome removed = commit(*partition, remove("k", "a"));
    ASSERT_FALSE(removed.error) << removed.error->message;
    EXPECT_EQ(removed.lsn, lsn + 1);
    EXPECT_EQ(partition->read_only_reason(), "");
    expect_sound(*partition, {"b"});
    close(partition);
  }
}

TEST_F(FullDiskTest, AFailedCommitIsCutOffTheLogThoughThereIsNoSpaceToFlush) {
  auto partition = open();
  std::set<std::string> rows = fill(*partition, 40, 40'000);
  disk_->sync = DiskFault::Error::no_space;  // its bytes are in the log
  EXPECT_EQ(code_of(commit(*partition, create("k", "lost"))), Code::read_only);
  disk_->sync = DiskFault::Error::none;
  disk_->space_bytes = 600'000;
  clock_.advance_ms(1'001);
  for (const std::string row : {"1", "2"}) {
    const Outcome done = commit(*partition, remove("k" + row, row));
    ASSERT_FALSE(done.error) << done.error->message;
    rows.erase(row);
  }
  expect_sound(*partition, rows);
  kill(partition);
  disk_->heal();
  partition = open();
  expect_sound(*partition, rows);
}

TEST_F(FullDiskTest, AFlushWithoutSpaceLosesNothing) {
  auto partition = open();
  std::set<std::string> rows;
  disk_->space_bytes = 5'000'000;  // less than the flushes that follow need
  for (int i = 0; i < 400; ++i) {
    const std::string row = std::to_string(i);
    const Outcome done = commit(*partition, create("k" + row, row, noise(20'000)));
    if (!done.error) rows.insert(row);
    if (done.error) EXPECT_EQ(done.error->code, Code::read_only) << done.error->message;
    if (done.error) break;
  }
  EXPECT_GT(disk_->hits, 0);
  EXPECT_EQ(rows_of(*partition), rows);
  disk_->heal();
  clock_.advance_ms(1'001);
  ASSERT_FALSE(commit(*partition, create("k", "after")).error);
  rows.insert("after");
  expect_sound(*partition, rows);
  close(partition);
  partition = open();
  expect_sound(*partition, rows);
}

// A partition's life with everything that writes: opening, commits, a flush, a recovery, a split,
// trimming. Whatever fails is passed over.
struct Life {
  std::set<std::string> acknowledged;
  std::set<std::string> removed;
  std::vector<std::pair<std::string, Partition::Identity>> partitions;  // at the end
};

class DiskEndsTest : public FullDiskTest {
 protected:
  Life live(const std::string& name) {
    Life life;
    life.partitions = {{name, identity_}};
    auto partition = try_open(name).value_or(nullptr);
    auto put = [&](int from, int to) {
      for (int i = from; i < to; ++i) {
        const std::string row = std::to_string(i);
        const bool failed =
            commit(*partition, create("k" + row, row, noise(3'000))).error.has_value();
        if (!failed) life.acknowledged.insert(row);
      }
    };
    if (!partition) return life;
    put(0, 6);
    if (partition->begin_split(kPlainKeys, "m")) partition->abandon_split();  // flushes
    put(6, 9);
    // What failed may be found in the log by the next life, or not.
    if (commit(*partition, remove("k1", "1")).error) {
      life.acknowledged.erase("1");
    } else {
      life.removed.insert("1");
    }
    close(partition);
    partition = try_open(name).value_or(nullptr);
    if (!partition) return life;
    put(9, 10);
    if (auto cut = partition->begin_split(kPlainKeys, "m")) split(*partition, *cut, name, life);
    clock_.advance_ms(1'001);
    put(10, 11);
    return life;
  }

  void split(Partition& partition, const Cut& cut, const std::string& name, Life& life) {
    Partition::Children children;
    auto publish = [&](const Partition::Children& made) -> Status {
      children = made;
      return {};
    };
    if (!partition.finish_split(cut, {8, name + "l"}, {9, name + "r"}, publish)) {
      EXPECT_FALSE(volume_->exists(name + "l"));
      EXPECT_FALSE(volume_->exists(name + "r"));
      return;
    }
    life.partitions = {
        {name + "l", {.range = 8, .min = identity_.min, .max = cut.at}},
        {name + "r", {.range = 9, .min = cut.at, .max = identity_.max}},
    };
    for (const auto& child : {children.first, children.second}) static_cast<void>(child->trim());
  }
  // Lives again and again, with `fault` arranged at each n-th operation that `count` counts.
  void sweep(std::atomic<int64_t>& count, std::atomic<int64_t>& fault, uint32_t stride) {
    const Life undisturbed = live("whole");
    EXPECT_EQ(undisturbed.partitions.size(), 2U);
    const int64_t operations = count;
    ASSERT_GT(operations, 20);
    int tried = 0;
    int split = 0;
    for (int64_t n = 0; n < operations; n += 1 + random_() % stride, ++tried) {
      SCOPED_TRACE(n);
      fault = count + n;
      const Life life = live("p" + std::to_string(tried));
      shared_.reset();
      shared_ = std::make_unique<Shared>(limits_, clock_);
      disk_->heal();
      split += life.partitions.size() == 2 ? 1 : 0;
      std::set<std::string> rows;
      for (const auto& [name, identity] : life.partitions) {
        auto opened = Partition::open(*shared_, *volume_, name, identity);
        ASSERT_TRUE(opened) << opened.error().message;
        EXPECT_FALSE(commit(**opened, create(identity.min + "!", "after-" + name)).error);
        rows.merge(rows_of(**opened));
        expect_sound(**opened, rows_of(**opened));
      }
      for (const std::string& row : life.acknowledged) {
        EXPECT_EQ(rows.contains(row), !life.removed.contains(row)) << row;
      }
    }
    EXPECT_GT(tried, 5);
    EXPECT_GT(split, 0);
    EXPECT_GT(disk_->hits, 0);
  }
};

TEST_F(DiskEndsTest, WhereverTheSpaceEndsNobodyDiesAndNothingIsLost) {
  sweep(disk_->operations, disk_->full_from, 20);
}

TEST_F(DiskEndsTest, WhicheverSyncFailsNobodyDiesAndNothingIsLost) {
  sweep(disk_->syncs, disk_->syncs_fail_from, 4);
}

}  // namespace
}  // namespace orrery::partition
