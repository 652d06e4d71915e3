// Reading: pages of items, pages of changes, sizes, and that opening again gives the same. Also the
// comparison with a model over random writes.
#include <algorithm>
#include <random>
#include <thread>

#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

class ReadTest : public PartitionTest {
 protected:
  std::shared_ptr<Partition> partition_ = open();
};

TEST_F(ReadTest, ScanPagesThroughARangeInKeyOrder) {
  std::vector<ItemKey> expected;
  for (char key = 'a'; key < 'f'; ++key) {
    for (int row = 0; row < 7; ++row) {
      expected.push_back({std::string(1, key), std::to_string(row)});
      ASSERT_FALSE(
          commit(*partition_, create(expected.back().placement, expected.back().row)).error);
    }
  }
  std::erase_if(expected,
                [](const ItemKey& key) { return key.placement < "b" || key.placement >= "e"; });
  for (size_t items_max : {1, 2, 3, 7, 20, 21, 22, 100}) {
    std::vector<ItemKey> got;
    std::optional<ItemKey> after;
    for (;;) {
      auto page =
          partition_->scan("b", "e", after ? &*after : nullptr, items_max, SIZE_MAX, *schema_);
      ASSERT_TRUE(page);
      EXPECT_LE(page->items.size(), items_max);
      EXPECT_EQ(page->lsn, 35U);
      for (auto& [key, item] : page->items) got.push_back(key);
      EXPECT_EQ(page->more, got.size() < expected.size());
      if (!page->more) break;
      after = got.back();
    }
    EXPECT_EQ(got, expected) << items_max;
  }
  auto page = partition_->scan("b", "e", nullptr, 100, 2 * body_of("0").size(), *schema_);
  EXPECT_EQ(page->items.size(), 2U) << "bounded by bytes";
  EXPECT_TRUE(page->more);
  EXPECT_TRUE(partition_->scan("e", "b", nullptr, 100, SIZE_MAX, *schema_)->items.empty());
}

TEST_F(ReadTest, ChangesComeOnceEachInOrder) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_FALSE(commit(*partition_, create("k", std::to_string(i))).error);
  }
  ASSERT_FALSE(commit(*partition_, replace("k", "3", "\"n\":1")).error);
  ASSERT_FALSE(commit(*partition_, remove("k", "5")).error);
  std::vector<uint64_t> lsns;
  uint64_t after = 0;
  for (;;) {
    auto page = partition_->changes({.after = after, .items_max = 2}, *schema_);
    ASSERT_TRUE(page);
    for (const Change& change : page->changes) {
      EXPECT_EQ(change.item.version.lsn, change.lsn);
      lsns.push_back(change.lsn);
    }
    after = page->lsn;
    if (!page->more) break;
  }
  EXPECT_THAT(lsns, testing::ElementsAre(1, 2, 3, 5, 7, 8, 9, 10, 11));
  EXPECT_EQ(after, 12U);
  EXPECT_TRUE(partition_->changes({.after = after, .items_max = 2}, *schema_)->changes.empty());
  EXPECT_EQ(partition_->changes({.after = 100, .items_max = 2}, *schema_)->lsn, 100U)
      << "never back";
  EXPECT_EQ(partition_->changes({.items_max = 0}, *schema_)->changes.size(), 1U)
      << "always gets on";
}

TEST_F(ReadTest, AFollowerOfChangesMissesNothingWhileOthersWrite) {
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    for (int i = 0; i < 500; ++i) {
      ASSERT_FALSE(
          commit(*partition_, upsert("k", std::to_string(i % 37), "\"n\":" + std::to_string(i)))
              .error);
    }
    stop = true;
  });
  std::map<ItemKey, uint64_t> seen;
  uint64_t after = 0;
  for (bool last = false; !last;) {
    last = stop;
    for (bool more = true; more;) {
      auto page = partition_->changes({.after = after, .items_max = 5}, *schema_);
      ASSERT_TRUE(page) << page.error().message;
      for (const Change& change : page->changes) {
        EXPECT_GT(change.lsn, after);
        after = change.lsn;
        seen[change.key] = change.lsn;
      }
      EXPECT_GE(page->lsn, after);
      after = page->lsn;
      more = page->more;
    }
  }
  std::map<ItemKey, uint64_t> expected;
  for (const auto& [key, item] : items_of(*partition_)) expected[key] = item.version.lsn;
  EXPECT_EQ(seen, expected);
}

TEST_F(ReadTest, LargestGivesTheLargestFirst) {
  for (int i = 1; i <= 9; ++i) {
    ASSERT_FALSE(
        commit(
            *partition_,
            create(std::to_string(i), "a",
                   "\"t\":\"" + std::string(static_cast<size_t>((i * 7) % 10) * 100, 'x') + "\""))
            .error);
  }
  auto largest = partition_->largest(3).value();
  ASSERT_EQ(largest.size(), 3U);
  EXPECT_EQ(largest[0].key_text, "[\"7\"]");
  EXPECT_EQ(largest[1].key_text, "[\"4\"]");
  EXPECT_EQ(largest[2].key_text, "[\"1\"]");
  EXPECT_EQ(largest[0].usage.items, 1U);
  EXPECT_EQ(partition_->largest(100)->size(), 9U);
  EXPECT_TRUE(partition_->largest(0)->empty());
}

TEST_F(ReadTest, FilesOfAnotherRangeAreRefused) {
  partition_.reset();
  identity_.range = 8;
  auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::corrupt);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("range 7"));
}

// Random transactions against a model: items, terms, sizes, uniques, changes, and all of it again
// after opening again.
class RandomWritesTest : public PartitionTest, public testing::WithParamInterface<uint32_t> {
 protected:
  RandomWritesTest() {
    schema_ = indexing_everything();
    schema_->unique_keys = {{path_of("/u")}};
  }

  struct Entry {
    std::string body;
    uint64_t lsn;
  };
  using Model = std::map<ItemKey, Entry>;

  std::string random_members() {
    std::string out = "\"u\":" + std::to_string(random_() % 12);
    if (random_() % 2 != 0) out += ",\"n\":" + std::to_string(random_() % 3);
    if (random_() % 3 == 0) out += ",\"list\":[1,1," + std::to_string(random_() % 2) + "]";
    if (random_() % 5 == 0) out += ",\"o\":{\"p\":\"" + std::string(random_() % 2'000, 'y') + "\"}";
    return out;
  }

  // Every item is written again, as a rebuild of the index does.
  void change_index_rules() {
    schema_ = std::make_shared<Schema>(*schema_);
    ++schema_->index_version;
    schema_->index = random_() % 2 != 0 ? value::IndexPolicy::everything()
                                        : policy_of({{"/*", true}, {"/o/*", false}});
    for (auto& [key, entry] : model_) {
      Write again = upsert(key.placement, key.row);
      again.body = entry.body;
      Outcome outcome = commit(*partition_, again);
      ASSERT_FALSE(outcome.error) << outcome.error->message;
      entry.lsn = outcome.lsn;
      ++lsn_;
    }
  }

  // Whether another item of the logical partition has the body's value of the unique key.
  static bool is_taken(const Model& model, const ItemKey& key, const std::string& body) {
    const std::string mark = body.substr(body.find("\"u\":"));
    const std::string unique = mark.substr(0, mark.find_first_of(",}"));
    return std::ranges::any_of(model, [&](const auto& one) {
      const auto& [other, entry] = one;
      return other.placement == key.placement && other.row != key.row &&
             (entry.body.find(unique + ",") != std::string::npos ||
              entry.body.find(unique + "}") != std::string::npos);
    });
  }

  // Adds a random write to the transaction and to the model. False when it must fail.
  bool add_write(std::vector<Write>& transaction, Model& next) {
    const ItemKey key{std::string(1, static_cast<char>('a' + random_() % 3)),
                      std::to_string(random_() % 8)};
    const Verb verb =
        std::array{Verb::create, Verb::upsert, Verb::replace, Verb::remove}[random_() % 4];
    Write write = write_of(verb, key.placement, key.row, schema_, random_members());
    const bool there = next.contains(key);
    bool valid = !(verb == Verb::create && there) &&
                 !((verb == Verb::replace || verb == Verb::remove) && !there);
    if (verb == Verb::remove) {
      next.erase(key);
    } else {
      if (is_taken(next, key, write.body)) valid = false;
      next[key] = {write.body, lsn_ + 1};
    }
    transaction.push_back(std::move(write));
    return valid;
  }

  void commit_random_transaction() {
    Model next = model_;
    bool valid = true;
    std::vector<Write> transaction;
    for (size_t i = 0, count = 1 + random_() % 3; i < count; ++i) {
      if (!add_write(transaction, next)) valid = false;
    }
    const Outcome outcome = commit(*partition_, std::move(transaction));
    ASSERT_EQ(!outcome.error, valid) << (outcome.error ? outcome.error->message : "");
    if (!valid) return;
    model_ = std::move(next);
    ++lsn_;
  }

  void expect_model() {
    EXPECT_EQ(partition_->lsn(), lsn_);
    const auto items = items_of(*partition_);
    ASSERT_EQ(items.size(), model_.size());
    std::set<std::pair<uint64_t, ItemKey>> changes;
    for (const auto& [key, entry] : model_) {
      ASSERT_TRUE(items.contains(key));
      EXPECT_EQ(items.at(key).body, entry.body);
      EXPECT_EQ(items.at(key).version.lsn, entry.lsn);
      changes.emplace(entry.lsn, key);
    }
    EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
    EXPECT_EQ(partition_->usage().bytes, recomputed_usage(*partition_).bytes);
    EXPECT_EQ(partition_->usage().items, model_.size());
    std::set<std::pair<uint64_t, ItemKey>> listed;
    for (const Change& change : partition_->changes({.items_max = 1'000}, *schema_)->changes) {
      EXPECT_TRUE(listed.emplace(change.lsn, change.key).second);
    }
    EXPECT_EQ(listed, changes);
    Usage by_key;
    for (const auto& logical : partition_->largest(100).value()) {
      by_key.bytes += logical.usage.bytes;
      by_key.items += logical.usage.items;
    }
    EXPECT_EQ(by_key.bytes, partition_->usage().bytes);
    EXPECT_EQ(by_key.items, model_.size());
  }

  std::mt19937 random_{GetParam()};
  std::shared_ptr<Partition> partition_ = open();
  Model model_;
  uint64_t lsn_ = 0;
};

TEST_P(RandomWritesTest, AgreeWithAModel) {
  for (int step = 0; step < 400; ++step) {
    SCOPED_TRACE(step);
    if (step % 100 == 99) ASSERT_NO_FATAL_FAILURE(change_index_rules());
    ASSERT_NO_FATAL_FAILURE(commit_random_transaction());
  }
  expect_model();
  partition_.reset();
  partition_ = open();
  expect_model();
}

INSTANTIATE_TEST_SUITE_P(Each, RandomWritesTest, testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace orrery::partition
