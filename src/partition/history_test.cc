// Every write, deletions included: what is kept, for how long, and in the children of a split.
#include "partition/history_entry.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

using testing::ElementsAre;

class HistoryTest : public PartitionTest {
 protected:
  HistoryTest() {
    clock_.set_now_s(1'000);
    schema_->history_s = 600;
    partition_ = open();
  }
  void done(Write write) {
    auto outcome = commit(*partition_, std::move(write));
    ASSERT_FALSE(outcome.error) << outcome.error->message;
  }
  // "replace 1@3<2": what happened to row 1 at LSN 3, which was last written at LSN 2.
  static std::string text_of(const Event& event) {
    static constexpr std::array kNames = {"", "create", "replace", "remove", "expire", "edit"};
    std::string text = std::string(kNames[static_cast<size_t>(event.operation)]) + " " +
                       event.key.row + "@" + std::to_string(event.lsn);
    if (event.previous_lsn != 0) text += "<" + std::to_string(event.previous_lsn);
    return text;
  }
  static std::vector<std::string> events_of(const Partition& partition, const ChangeQuery& query) {
    auto page = partition.history(query);
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> events;
    if (page) std::ranges::transform(page->events, std::back_inserter(events), text_of);
    return events;
  }
  std::vector<std::string> events(const ChangeQuery& query = {}) {
    return events_of(*partition_, query);
  }

  std::shared_ptr<Partition> partition_;
};

TEST_F(HistoryTest, BeginsAtATime) {
  done(create("k", "1"));
  clock_.set_now_s(1'005);
  done(replace("k", "1", "\"n\":1"));
  clock_.set_now_s(1'010);
  done(replace("k", "1", "\"n\":2"));
  EXPECT_EQ(partition_->history_position_at(1'000).value(), 0U);
  EXPECT_EQ(partition_->history_position_at(1'001).value(), 1U);
  EXPECT_EQ(partition_->history_position_at(1'005).value(), 1U);
  EXPECT_EQ(partition_->history_position_at(1'006).value(), 2U);
  EXPECT_EQ(partition_->history_position_at(2'000).value(), 3U);
}

TEST_F(HistoryTest, TellsEditsFromReplacements) {
  done(create("k", "1"));
  Write edit = replace("k", "1", "\"n\":1");
  edit.is_edit = true;
  done(edit);
  done(replace("k", "1"));
  EXPECT_THAT(events(), ElementsAre("create 1@1", "edit 1@2<1", "replace 1@3<2"));
}

TEST_F(HistoryTest, EveryWriteWithWhatWasBefore) {
  done(create("k", "1", "\"n\":1"));
  done(upsert("k", "1", "\"n\":2"));
  done(upsert("k", "2"));
  done(remove("k", "1"));
  EXPECT_THAT(events(), ElementsAre("create 1@1", "replace 1@2<1", "create 2@3", "remove 1@4<2"));
  auto page = partition_->history({});
  EXPECT_EQ(page->events[1].body, body_of("1", "\"n\":2"));
  EXPECT_EQ(page->events[1].previous_body, body_of("1", "\"n\":1"));
  EXPECT_EQ(page->events[3].body, "");
  EXPECT_EQ(page->events[3].previous_body, body_of("1", "\"n\":2"));
  EXPECT_EQ(page->events[3].time_s, 1'000U);
  EXPECT_EQ(page->lsn, 4U);
  partition_.reset();
  partition_ = open();
  EXPECT_THAT(events({.after = 2}), ElementsAre("create 2@3", "remove 1@4<2"));
}

TEST_F(HistoryTest, PagesByCountBytesAndKeys) {
  for (int i = 1; i <= 5; ++i) done(create(i % 2 == 0 ? "b" : "a", std::to_string(i)));
  auto page = partition_->history({.items_max = 2});
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->lsn, 2U);
  EXPECT_THAT(events({.after = 2, .bytes_max = 1}), ElementsAre("create 3@3"));
  EXPECT_THAT(events({.min = "b", .max = "c"}), ElementsAre("create 2@2", "create 4@4"));
}

TEST_F(HistoryTest, ExpiryIsToldApartFromRemoval) {
  schema_->default_life_ms = 10'000;
  done(create("k", "collected"));
  done(create("k", "overwritten"));
  clock_.set_now_s(1'100);
  done(upsert("k", "overwritten"));
  ASSERT_EQ(partition_->collect_expired(schema_, kOneForEach, 100, 1e9, [](double) {}), 1U);
  partition_->drain();
  EXPECT_THAT(events({.after = 2}), ElementsAre("expire overwritten@3<2", "create overwritten@3",
                                                "expire collected@4<1"));
  auto page = partition_->history({.after = 2, .items_max = 1});
  EXPECT_EQ(page->events.size(), 2U) << "the entries of one write stay together";
  EXPECT_EQ(page->lsn, 3U);
}

TEST_F(HistoryTest, AnExpiredHolderOfAUniqueValueIsRemembered) {
  schema_->unique_keys = {{path_of("/u")}};
  schema_->default_life_ms = 10'000;
  done(create("k", "1", "\"u\":5"));
  clock_.set_now_s(1'100);
  done(create("k", "2", "\"u\":5"));
  EXPECT_THAT(events(), ElementsAre("create 1@1", "expire 1@2<1", "create 2@2"));
}

TEST_F(HistoryTest, ItBeginsWhenItIsAskedForAndEndsWhenItIsNot) {
  auto without = indexing_everything();
  done(write_of(Verb::create, "k", "1", without));
  EXPECT_TRUE(partition_->history({.after = 1})) << "nothing was written since";
  ASSERT_FALSE(partition_->history({}));
  done(create("k", "2"));
  EXPECT_THAT(events({.after = 1}), ElementsAre("create 2@2"));
  auto before = partition_->history({});
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, Code::invalid);
  // A container that gives its history up gets a new version of its index rules.
  without = std::make_shared<Schema>(*without);
  without->index_version = schema_->index_version + 1;
  done(write_of(Verb::upsert, "k", "1", without));
  EXPECT_FALSE(partition_->history({.after = 1})) << "what came after it was not kept";
  schema_->index_version = without->index_version;
  done(create("k", "3"));
  EXPECT_FALSE(partition_->history({.after = 1}));
  EXPECT_THAT(events({.after = 3}), ElementsAre("create 3@4"));
}

TEST_F(HistoryTest, AWriteFromBeforeItBeganIsRememberedToo) {
  const auto without = indexing_everything();
  done(write_of(Verb::create, "k", "1", without));
  ASSERT_TRUE(partition_->reindex(schema_, 1)) << "it begins without a write";
  EXPECT_EQ(partition_->lsn(), 1U);
  done(write_of(Verb::create, "k", "2", without));
  done(create("k", "3"));
  done(write_of(Verb::upsert, "k", "1", without));
  EXPECT_THAT(events({.after = 1}), ElementsAre("create 2@2", "create 3@3", "replace 1@4<1"));
}

TEST_F(HistoryTest, AFailedTransactionLeavesNothing) {
  done(create("k", "1"));
  EXPECT_TRUE(commit(*partition_, all_of(create("k", "2"), create("k", "1"))).error);
  done(create("k", "3"));
  EXPECT_THAT(events(), ElementsAre("create 1@1", "create 3@2"));
}

TEST_F(HistoryTest, OldOnesAreForgotten) {
  for (int i = 0; i < 20; ++i) {
    clock_.set_now_s(1'000 + 10 * i);
    done(create("k", std::to_string(i)));
  }
  ASSERT_TRUE(partition_->forget_history(900));
  EXPECT_EQ(events().size(), 20U) << "none is that old";
  ASSERT_TRUE(partition_->forget_history(1'150));
  EXPECT_FALSE(partition_->history({.after = 14}));
  EXPECT_THAT(events({.after = 15}), ElementsAre("create 15@16", "create 16@17", "create 17@18",
                                                 "create 18@19", "create 19@20"));
  partition_.reset();
  partition_ = open();
  EXPECT_FALSE(partition_->history({.after = 14}));
  ASSERT_TRUE(partition_->forget_history(INT64_MAX));
  EXPECT_FALSE(partition_->history({.after = 19}));
  EXPECT_THAT(events({.after = 20}), ElementsAre());
  done(create("k", "later"));
  EXPECT_THAT(events({.after = 20}), ElementsAre("create later@21"));
  EXPECT_EQ(partition_->changes({}, *schema_)->changes.size(), 21U) << "the items are all there";
}

// What was written while the clock was ahead, and before it, is kept until the clock gets there.
TEST_F(HistoryTest, NothingIsForgottenEarlyForAClockThatWentBack) {
  for (const int64_t now_s : {1'000, 9'000, 9'010, 1'020, 1'030}) {
    clock_.set_now_s(now_s);
    done(upsert("k", std::to_string(now_s)));
  }
  ASSERT_TRUE(partition_->forget_history(1'025));
  EXPECT_THAT(events({.after = 1}),
              ElementsAre("create 9000@2", "create 9010@3", "create 1020@4", "create 1030@5"));
  EXPECT_FALSE(partition_->history({.after = 0}));
  ASSERT_TRUE(partition_->forget_history(9'011));
  EXPECT_THAT(events({.after = 5}), ElementsAre());
  EXPECT_FALSE(partition_->history({.after = 4}));
}

TEST_F(HistoryTest, ChildrenGoOnWithTheirOwn) {
  for (int i = 0; i < 10; ++i) {
    const std::string key(1, static_cast<char>('a' + i));
    done(create(key, key, "\"n\":0"));
  }
  auto cut = partition_->begin_split(kPlainKeys, "", CutBy::bytes);
  ASSERT_TRUE(cut) << cut.error().message;
  Partition::Children children;
  ASSERT_TRUE(partition_->finish_split(*cut, {.range = 8, .volume_name = "left"},
                                       {.range = 9, .volume_name = "right"},
                                       [&](const Partition::Children& made) -> Status {
                                         children = made;
                                         return {};
                                       }));
  for (bool trimmed : {false, true}) {
    std::vector<std::string> all;
    for (const auto& child : {children.first, children.second}) {
      if (trimmed) ASSERT_TRUE(child->trim());
      const std::vector<std::string> events = events_of(*child, {.after = 4});
      EXPECT_LT(events.size(), 6U);
      all.insert(all.end(), events.begin(), events.end());
    }
    EXPECT_THAT(all, testing::UnorderedElementsAre("create e@5", "create f@6", "create g@7",
                                                   "create h@8", "create i@9", "create j@10"));
  }
}

TEST(HistoryEntry, RoundTrip) {
  const HistoryEntry entry{.operation = EventKind::expire,
                           .time_s = 77,
                           .previous_lsn = 1ULL << 40,
                           .item_key = "key",
                           .body = "",
                           .previous_body = "{}"};
  const std::string bytes = encode_history(entry);
  auto decoded = decode_history(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->operation, EventKind::expire);
  EXPECT_EQ(decoded->time_s, 77U);
  EXPECT_EQ(decoded->previous_lsn, 1ULL << 40);
  EXPECT_EQ(decoded->item_key, "key");
  EXPECT_EQ(decoded->body, "");
  EXPECT_EQ(decoded->previous_body, "{}");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_history(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_history(bytes + "x"));
  EXPECT_FALSE(decode_history("\x09" + bytes.substr(1)));
  EXPECT_EQ(lsn_of_history_key(history_key(9, 7, 3)).value_or(0), 9U);
  EXPECT_LT(history_key(9, 300, 1), history_key(10));
  EXPECT_FALSE(lsn_of_history_key("short"));
}

}  // namespace
}  // namespace orrery::partition
