// Splitting: the choice of the cut, what the children hold, writers and followers that live through
// it, trimming, and failures at every step.
#include <rocksdb/db.h>

#include <functional>
#include <thread>

#include "base/fault.h"
#include "partition/faulty_volume.h"
#include "partition/partition_fixture.h"
#include "value/hash_twin.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;

class SplitTest : public PartitionTest {
 protected:
  std::shared_ptr<Partition> partition_ = open();

  static std::string key(int i) { return "k" + std::to_string(100 + i); }
  void fill(int keys, int rows = 1) {
    for (int i = 0; i < keys; ++i) {
      for (int row = 0; row < rows; ++row) {
        ASSERT_FALSE(
            commit(*partition_, create(key(i), std::to_string(row), "\"u\":" + std::to_string(row)))
                .error);
      }
    }
  }
  Result<Partition::Children> split(Partition& parent, uint32_t range = 8,
                                    const std::string& name = "c") {
    auto cut = parent.begin_split(kPlainKeys, "m");
    if (!cut) return pass(cut.error());
    Partition::Children children;
    auto times = parent.finish_split(*cut, {range, name + "1"}, {range + 1, name + "2"},
                                     [&](const Partition::Children& made) -> Status {
                                       children = made;
                                       return {};
                                     });
    if (!times) return pass(times.error());
    return children;
  }
  void expect_consistent(const Partition& partition) const {
    EXPECT_EQ(sorted_terms(partition), expected_terms(partition, schema_->index));
    const Usage usage = recomputed_usage(partition);
    EXPECT_EQ(partition.usage().bytes, usage.bytes);
    EXPECT_EQ(partition.usage().items, usage.items);
    for (const auto& [item_key, item] : items_of(partition)) {
      EXPECT_GE(item_key.placement, partition.identity().min);
      EXPECT_LT(item_key.placement, partition.identity().max);
    }
  }
  // Here and now: the writer's job may hold a reference for a moment after completing the caller.
  static void close(std::shared_ptr<Partition>& partition) {
    while (partition.use_count() > 1) std::this_thread::yield();
    partition.reset();
  }
  // What is in the files of a closed partition, whatever the range: keys per family.
  std::map<std::string, size_t> on_disk(std::string_view name) const {
    std::map<std::string, size_t> counts;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const char* family : {"default", "items", "terms", "changes"})
      families.push_back({family, {}});
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, database_of(name), families, &handles, &db).ok());
    for (size_t i = 0; i < handles.size(); ++i) {
      std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}, handles[i]));
      size_t& count = counts[families[i].name];
      for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
      EXPECT_TRUE(it->status().ok());
    }
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
    return counts;
  }
};

TEST_F(SplitTest, TheCutHalvesTheBytesAndNeverALogicalPartition) {
  // Nine small keys and one, the second, as large as all of them.
  for (int i = 0; i < 10; ++i) {
    const size_t size = i == 1 ? 9'000 : 1'000;
    ASSERT_FALSE(
        commit(*partition_, create(key(i), "a", "\"t\":\"" + std::string(size, 'x') + "\"")).error);
  }
  auto cut = partition_->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->at, key(2));
  EXPECT_EQ(cut->left.items, 2U);
  EXPECT_EQ(cut->right.items, 8U);
  EXPECT_EQ(cut->left.bytes + cut->right.bytes, partition_->usage().bytes);
  auto second = partition_->begin_split(kPlainKeys, "m");
  ASSERT_FALSE(second) << "two at once";
  EXPECT_EQ(second.error().code, Code::conflict);
  partition_->abandon_split();
  EXPECT_TRUE(partition_->begin_split(kPlainKeys, "m"));
  partition_->abandon_split();
}

// Keys of one hash are in one partition for ever, however many there are.
TEST_F(SplitTest, TheCutByLoadIsAtAKeyWithItemsOnBothSides) {
  for (const char* key : {"b", "d", "f", "h"}) {
    ASSERT_FALSE(commit(*partition_, create(key, "1")).error);
  }
  auto cut_at = [&](std::string_view key) {
    auto cut = partition_->begin_split(kPlainKeys, "", CutBy::load, key);
    partition_->abandon_split();
    EXPECT_TRUE(cut) << cut.error().message;
    if (!cut) return std::string();
    EXPECT_GT(cut->left.items, 0U);
    EXPECT_GT(cut->right.items, 0U);
    return cut->at;
  };
  EXPECT_EQ(cut_at("d"), "d");
  EXPECT_EQ(cut_at("e"), "f");
  EXPECT_EQ(cut_at("a"), "d");
  EXPECT_EQ(cut_at("z"), "h");
}

TEST_F(SplitTest, TheCutLeavesWhatDoesNotGrowTogether) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(commit(*partition_, create(std::to_string(100 + i), "1")).error);
  }
  auto left_items = [&](std::string_view growth) {
    auto cut = partition_->begin_split(kPlainKeys, "", CutBy::bytes, growth);
    partition_->abandon_split();
    EXPECT_TRUE(cut) << cut.error().message;
    return cut ? cut->left.items : 0;
  };
  EXPECT_EQ(left_items(""), 50U);
  EXPECT_EQ(left_items("120"), 50U);
  EXPECT_EQ(left_items("195"), 90U);
  EXPECT_EQ(left_items("999"), 90U);
}

TEST_F(SplitTest, TheCutNeverFallsBetweenKeysOfOneHash) {
  const value::KeyDefinition keys{.placement = value::Placement::hash_v2,
                                  .paths = {value::parse_property_path("/pk").value()}};
  const value::KeyPart alice{.type = value::Type::string, .text = "alice"};
  std::vector<std::string> twins = {value::place(keys, {alice})};
  for (unsigned i = 0; i < 3; ++i)
    twins.push_back(value::place(keys, {value::hash_twin(alice, i)}));
  for (const std::string& twin : twins) {
    ASSERT_FALSE(commit(*partition_, create(twin, "1", "\"u\":1")).error);
  }
  const std::string hash(value::effective_key(keys, twins[0]));
  EXPECT_EQ(partition_->begin_split(keys, hash).error().code, Code::conflict);

  const value::KeyPart bob{.type = value::Type::string, .text = "bob"};
  const std::string other = value::place(keys, {bob});
  ASSERT_FALSE(commit(*partition_, create(other, "1")).error);
  auto cut = partition_->begin_split(keys, hash);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->at, other < hash ? hash : value::effective_key(keys, other));
  EXPECT_EQ((other < hash ? cut->left : cut->right).items, 1U);
  EXPECT_EQ((other < hash ? cut->right : cut->left).items, 4U);
  partition_->abandon_split();
}

TEST_F(SplitTest, OneKeyCannotBeSplitAndNoneIsSplitWhereTold) {
  auto empty = partition_->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->at, "m");
  EXPECT_EQ(empty->left.items + empty->right.items, 0U);
  partition_->abandon_split();
  for (std::string_view fallback : {"", "\xFF", "\xFF\xFF"}) {
    EXPECT_EQ(partition_->begin_split(kPlainKeys, fallback).error().code, Code::conflict);
  }
  fill(1, 5);
  auto single = partition_->begin_split(kPlainKeys, "m");
  ASSERT_FALSE(single);
  EXPECT_EQ(single.error().code, Code::conflict);
  fill(0);
  EXPECT_FALSE(commit(*partition_, create("z", "a")).error) << "and it goes on";
  EXPECT_TRUE(partition_->begin_split(kPlainKeys, "m"));
}

TEST_F(SplitTest, InTheMiddleOneSideMayHaveEverything) {
  fill(1, 5);
  auto cut = partition_->begin_split(kPlainKeys, "m", CutBy::middle);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->at, "m");
  EXPECT_EQ(cut->left.items, 5U);
  EXPECT_EQ(cut->left.bytes, partition_->usage().bytes);
  EXPECT_EQ(cut->right.items, 0U);
  EXPECT_EQ(cut->right.bytes, 0U);
  partition_->abandon_split();
  for (std::string_view middle : {"", "\xFF", "\xFF\xFF"}) {
    EXPECT_EQ(partition_->begin_split(kPlainKeys, middle, CutBy::middle).error().code,
              Code::conflict);
  }
}

TEST_F(SplitTest, FinishingNeedsABeginning) {
  fill(2);
  EXPECT_FALSE(partition_->finish_split({"m", {}, {}}, {8, "c1"}, {9, "c2"},
                                        [](const auto&) { return Status(); }));
  EXPECT_FALSE(commit(*partition_, create("z", "a")).error);
}

TEST_F(SplitTest, ChildrenHoldTheirHalvesAndGoOn) {
  schema_->unique_keys = {{path_of("/u")}};
  fill(20, 3);
  const auto before = items_of(*partition_);
  const uint64_t lsn = partition_->lsn();
  auto children = split(*partition_);
  ASSERT_TRUE(children) << children.error().message;
  auto& [left, right] = *children;
  EXPECT_EQ(left->identity().max, right->identity().min);
  EXPECT_EQ(left->identity().range, 8U);
  EXPECT_EQ(left->lsn(), lsn);
  EXPECT_EQ(right->lsn(), lsn);
  auto after = items_of(*left);
  EXPECT_EQ(after.size(), 30U);
  after.merge(items_of(*right));
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [item_key, item] : before) {
    EXPECT_EQ(after.at(item_key).body, item.body);
    EXPECT_EQ(after.at(item_key).version, item.version) << "versions stay";
  }
  expect_consistent(*left);
  expect_consistent(*right);

  // The parent sends writers on, with what they brought.
  const Outcome moved = commit(*partition_, create(key(0), "new", "\"u\":9"));
  EXPECT_EQ(code_of(moved), Code::moved);
  ASSERT_EQ(moved.returned.size(), 1U);
  EXPECT_EQ(moved.returned[0].body, body_of("new", "\"u\":9"));
  EXPECT_EQ(partition_->begin_split(kPlainKeys, "m").error().code, Code::conflict);

  // Children go on from the parent's LSN, know the unique values, and refuse each other's keys.
  const Outcome fresh = commit(*left, create(key(0), "new", "\"u\":9"));
  EXPECT_EQ(fresh.lsn, lsn + 1);
  EXPECT_EQ(fresh.written[0].version.range, 8U);
  EXPECT_EQ(code_of(commit(*left, create(key(0), "clash", "\"u\":1"))), Code::conflict);
  EXPECT_EQ(code_of(commit(*left, create(key(19), "x", "\"u\":9"))), Code::moved);
  EXPECT_EQ(left->read(key(19), "0").error().code, Code::moved);
  std::string term = value::term_path(path_of("/u"));
  value::append_term_value(term, 0.0);
  EXPECT_EQ(right->find_by_term(term).value()->placement, right->identity().min);
}

TEST_F(SplitTest, PositionsInTheChangesStayValid) {
  fill(10, 2);
  const uint64_t position = 7;
  std::map<uint64_t, ItemKey> expected;
  for (const Change& change :
       partition_->changes({.after = position, .items_max = 100}, *schema_)->changes)
    expected[change.lsn] = change.key;
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  auto& [left, right] = *children;
  ASSERT_FALSE(commit(*left, replace(key(0), "0", "\"n\":1")).error);
  ASSERT_FALSE(commit(*right, replace(key(9), "0", "\"n\":1")).error);
  std::map<ItemKey, uint64_t> seen;
  for (const auto& child : {left, right}) {
    uint64_t last = position;
    for (const Change& change :
         child->changes({.after = position, .items_max = 100}, *schema_)->changes) {
      EXPECT_GT(change.lsn, last);
      last = change.lsn;
      EXPECT_TRUE(seen.emplace(change.key, change.lsn).second) << "by one child only";
    }
  }
  for (const auto& [lsn, item_key] : expected) EXPECT_TRUE(seen.contains(item_key)) << lsn;
  EXPECT_EQ(seen.size(), expected.size() + 1) << "the first item is new again, the rest once";
}

TEST_F(SplitTest, TrimmingRemovesTheOthersAndKeepsItsOwn) {
  schema_->unique_keys = {{path_of("/u")}};
  // Long texts too: their terms are cut and end differently.
  fill(20, 2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_FALSE(commit(*partition_,
                        create(key(i), "long", "\"u\":7,\"t\":\"" + std::string(3'000, 'x') + "\""))
                     .error);
  }
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  auto& [left, right] = *children;
  const auto items = items_of(*left);
  const Terms terms = sorted_terms(*left);
  const size_t changes = left->changes({.items_max = 1'000}, *schema_)->changes.size();
  ASSERT_TRUE(left->trim());
  ASSERT_TRUE(left->trim()) << "again does nothing";
  EXPECT_EQ(items_of(*left).size(), items.size());
  EXPECT_EQ(sorted_terms(*left), terms);
  EXPECT_EQ(left->changes({.items_max = 1'000}, *schema_)->changes.size(), changes);
  expect_consistent(*left);
  EXPECT_EQ(code_of(commit(*left, create(key(0), "clash", "\"u\":1"))), Code::conflict);
  const Partition::Identity left_identity = left->identity();
  const Partition::Identity right_identity = right->identity();
  close(left);
  close(right);
  auto counts = on_disk("c1");
  EXPECT_EQ(counts.at("items"), items.size());
  EXPECT_EQ(counts.at("terms"), terms.size());
  EXPECT_EQ(counts.at("changes"), changes);
  std::set<std::string> keys;
  for (const auto& [item_key, item] : items) keys.insert(item_key.placement);
  EXPECT_EQ(counts.at("default"), 1 + keys.size() + items.size() + 3)
      << "record, sizes, uniques, a definition and two shapes";
  EXPECT_EQ(on_disk("c2").at("items"), 60U) << "the other child is not touched";

  // Opened again, before and after trimming, it is the same.
  left = Partition::open(*shared_, *volume_, "c1", left_identity).value();
  EXPECT_EQ(items_of(*left).size(), items.size());
  right = Partition::open(*shared_, *volume_, "c2", right_identity).value();
  expect_consistent(*right);
  ASSERT_TRUE(right->trim());
  expect_consistent(*right);
}

TEST_F(SplitTest, AChildThatWasNotTrimmedOpensAndSplitsAgain) {
  fill(16, 2);
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  const Partition::Identity identity = children->first->identity();
  children->first.reset();
  auto left = Partition::open(*shared_, *volume_, "c1", identity);
  ASSERT_TRUE(left);
  expect_consistent(**left);
  auto grandchildren = split(**left, 20, "g");
  ASSERT_TRUE(grandchildren) << grandchildren.error().message;
  EXPECT_EQ(grandchildren->first->usage().items, 8U);
  for (Partition* child :
       {grandchildren->first.get(), grandchildren->second.get(), children->second.get()}) {
    expect_consistent(*child);
    ASSERT_TRUE(child->trim());
    expect_consistent(*child);
  }
  close(grandchildren->first);
  close(grandchildren->second);
  EXPECT_EQ(on_disk("g1").at("items"), 8U);
  EXPECT_EQ(on_disk("g2").at("items"), 8U);
}

TEST_F(SplitTest, TrimmingAndSplittingAtTheSameTimeIsSafe) {
  fill(40, 2);
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  auto left = children->first;
  std::jthread trimming([&] { EXPECT_TRUE(left->trim()); });
  auto grandchildren = split(*left, 20, "g");
  ASSERT_TRUE(grandchildren) << grandchildren.error().message;
  trimming.join();
  for (const auto& child : {grandchildren->first, grandchildren->second}) {
    expect_consistent(*child);
    ASSERT_TRUE(child->trim());
    expect_consistent(*child);
    EXPECT_EQ(child->usage().items, 20U);
  }
}

class SlowDiskTest : public SplitTest {
 protected:
  SlowDiskTest() {
    close(partition_);
    volume_ = std::make_unique<FaultyVolume>(std::move(volume_), disk_);
    partition_ = open();
  }
  static void wait_until(const std::function<bool()>& so) {
    while (!so()) std::this_thread::yield();
  }
  std::shared_ptr<DiskFault> disk_ = std::make_shared<DiskFault>();
};

// At any size: the trimming that it meets is not waited for, but left to the children.
TEST_F(SlowDiskTest, ASplitStopsTrimming) {
  fill(40, 2);
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  auto left = children->first;
  fault::arm("split.begin", fault::Action::error, 1'000);  // so that points are counted
  disk_->hold_tables = true;
  std::jthread trimming([&] { EXPECT_TRUE(left->trim()); });
  wait_until([&] { return disk_->held > 0; });  // it is compacting the index
  std::jthread letting_go([&] {
    wait_until([&] { return fault::passes("split.begin") > 0; });
    disk_->hold_tables = false;
    disk_->hold_tables.notify_all();
  });
  auto cut = left->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(cut) << cut.error().message;
  trimming.join();
  EXPECT_EQ(fault::passes("split.trimmed"), 0) << "the trimming was waited for";
  EXPECT_TRUE(left->trim()) << "nor is it begun during a split";
  EXPECT_EQ(fault::passes("split.trimmed"), 0);
  left->abandon_split();

  auto grandchildren = split(*left, 20, "g");
  ASSERT_TRUE(grandchildren) << grandchildren.error().message;
  for (auto* child : {&grandchildren->first, &grandchildren->second}) {
    expect_consistent(**child);
    ASSERT_TRUE((*child)->trim());
    expect_consistent(**child);
    EXPECT_EQ((*child)->usage().items, 20U);
    close(*child);
  }
  EXPECT_EQ(fault::passes("split.trimmed"), 2);
  EXPECT_EQ(on_disk("g1").at("items"), 20U);
  EXPECT_EQ(on_disk("g2").at("items"), 20U);
}

TEST_F(SlowDiskTest, AnAttemptToSplitOneKeyDoesNotStopTrimming) {
  fill(2, 20);
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  auto left = children->first;
  fault::arm("split.begin", fault::Action::error, 1'000);  // so that points are counted
  disk_->hold_tables = true;
  std::jthread trimming([&] { EXPECT_TRUE(left->trim()); });
  wait_until([&] { return disk_->held > 0; });
  auto refused = left->begin_split(kPlainKeys, "m");
  EXPECT_FALSE(refused);
  disk_->hold_tables = false;
  disk_->hold_tables.notify_all();
  trimming.join();
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(fault::passes("split.trimmed"), 1);
}

TEST_F(SplitTest, AFailureAtAnyStepLeavesTheParentWorking) {
  fill(10);
  int written = 10;
  for (std::string_view point :
       {"split.begin", "split.cloned_left", "split.cloned_right", "split.opened", "publish"}) {
    fault::disarm_all();
    fault::arm(point, fault::Action::error);
    auto cut = partition_->begin_split(kPlainKeys, "m");
    if (point == "split.begin") {
      EXPECT_FALSE(cut);
    } else {
      ASSERT_TRUE(cut) << point;
      auto finished =
          partition_->finish_split(*cut, {8, "c1"}, {9, "c2"},
                                   [&](const auto&) -> Status { return fault::point("publish"); });
      ASSERT_FALSE(finished) << point;
      EXPECT_THAT(finished.error().message, testing::HasSubstr(point));
    }
    EXPECT_EQ(fault::passes(point), 1U);
    EXPECT_THAT(volume_->list().value(), ElementsAre("p1")) << point;
    ASSERT_FALSE(commit(*partition_, create(key(50 + written), "a")).error) << point;
    ++written;
    expect_consistent(*partition_);
  }
  fault::disarm_all();
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  EXPECT_EQ(children->first->usage().items + children->second->usage().items, 15U);
}

TEST_F(SplitTest, WhatIsUnderAChildsNameIsLeftAlone) {
  fill(10);
  auto other = open("c2");
  ASSERT_FALSE(commit(*other, create("k", "precious")).error);
  auto refused = split(*partition_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(volume_->list().value(), ElementsAre("c2", "p1"))
      << "the left child is removed again";
  EXPECT_FALSE(commit(*other, create("k", "more")).error);
  close(other);
  EXPECT_EQ(items_of(*open("c2")).size(), 2U);
  EXPECT_FALSE(commit(*partition_, create("z", "a")).error) << "and the parent goes on";
  EXPECT_TRUE(split(*partition_, 8, "d"));
}

TEST_F(SplitTest, AFailedTrimCanBeDoneAgain) {
  fill(10);
  auto children = split(*partition_);
  ASSERT_TRUE(children);
  fault::arm("split.trimmed", fault::Action::error);
  EXPECT_FALSE(children->first->trim());
  fault::disarm_all();
  expect_consistent(*children->first);
  EXPECT_TRUE(children->first->trim());
  close(children->first);
  EXPECT_EQ(on_disk("c1").at("items"), 5U);
}

// Writers go on through a split: each tries the partition it knows and follows Code::moved into the
// children. Nothing is lost, nothing is there twice, totals are exact.
TEST_F(SplitTest, WritersAndFollowersLiveThroughIt) {
  fill(30);
  Mutex mutex;
  std::vector<std::shared_ptr<Partition>> map = {partition_};
  auto find = [&](const std::string& placement) {
    MutexLock lock(mutex);
    for (const auto& partition : map) {
      if (placement >= partition->identity().min && placement < partition->identity().max)
        return partition;
    }
    return std::shared_ptr<Partition>();
  };
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::atomic<int> moved = 0;
  std::vector<std::jthread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        std::vector<Write> transaction =
            one(upsert(key(i % 30), std::to_string(t) + "-" + std::to_string(i % 90),
                       "\"n\":" + std::to_string(i)));
        for (;;) {
          Outcome outcome = commit(*find(key(i % 30)), std::move(transaction));
          if (code_of(outcome) == Code::moved) {
            ++moved;
            transaction = std::move(outcome.returned);
            ASSERT_EQ(transaction.size(), 1U);
            continue;
          }
          ASSERT_FALSE(outcome.error) << outcome.error->message;
          break;
        }
        ++written;
      }
    });
  }
  auto wait_for = [&](int more) {
    for (const int goal = written + more; written < goal;) std::this_thread::yield();
  };
  wait_for(50);
  auto cut = partition_->begin_split(kPlainKeys, "m");
  ASSERT_TRUE(cut);
  wait_for(50);  // between beginning and finishing
  auto times = partition_->finish_split(*cut, {8, "c1"}, {9, "c2"},
                                        [&](const Partition::Children& made) -> Status {
                                          MutexLock lock(mutex);
                                          map = {made.first, made.second};
                                          return {};
                                        });
  ASSERT_TRUE(times) << times.error().message;
  wait_for(50);
  EXPECT_TRUE(find(key(0))->trim());
  wait_for(50);
  stop = true;
  writers.clear();
  std::map<ItemKey, Item> all;
  for (const auto& child : {find(key(0)), find(key(29))}) {
    expect_consistent(*child);
    all.merge(items_of(*child));
    std::map<uint64_t, ItemKey> changes;
    for (const Change& change : child->changes({.items_max = 100'000}, *schema_)->changes) {
      EXPECT_EQ(change.item.version.lsn, change.lsn);
      changes[change.lsn] = change.key;
    }
    EXPECT_EQ(changes.size(), child->usage().items);
  }
  EXPECT_GT(all.size(), 30U);
}

}  // namespace
}  // namespace orrery::partition
