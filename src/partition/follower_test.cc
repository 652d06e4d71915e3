// See follower.h: a partition that follows one of another process: what it shows, when, and what it
// survives.
#include "partition/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "partition/partition_fixture.h"
#include "partition/store.h"
#include "partition/view.h"

namespace orrery::partition {
namespace {

class FollowerTest : public testing::Test {
 protected:
  // Two volumes over one store, as two processes have.
  static std::unique_ptr<volume::Volume> open_volume(const std::string& directory,
                                                     const std::string& node) {
    std::shared_ptr<volume::ObjectStore> store = volume::open_directory_store(directory).value();
    return volume::open_object_volume(std::move(store), {.node_name = node}).value();
  }
  void SetUp() override {
    owner_ = Partition::open(shared_, *owner_volume_, "p-1", identity_).value();
  }
  std::shared_ptr<Partition> follow() {
    auto followed = partition::follow(other_shared_, *other_volume_, "p-1", identity_);
    EXPECT_TRUE(followed) << followed.error().message;
    return followed ? *followed : nullptr;
  }
  void put(std::string_view key, std::string_view members = "") {
    const Outcome done =
        commit(*owner_, write_of(Verb::upsert, key, "row", indexing_everything(), members));
    ASSERT_FALSE(done.error) << done.error->message;
  }
  static std::string body(const Partition& partition, std::string_view key) {
    auto read = partition.read(key, "row");
    if (!read) return read.error().message;
    return *read ? (*read)->body : "nothing";
  }

  TemporaryDirectory directory_;
  ManualClock clock_;
  Limits limits_;
  Shared shared_{limits_, clock_};
  Shared other_shared_{limits_, clock_};
  std::unique_ptr<volume::Volume> owner_volume_ = open_volume(directory_.path(), "a");
  std::unique_ptr<volume::Volume> other_volume_ = open_volume(directory_.path(), "b");
  const Partition::Identity identity_{.range = 1, .min = "", .max = "\xFF"};
  std::shared_ptr<Partition> owner_;
};

TEST_F(FollowerTest, ShowsWhatTheOwnerHadWhenItCaughtUp) {
  put("a", R"("n":1)");
  auto replica = follow();
  ASSERT_TRUE(replica);
  EXPECT_EQ(replica->lsn(), 1U);
  EXPECT_EQ(body(*replica, "a"), R"({"id":"row","n":1})");
  put("a", R"("n":2)");
  put("b");
  EXPECT_EQ(replica->lsn(), 1U);
  EXPECT_EQ(body(*replica, "a"), R"({"id":"row","n":1})");
  EXPECT_EQ(body(*replica, "b"), "nothing");
  auto caught_up = catch_up(*replica);
  ASSERT_TRUE(caught_up) << caught_up.error().message;
  EXPECT_EQ(replica->lsn(), 3U);
  EXPECT_EQ(body(*replica, "a"), R"({"id":"row","n":2})");
  EXPECT_EQ(items_of(*replica).size(), 2U);
  EXPECT_EQ(replica->usage().items, 2U);
  EXPECT_EQ(replica->all_terms().value(), owner_->all_terms().value());
  EXPECT_EQ(replica->changes({}, Schema{}).value().changes.size(), 2U);
}

TEST_F(FollowerTest, TakesNoWrites) {
  put("a");
  auto replica = follow();
  ASSERT_TRUE(replica);
  EXPECT_EQ(code_of(commit(*replica, write_of(Verb::upsert, "a", "row", indexing_everything()))),
            Code::elsewhere);
  put("a");  // and the owner is the owner
}

TEST_F(FollowerTest, FollowsFlushesAndANewOwner) {
  put("a", R"("n":1)");
  auto replica = follow();
  ASSERT_TRUE(replica);
  for (int i = 0; i < 5; ++i) {
    put("a", R"("n":2)");
    put("key" + std::to_string(i));
    ASSERT_TRUE(owner_->settle());  // flushes: the logs and old tables are deleted
    auto caught_up = catch_up(*replica);
    ASSERT_TRUE(caught_up) << caught_up.error().message;
    EXPECT_EQ(replica->lsn(), owner_->lsn());
    EXPECT_EQ(items_of(*replica).size(), items_of(*owner_).size());
  }
  owner_.reset();
  owner_ = Partition::open(shared_, *owner_volume_, "p-1", identity_).value();
  put("last");
  auto caught_up = catch_up(*replica);
  ASSERT_TRUE(caught_up) << caught_up.error().message;
  EXPECT_EQ(body(*replica, "last"), R"({"id":"row"})");
  EXPECT_EQ(replica->lsn(), owner_->lsn());
}

TEST_F(FollowerTest, AFileThatTheOwnerDeletedIsTheOwnersToAnswer) {
  const std::string big = R"("text":")" + std::string(100'000, 'x') + R"(")";
  put("a", big);
  ASSERT_TRUE(owner_->settle());
  auto replica = follow();
  ASSERT_TRUE(replica);
  other_shared_.caches->blocks->EraseUnRefEntries();
  // Another table has it all, and the one that the replica knows is deleted.
  owner_->flush_removals();
  put("a", R"("n":2)");
  for (int i = 0; i < 6; ++i) {
    put("a", big);
    ASSERT_TRUE(owner_->settle());
  }
  auto read = replica->read("a", "row");
  if (!read) EXPECT_EQ(read.error().code, Code::elsewhere);
  auto caught_up = catch_up(*replica);
  ASSERT_TRUE(caught_up) << caught_up.error().message;
  EXPECT_EQ(body(*replica, "a"), body(*owner_, "a"));
}

TEST_F(FollowerTest, ARemovedPartitionIsNotFollowed) {
  put("a");
  auto replica = follow();
  ASSERT_TRUE(replica);
  owner_.reset();
  ASSERT_TRUE(owner_volume_->remove("p-1", 0));
  auto caught_up = catch_up(*replica);
  ASSERT_FALSE(caught_up);
  EXPECT_EQ(caught_up.error().code, Code::not_found);
}

// Each transaction writes the same number into two items and removes nothing: whoever finds two
// numbers has seen half of one.
TEST_F(FollowerTest, EveryStateIsOneOfTheOwners) {
  put("a");
  auto replica = follow();
  ASSERT_TRUE(replica);
  std::atomic<bool> is_done = false;
  std::jthread writing([&] {
    for (int i = 0; i < 400; ++i) {
      const std::string members = R"("n":)" + std::to_string(i);
      const auto schema = indexing_everything();
      commit(*owner_, all_of(write_of(Verb::upsert, "k", "one", schema, members),
                             write_of(Verb::upsert, "k", "two", schema, members)));
      if (i % 20 == 0) ASSERT_TRUE(owner_->settle());
    }
    is_done = true;
  });
  uint64_t before = 0;
  for (bool last = false; !last;) {
    last = is_done;
    auto caught_up = catch_up(*replica);
    if (!caught_up && caught_up.error().code == Code::overloaded) {
      last = false;  // the owner flushes faster than this reads: it comes again
      continue;
    }
    ASSERT_TRUE(caught_up) << caught_up.error().message;
    ASSERT_GE(replica->lsn(), before);
    before = replica->lsn();
    std::map<std::string, Item> items;
    for (const auto& [key, item] : items_of(*replica)) {
      ASSERT_LE(item.version.lsn, replica->lsn());
      items[key.row] = item;
    }
    if (!items.contains("one")) continue;
    ASSERT_TRUE(items.contains("two"));
    const auto number = [](const std::string& text) { return text.substr(text.find("\"n\"")); };
    ASSERT_EQ(number(items["one"].body), number(items["two"].body));
    ASSERT_EQ(replica->all_terms().value(),
              expected_terms(*replica, value::IndexPolicy::everything()));
  }
  EXPECT_EQ(replica->lsn(), owner_->lsn());
}

}  // namespace
}  // namespace orrery::partition
