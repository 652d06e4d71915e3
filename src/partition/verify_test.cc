// A partition that is as it should be has no flaw, whatever was done with it; and each kind of
// damage is found.
#include "partition/verify.h"

#include "partition/partition_fixture.h"
#include "partition/store.h"

namespace orrery::partition {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class VerifyTest : public PartitionTest {
 protected:
  VerifyTest() { partition_ = open(); }

  void done(Write write) {
    const Outcome outcome = commit(*partition_, std::move(write));
    ASSERT_FALSE(outcome.error) << outcome.error->message;
  }
  Verification verify() const {
    auto verified = partition_->verify(*schema_, {});
    EXPECT_TRUE(verified) << verified.error().message;
    return verified.value_or(Verification{});
  }
  static std::vector<std::string> texts(const Verification& found) {
    std::vector<std::string> all;
    for (const Flaw& flaw : found.flaws) all.push_back(flaw.what);
    return all;
  }
  // Changes the files behind the partition's back.
  void damage(const std::function<rocksdb::Status(rocksdb::DB&, Store&)>& change) {
    partition_.reset();
    {
      auto claim = once_free([&] { return volume_->claim("p1"); });
      ASSERT_TRUE(claim) << claim.error().message;
      auto store = Store::open(*shared_, *volume_, std::move(*claim), PartitionRecord{});
      ASSERT_TRUE(store) << store.error().message;
      const rocksdb::Status status = change((*store)->db(), **store);
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    partition_ = open();
  }
  std::string some_term(std::string_view path_begin) const {
    for (const auto& [term, key] : partition_->all_terms().value()) {
      if (term.find(path_begin) != std::string::npos)
        return term + item_key(key.placement, key.row);
    }
    ADD_FAILURE() << "no term has " << path_begin;
    return "";
  }

  std::shared_ptr<Partition> partition_;
};

TEST_F(VerifyTest, NothingIsWrongWithWhatWasWrittenChangedAndRemoved) {
  EXPECT_THAT(texts(verify()), IsEmpty()) << "nothing was written";
  schema_->unique_keys = {{path_of("/n")}};
  for (int i = 0; i < 300; ++i) {
    done(create("k" + std::to_string(i % 7), std::to_string(i),
                "\"n\":" + std::to_string(i) + ",\"tags\":[\"a\",{\"b\":1}],\"of\":{\"x\":null}"));
  }
  for (int i = 0; i < 100; ++i)
    done(replace("k" + std::to_string(i % 7), std::to_string(i), "\"n\":" + std::to_string(-i)));
  for (int i = 100; i < 150; ++i) done(remove("k" + std::to_string(i % 7), std::to_string(i)));
  Write purge = write_of(Verb::purge, "k3", "", schema_);
  purge.body.clear();
  done(std::move(purge));
  done(create("k3", "again", "\"n\":1003"));
  // Other index rules, which not every item has the terms of yet.
  auto newer = std::make_shared<Schema>(*schema_);
  newer->index = policy_of({{"/*", false}, {"/of/*", true}});
  newer->index_version = 2;
  schema_ = newer;
  for (int i = 200; i < 210; ++i)
    done(upsert("k" + std::to_string(i % 7), std::to_string(i),
                "\"n\":" + std::to_string(10'000 + i)));
  uint64_t told = 0;
  auto found = partition_->verify(*schema_, [&](uint64_t items) { told = items; }).value();
  EXPECT_THAT(texts(found), IsEmpty());
  EXPECT_EQ(found.usage.items, 251U);
  EXPECT_EQ(found.keys, 7U);
  EXPECT_GT(found.terms, 251U);
  EXPECT_EQ(found.usage.bytes, partition_->usage().bytes);
}

TEST_F(VerifyTest, ATermThatIsMissingIsNamed) {
  for (int i = 0; i < 20; ++i) done(create("a", std::to_string(i), "\"city\":\"Berlin\""));
  const std::string key = some_term("city");
  damage([&](rocksdb::DB& db, Store& store) { return db.Delete({}, store.terms(), key); });
  const Verification found = verify();
  ASSERT_EQ(found.flaws.size(), 1U);
  EXPECT_EQ(found.flaws[0].kind, Flaw::Kind::term);
  EXPECT_THAT(found.flaws[0].what, HasSubstr("is not found by /city"));
}

TEST_F(VerifyTest, ATermTooManyIsNamed) {
  done(create("a", "1", "\"city\":\"Berlin\""));
  done(create("a", "2", "\"city\":\"Rome\""));
  const std::string whole = some_term("Rome");
  const std::string term = whole.substr(0, whole.size() - item_key("a", "2").size());
  damage([&](rocksdb::DB& db, Store& store) {
    return db.Put({}, store.terms(), term + item_key("a", "1"), "");
  });
  EXPECT_THAT(
      texts(verify()),
      testing::ElementsAre(HasSubstr("item '1' by /city with a value that it does not have")));
  damage([&](rocksdb::DB& db, Store& store) {
    return db.Put({}, store.terms(), term + item_key("a", "gone"), "");
  });
  EXPECT_THAT(texts(verify()),
              testing::Contains(HasSubstr("item 'gone' by /city, and there is no such item")));
}

TEST_F(VerifyTest, MoreFlawsThanAreToldAreCounted) {
  for (int i = 0; i < 40; ++i) done(create("k" + std::to_string(i), "1"));
  damage([&](rocksdb::DB& db, Store& store) {
    for (int i = 0; i < 40; ++i) {
      auto deleted = db.Delete({}, store.ledger(), size_key("k" + std::to_string(i)));
      if (!deleted.ok()) return deleted;
    }
    return rocksdb::Status::OK();
  });
  const Verification found = verify();
  EXPECT_EQ(found.flaws.size(), kFlawsMax);
  EXPECT_EQ(found.more_flaws, 40 - kFlawsMax);
}

TEST_F(VerifyTest, SizesTotalsChangesAndUniqueValuesAreCompared) {
  schema_->unique_keys = {{path_of("/n")}};
  done(create("a", "1", "\"n\":1"));
  done(create("a", "2", "\"n\":2"));
  done(create("b", "1", "\"n\":1"));
  struct Case {
    const char* says;
    std::function<rocksdb::Status(rocksdb::DB&, Store&)> change;
    std::function<rocksdb::Status(rocksdb::DB&, Store&)> undo;
  };
  const std::string size = encode_size({.bytes = 7, .items = 2, .key_text = "[\"a\"]"});
  std::string size_before, record_before, change_before;
  const auto get = [](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& key,
                      std::string& into) { return db.Get({}, family, key, &into); };
  const std::string newest = change_key(partition_->read("b", "1").value()->version);
  const std::vector<Case> cases = {
      {"partition key [\"a\"] has 2 items of",
       [&](auto& db, auto& store) {
         get(db, store.ledger(), size_key("a"), size_before);
         return db.Put({}, store.ledger(), size_key("a"), size);
       },
       [&](auto& db, auto& store) {
         return db.Put({}, store.ledger(), size_key("a"), size_before);
       }},
      {"3 partition keys have a size recorded, and 2 have items",
       [&](auto& db, auto& store) { return db.Put({}, store.ledger(), size_key("nobody"), size); },
       [&](auto& db, auto& store) { return db.Delete({}, store.ledger(), size_key("nobody")); }},
      {"it has 3 items of",
       [&](auto& db, auto& store) {
         get(db, store.ledger(), std::string(kRecordKey), record_before);
         auto record = decode_record(record_before).value();
         ++record.items;
         return db.Put({}, store.ledger(), std::string(kRecordKey), encode_record(record));
       },
       [&](auto& db, auto& store) {
         return db.Put({}, store.ledger(), std::string(kRecordKey), record_before);
       }},
      {"the log of changes has 2 entries, and items have 3",
       [&](auto& db, auto& store) {
         get(db, store.changes(), newest, change_before);
         return db.Delete({}, store.changes(), newest);
       },
       [&](auto& db, auto& store) { return db.Put({}, store.changes(), newest, change_before); }},
      {"4 unique values are recorded, and items have 3",
       [&](auto& db, auto& store) {
         return db.Put({}, store.ledger(), unique_key("a", 0, "x"), "1");
       },
       [&](auto& db, auto& store) {
         return db.Delete({}, store.ledger(), unique_key("a", 0, "x"));
       }},
  };
  for (const Case& one : cases) {
    damage(one.change);
    EXPECT_THAT(texts(verify()), testing::ElementsAre(HasSubstr(one.says)));
    damage(one.undo);
    EXPECT_THAT(texts(verify()), IsEmpty()) << one.says;
  }
}

TEST_F(VerifyTest, AnItemThatCannotBeReadIsNamed) {
  done(create("a", "1"));
  damage([&](rocksdb::DB& db, Store& store) {
    std::string stored;
    auto got = db.Get({}, store.items(), item_key("a", "1"), &stored);
    stored.back() = '!';
    return got.ok() ? db.Put({}, store.items(), item_key("a", "1"), stored) : got;
  });
  EXPECT_THAT(texts(verify()), testing::Contains(HasSubstr("item '1': ")));
}

}  // namespace
}  // namespace orrery::partition
