// The memtable under RocksDB, against a map, and with readers beside its writer.
#include "partition/memtable.h"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace orrery::partition {
namespace {

// An order that this memtable does not have.
class Backwards final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "backwards"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class MemtableTest : public testing::Test {
 protected:
  MemtableTest() : folder_(testing::TempDir() + "memtable-" + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~MemtableTest() override {
    db_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open(const rocksdb::Comparator* comparator = rocksdb::BytewiseComparator()) {
    db_.reset();
    rocksdb::Options options;
    options.create_if_missing = true;
    options.memtable_factory = memtable_factory();
    options.allow_concurrent_memtable_write = false;
    options.comparator = comparator;
    rocksdb::DB* made = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options, folder_, &made);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    db_.reset(made);
  }

  void put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put({}, key, value).ok());
  }
  std::optional<std::string> get(const std::string& key, const rocksdb::Snapshot* at = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = at;
    std::string value;
    const rocksdb::Status status = db_->Get(options, key, &value);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    return status.ok() ? std::optional(value) : std::nullopt;
  }

  using Map = std::map<std::string, std::string>;
  // Everything, forwards and backwards, and a seek in both directions from each key.
  void expect_has(const Map& expected, const rocksdb::Snapshot* at = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = at;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
    Map found;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_EQ(found, expected);
    auto backwards = expected.rbegin();
    for (it->SeekToLast(); it->Valid(); it->Prev(), ++backwards) {
      ASSERT_NE(backwards, expected.rend());
      EXPECT_EQ(it->key().ToString(), backwards->first);
    }
    EXPECT_EQ(backwards, expected.rend());
    for (const auto& [key, value] : expected) {
      const std::string after = key + '\0';
      it->SeekForPrev(after);
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), expected.contains(after) ? after : key);
      it->Seek(key);
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->value().ToString(), value);
      const auto next = expected.lower_bound(after);
      it->Seek(after);
      ASSERT_EQ(it->Valid(), next != expected.end());
      if (it->Valid()) EXPECT_EQ(it->key().ToString(), next->first);
    }
  }

  const std::string folder_;
  std::unique_ptr<rocksdb::DB> db_;
};

// So that they sort as their numbers do.
std::string numbered(int i) {
  std::string digits = std::to_string(i);
  return std::string(6 - digits.size(), '0') + digits;
}

// Short keys of few bytes, so that they meet again; of a length from 0 to beyond a varint's byte.
std::string random_key(std::mt19937_64& random) {
  std::string key(random() % 4 == 0 ? 120 + random() % 20 : random() % 4, 'x');
  for (char& c : key) c = "\0\x01 a\x7F\x80\xFF"[random() % 7];
  return key;
}

TEST_F(MemtableTest, HasWhatAMapHasAtEverySnapshot) {
  open();
  for (const uint64_t seed : {1, 2, 3}) {
    std::mt19937_64 random(seed);
    Map expected;
    expect_has(expected);
    std::vector<std::pair<const rocksdb::Snapshot*, Map>> snapshots;
    for (int i = 0; i < 300; ++i) {
      rocksdb::WriteBatch batch;
      // In order as a commit's entries are, or as they come; one key several times as well.
      std::vector<std::string> keys(1 + random() % 20);
      for (std::string& key : keys) key = random_key(random);
      if (random() % 2 == 0) std::ranges::sort(keys);
      for (const std::string& key : keys) {
        if (random() % 4 == 0) {
          batch.Delete(key);
          expected.erase(key);
        } else {
          const std::string value = std::to_string(random());
          batch.Put(key, value);
          expected[key] = value;
        }
      }
      ASSERT_TRUE(db_->Write({}, &batch).ok());
      const std::string key = random_key(random);
      const auto known = expected.find(key);
      EXPECT_EQ(get(key), known == expected.end() ? std::nullopt : std::optional(known->second));
      if (i % 100 == 50) snapshots.emplace_back(db_->GetSnapshot(), expected);
    }
    expect_has(expected);
    for (const auto& [snapshot, then] : snapshots) {
      expect_has(then, snapshot);
      db_->ReleaseSnapshot(snapshot);
    }
    open();  // from the log, whose entries come in another order
    expect_has(expected);
    ASSERT_TRUE(db_->Flush({}).ok());
    expect_has(expected);
    for (const auto& [key, value] : expected) ASSERT_TRUE(db_->Delete({}, key).ok());
  }
}

// As the entries of an index are: many begin alike, for any number of bytes, and some are the
// beginning of others.
std::string index_key(uint64_t number) {
  std::mt19937_64 random(number);
  std::string key = "path" + std::to_string(random() % 5);
  if (random() % 100 == 0) key.resize(random() % key.size());
  if (random() % 2 == 0) key += "the same for all of these";
  if (random() % 4 != 0) key += '\0' + std::to_string(random() % 1000);
  if (random() % 4 != 0) key += std::to_string(random());
  return key;
}

enum class Order : uint8_t { random, upwards, downwards, from_the_middle };
class MemtableOrderTest : public MemtableTest, public testing::WithParamInterface<Order> {};

TEST_P(MemtableOrderTest, HasManyEntriesInWhateverOrderTheyCome) {
  open();
  constexpr uint64_t kEntries = 30'000;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kEntries; ++i) keys.push_back(index_key(i));
  if (GetParam() != Order::random) std::ranges::sort(keys);
  if (GetParam() == Order::downwards) std::ranges::reverse(keys);
  if (GetParam() == Order::from_the_middle) std::ranges::rotate(keys, keys.begin() + kEntries / 2);
  Map expected;
  rocksdb::WriteBatch batch;
  for (const std::string& key : keys) {
    expected[key] = std::to_string(expected.size());
    batch.Put(key, expected[key]);
  }
  ASSERT_TRUE(db_->Write({}, &batch).ok());
  expect_has(expected);
  for (uint64_t i = kEntries; i < 2 * kEntries; ++i) {
    const std::string key = index_key(i);
    const auto known = expected.find(key);
    ASSERT_EQ(get(key), known == expected.end() ? std::nullopt : std::optional(known->second));
  }
}

std::string name_of(const testing::TestParamInfo<Order>& test) {
  constexpr std::array kNames = {"Random", "Upwards", "Downwards", "FromTheMiddle"};
  return kNames[static_cast<size_t>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Orders, MemtableOrderTest,
                         testing::Values(Order::random, Order::upwards, Order::downwards,
                                         Order::from_the_middle),
                         name_of);

TEST_F(MemtableTest, CountsAboutWhatIsInARange) {
  open();
  constexpr int kEntries = 20'000;
  for (int i = 0; i < kEntries; ++i) put(numbered(i), "v");
  const std::string from = numbered(5000), to = numbered(15'000);
  uint64_t count = 0, bytes = 0;
  db_->GetApproximateMemTableStats(rocksdb::Range(from, to), &count, &bytes);
  EXPECT_GT(count, 2'500);
  EXPECT_LT(count, 40'000);
  db_->GetApproximateMemTableStats(rocksdb::Range(to, from), &count, &bytes);
  EXPECT_EQ(count, 0);
}

TEST_F(MemtableTest, ReadersBesideTheWriterSeeWholeEntriesInOrder) {
  open();
  std::atomic<int> written = 0;
  constexpr int kWrites = 20'000;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      while (written.load() < kWrites) {
        const int before = written.load();
        const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
        int found = 0;
        std::string last;
        for (it->SeekToFirst(); it->Valid(); it->Next(), ++found) {
          const std::string key = it->key().ToString();
          ASSERT_LT(last, key);
          ASSERT_EQ(it->value().ToString(), "value of " + key);
          last = key;
        }
        ASSERT_GE(found, before);
        if (before > 0) {
          ASSERT_TRUE(get(numbered((before - 1) * 7919 % kWrites)));
          it->SeekToLast();
          for (int steps = 0; it->Valid() && steps < 50; it->Prev(), ++steps) {
            ASSERT_LE(it->key().ToString(), last);
            last = it->key().ToString();
          }
        }
      }
    });
  }
  for (int i = 0; i < kWrites; ++i) {
    const std::string key = numbered(i * 7919 % kWrites);
    put(key, "value of " + key);
    written = i + 1;
  }
  for (std::thread& reader : readers) reader.join();
}

TEST_F(MemtableTest, ReadersBesideTheWriterFindWhatWasThere) {
  open();
  constexpr uint64_t kWrites = 30'000;
  std::atomic<uint64_t> written = 0;
  std::vector<std::thread> readers;
  for (uint64_t reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(reader);
      while (written.load() < kWrites) {
        const uint64_t before = written.load();
        if (before == 0) continue;
        // One of the newest as often as any: their places change.
        const uint64_t back = random() % 2 == 0 ? random() % 64 : random();
        const std::string key = index_key(before - 1 - back % before);
        ASSERT_TRUE(get(key)) << key;
        const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
        it->SeekForPrev(key);
        ASSERT_TRUE(it->Valid());
        ASSERT_EQ(it->key().ToString(), key);
      }
    });
  }
  for (uint64_t i = 0; i < kWrites; ++i) {
    put(index_key(i), "v");
    written = i + 1;
  }
  for (std::thread& reader : readers) reader.join();
}

TEST_F(MemtableTest, AnotherOrderIsLeftToRocksDb) {
  const Backwards backwards;
  open(&backwards);
  for (const char* key : {"b", "a", "c"}) put(key, "v");
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  std::string found;
  for (it->SeekToFirst(); it->Valid(); it->Next()) found += it->key().ToString();
  EXPECT_EQ(found, "cba");
}

}  // namespace
}  // namespace orrery::partition
