// What single writes and transactions do: verbs, preconditions, limits, expiry. Unique values are
// in unique_values_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "partition/write_fixture.h"

namespace orrery::partition {
namespace {

using testing::HasSubstr;

TEST_F(WriteTest, CreateStoresTheBodyAndTellsItsVersion) {
  const Outcome outcome = run(create("k", "a", "\"n\":1"));
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  ASSERT_EQ(outcome.written.size(), 1U);
  const Written& written = outcome.written[0];
  EXPECT_EQ(written.version.lsn, 1U);
  EXPECT_EQ(written.version.range, 7U);
  EXPECT_EQ(written.version.time_s, clock_.now_s());
  EXPECT_EQ(written.item.origin, (Origin{7, 1}));
  EXPECT_FALSE(written.replaced);
  EXPECT_EQ(written.old_bytes, 0U);
  EXPECT_EQ(written.new_bytes, 1 + body_of("a", "\"n\":1").size());
  EXPECT_EQ(written.terms_added, 2U);
  EXPECT_EQ(body("k", "a"), body_of("a", "\"n\":1"));
  EXPECT_EQ(partition_->lsn(), 1U);
}

TEST_F(WriteTest, CreateRefusesWhatIsThere) {
  ASSERT_FALSE(run(create("k", "a", "\"n\":1")).error);
  const Outcome outcome = run(create("k", "a", "\"n\":2"));
  EXPECT_EQ(code_of(outcome), Code::conflict);
  EXPECT_THAT(outcome.error->message, HasSubstr("'a'"));
  EXPECT_TRUE(outcome.written.empty());
  EXPECT_EQ(body("k", "a"), body_of("a", "\"n\":1"));
  EXPECT_EQ(partition_->lsn(), 1U) << "a failed write takes no LSN";
}

TEST_F(WriteTest, TheSameRowUnderAnotherKeyIsAnotherItem) {
  EXPECT_FALSE(run(create("k", "a")).error);
  EXPECT_FALSE(run(create("l", "a")).error);
  EXPECT_EQ(partition_->usage().items, 2U);
}

TEST_F(WriteTest, UpsertCreatesThenReplaces) {
  EXPECT_FALSE(run(upsert("k", "a", "\"n\":1")).written[0].replaced);
  const Outcome outcome = run(upsert("k", "a", "\"n\":2"));
  EXPECT_TRUE(outcome.written[0].replaced);
  EXPECT_EQ(outcome.written[0].terms_removed, 1U);
  EXPECT_EQ(outcome.written[0].terms_added, 1U);
  EXPECT_EQ(outcome.written[0].item.origin, (Origin{7, 1})) << "the origin stays";
  EXPECT_EQ(body("k", "a"), body_of("a", "\"n\":2"));
  expect_consistent();
}

TEST_F(WriteTest, ReplaceAndRemoveNeedTheItem) {
  EXPECT_EQ(code_of(run(replace("k", "a"))), Code::not_found);
  EXPECT_EQ(code_of(run(remove("k", "a"))), Code::not_found);
  ASSERT_FALSE(run(create("k", "a")).error);
  EXPECT_FALSE(run(replace("k", "a", "\"n\":2")).error);
  const Outcome outcome = run(remove("k", "a"));
  ASSERT_FALSE(outcome.error);
  EXPECT_EQ(outcome.written[0].version.lsn, 3U);
  EXPECT_EQ(outcome.written[0].old_bytes, 1 + body_of("a", "\"n\":2").size());
  EXPECT_EQ(partition_->read("k", "a").value(), std::nullopt);
  EXPECT_EQ(partition_->usage().bytes, 0U);
  EXPECT_EQ(partition_->usage().items, 0U);
  EXPECT_TRUE(partition_->all_terms()->empty());
  EXPECT_TRUE(partition_->changes({.items_max = 10}, *schema_)->changes.empty());
  EXPECT_EQ(code_of(run(remove("k", "a"))), Code::not_found);
}

TEST_F(WriteTest, VersionsAreChecked) {
  const Version first = run(create("k", "a", "\"n\":1")).written[0].version;
  Write write = replace("k", "a", "\"n\":2");
  write.if_version = first;
  const Version second = run(write).written[0].version;
  for (Verb verb : {Verb::replace, Verb::upsert, Verb::remove}) {
    Write late = write_of(verb, "k", "a", schema_, "\"n\":3");
    late.if_version = first;
    const Outcome outcome = run(late);
    EXPECT_EQ(code_of(outcome), Code::precondition_failed);
    EXPECT_THAT(outcome.error->message,
                HasSubstr(fmt::format("now {}.{}", second.lsn, second.step)));
  }
  EXPECT_EQ(body("k", "a"), body_of("a", "\"n\":2"));
  Write gone = remove("k", "b");
  gone.if_version = first;
  EXPECT_EQ(code_of(run(gone)), Code::not_found);
  Write absent = upsert("k", "a");
  absent.if_absent = true;
  EXPECT_EQ(code_of(run(absent)), Code::precondition_failed);
  absent.row = "b";
  EXPECT_FALSE(run(absent).error);
}

TEST_F(WriteTest, KeysOfOtherPartitionsAreHandedBack) {
  Partition::Identity half{.range = 8, .min = "k", .max = "t"};
  identity_ = half;
  auto partition = open("p2");
  EXPECT_FALSE(commit(*partition, create("k", "a")).error);
  for (std::string_view key : {"a", "t", "z"}) {
    const Outcome outcome = commit(*partition, all_of(create("l", "x"), create(key, "a")));
    EXPECT_EQ(code_of(outcome), Code::moved);
    ASSERT_EQ(outcome.returned.size(), 2U);
    EXPECT_EQ(outcome.returned[0].body, body_of("x"));
    EXPECT_EQ(partition->read(key, "a").error().code, Code::moved);
  }
  EXPECT_EQ(partition->usage().items, 1U);
}

TEST_F(WriteTest, ATransactionIsAppliedWholeInOrder) {
  const Outcome outcome =
      commit(*partition_, all_of(create("k", "a", "\"n\":1"), create("k", "b"),
                                 replace("k", "a", "\"n\":2"), remove("k", "b"), upsert("k", "c")));
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  ASSERT_EQ(outcome.written.size(), 5U);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(outcome.written[i].version.lsn, 1U);
    EXPECT_EQ(outcome.written[i].version.step, i);
  }
  EXPECT_EQ(outcome.lsn, 1U);
  EXPECT_EQ(body("k", "a"), body_of("a", "\"n\":2"));
  EXPECT_EQ(items_of(*partition_).size(), 2U);
  expect_consistent();
  auto changes = partition_->changes({.items_max = 10}, *schema_).value();
  ASSERT_EQ(changes.changes.size(), 2U);
  EXPECT_EQ(changes.changes[0].key.row, "a");
  EXPECT_EQ(changes.changes[0].lsn, 1U);
  EXPECT_EQ(changes.changes[1].key.row, "c");
}

TEST_F(WriteTest, ATransactionThatFailsAnywhereLeavesNothing) {
  schema_->unique_keys = {{path_of("/u")}};
  schema_->logical_bytes_max = 1'000;
  ASSERT_FALSE(run(create("k", "there", "\"u\":1")).error);
  const auto items = items_of(*partition_);
  const Terms terms = sorted_terms(*partition_);
  const std::string big = "\"u\":9,\"t\":\"" + std::string(1'000, 'x') + "\"";
  struct Bad {
    Write write;
    Code code;
  };
  Write stale = replace("k", "there", "\"u\":1");
  stale.seen_lsn = 99;
  Write other = replace("k", "there", "\"u\":1");
  other.if_version = Version{.lsn = 99};
  for (const Bad& bad : {Bad{create("k", "there", "\"u\":7"), Code::conflict},
                         Bad{create("k", "x", "\"u\":1"), Code::conflict},
                         Bad{create("k", "x", big), Code::partition_full},
                         Bad{replace("k", "nowhere"), Code::not_found}, Bad{stale, Code::retry},
                         Bad{other, Code::precondition_failed}}) {
    const Outcome outcome =
        commit(*partition_, all_of(create("k", "a", "\"u\":2"), create("k", "b", "\"u\":3"),
                                   bad.write, create("k", "c", "\"u\":4")));
    EXPECT_EQ(code_of(outcome), bad.code);
    EXPECT_EQ(outcome.failed_write, 2U);
    EXPECT_TRUE(outcome.written.empty());
    EXPECT_EQ(sorted_terms(*partition_), terms);
    EXPECT_EQ(items_of(*partition_).size(), items.size());
    EXPECT_EQ(partition_->lsn(), 1U);
    expect_consistent();
  }
  // Nor are their unique values held.
  EXPECT_FALSE(run(create("k", "d", "\"u\":2")).error);
}

TEST_F(WriteTest, FailedTransactionsDoNotDisturbTheirRun) {
  // Paused by a slow completion, the writer finds all of these waiting and takes them as one run.
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  partition_->submit(one(create("k", "first")), [released](const Outcome&) { released.wait(); });
  std::vector<std::promise<Outcome>> promises(6);
  auto submit = [&](size_t i, std::vector<Write> transaction) {
    partition_->submit(std::move(transaction),
                       [&, i](Outcome outcome) { promises[i].set_value(std::move(outcome)); });
  };
  submit(0, one(create("k", "a", "\"n\":1")));
  submit(1, one(create("k", "a", "\"n\":2")));                // sees 0
  submit(2, all_of(create("k", "b"), create("k", "first")));  // fails whole
  submit(3, one(create("k", "b", "\"n\":3")));                // so this is free
  submit(4, all_of(remove("k", "a"), create("k", "a", "\"n\":4")));
  submit(5, one(replace("k", "a", "\"n\":5")));
  release.set_value();
  std::vector<Outcome> outcomes;
  for (auto& promise : promises) outcomes.push_back(promise.get_future().get());
  EXPECT_FALSE(outcomes[0].error);
  EXPECT_EQ(code_of(outcomes[1]), Code::conflict);
  EXPECT_EQ(code_of(outcomes[2]), Code::conflict);
  EXPECT_EQ(outcomes[2].failed_write, 1U);
  EXPECT_FALSE(outcomes[3].error);
  EXPECT_FALSE(outcomes[4].error);
  EXPECT_FALSE(outcomes[5].error);
  EXPECT_EQ(outcomes[5].written[0].version.lsn, 5U);
  EXPECT_EQ(body("k", "a"), body_of("a", "\"n\":5"));
  EXPECT_EQ(body("k", "b"), body_of("b", "\"n\":3"));
  expect_consistent();
}

TEST_F(WriteTest, SeenLsnMustStillHold) {
  const uint64_t lsn = run(create("k", "a")).lsn;
  Write write = replace("k", "a", "\"n\":2");
  write.seen_lsn = lsn;
  EXPECT_FALSE(run(write).error);
  EXPECT_EQ(code_of(run(write)), Code::retry);
  Write fresh = create("k", "b");
  fresh.seen_lsn = 0;
  EXPECT_FALSE(run(fresh).error);
  EXPECT_EQ(code_of(run(fresh)), Code::retry) << "not a conflict: the transaction saw nothing";
  Write gone = remove("k", "b");
  gone.seen_lsn = 0;
  EXPECT_EQ(code_of(run(gone)), Code::retry);
}

TEST_F(WriteTest, ALogicalPartitionHasALimitAndCanShrinkAboveIt) {
  const std::string kilobyte = "\"t\":\"" + std::string(1'000, 'x') + "\"";
  schema_->logical_bytes_max = 3'500;
  for (std::string_view row : {"a", "b", "c"}) ASSERT_FALSE(run(create("k", row, kilobyte)).error);
  const Outcome full = run(create("k", "d", kilobyte));
  EXPECT_EQ(code_of(full), Code::partition_full);
  EXPECT_THAT(full.error->message, HasSubstr("3500"));
  EXPECT_THAT(full.error->message, HasSubstr("[\"k\"]"));
  EXPECT_FALSE(run(create("l", "d", kilobyte)).error) << "other keys have their own";
  schema_ = std::make_shared<Schema>(*schema_);
  schema_->logical_bytes_max = 1'000;
  EXPECT_EQ(code_of(run(replace("k", "a", kilobyte + ",\"n\":1"))), Code::partition_full);
  EXPECT_FALSE(run(replace("k", "a", kilobyte)).error) << "the same size";
  EXPECT_FALSE(run(replace("k", "a", "\"n\":1")).error) << "smaller";
  EXPECT_FALSE(run(remove("k", "b")).error);
  expect_consistent();
}

TEST_F(WriteTest, ExpiryHidesAndCollectingRemoves) {
  schema_->default_life_ms = 10'000;
  ASSERT_FALSE(run(create("k", "a")).error);
  Write longer = create("k", "b");
  longer.lifetime.ms = 30'000;
  ASSERT_FALSE(run(longer).error);
  Write forever = create("l", "c");
  forever.lifetime.ms = Lifetime::kForever;
  ASSERT_FALSE(run(forever).error);
  auto visible = [&] {
    std::vector<std::string> rows;
    for (auto& [key, item] : partition_->scan("", "\xFF", nullptr, 10, SIZE_MAX, *schema_)->items) {
      rows.push_back(key.row);
    }
    return rows;
  };
  clock_.advance_ms(10'000);
  EXPECT_THAT(visible(), testing::ElementsAre("b", "c"));
  EXPECT_TRUE(
      is_expired(*partition_->read("k", "a").value(), schema_->default_life_ms, clock_.now_ms()));
  EXPECT_EQ(code_of(run(replace("k", "a"))), Code::not_found);
  EXPECT_EQ(code_of(run(remove("k", "a"))), Code::not_found);
  EXPECT_EQ(partition_->collect_expired(schema_, kOneForEach, 100, 1e9, [](double) {}).value(), 1U);
  partition_->drain();
  EXPECT_EQ(partition_->read("k", "a").value(), std::nullopt);
  EXPECT_EQ(partition_->usage().items, 2U);
  expect_consistent();
  EXPECT_EQ(partition_->largest(1)->at(0).key_text, "[\"k\"]") << "collecting keeps the key's text";
  clock_.advance_ms(20'000);
  EXPECT_THAT(visible(), testing::ElementsAre("c"));
  EXPECT_EQ(partition_->collect_expired(schema_, kOneForEach, 100, 1e9, [](double) {}).value(), 1U);
  partition_->drain();
  EXPECT_EQ(partition_->collect_expired(schema_, kOneForEach, 100, 1e9, [](double) {}).value(), 0U);
  EXPECT_EQ(partition_->usage().items, 1U);
}

TEST_F(WriteTest, CreateOverAnExpiredItemStartsAnew) {
  schema_->default_life_ms = 10'000;
  ASSERT_FALSE(run(create("k", "a", "\"n\":1")).error);
  clock_.advance_ms(10'000);
  Write seen = create("k", "a", "\"n\":2");
  seen.seen_lsn = 0;
  const Outcome outcome = run(seen);
  ASSERT_FALSE(outcome.error);
  EXPECT_FALSE(outcome.written[0].replaced);
  EXPECT_EQ(outcome.written[0].item.origin.number, 2U);
  EXPECT_EQ(partition_->usage().items, 1U);
  expect_consistent();
}

TEST_F(WriteTest, CollectingStaysWithinWhatItMayCostAndPaysIt) {
  schema_->default_life_ms = 10'000;
  for (int i = 0; i < 10; ++i) run(create("k", std::to_string(i), "\"n\":1"));
  clock_.advance_ms(11'000);
  constexpr Prices kPrices{
      .charge = [](const Work& work) { return 4.95 + 0.2 * work.terms_removed; }};
  double paid = 0;  // set by the writer, read after it is done
  auto collect = [&](double charge_max) {
    auto count = partition_->collect_expired(schema_, kPrices, 100, charge_max,
                                             [&paid](double charge) { paid += charge; });
    partition_->drain();
    return count.value();
  };
  EXPECT_EQ(collect(0), 0U);
  EXPECT_EQ(paid, 0);
  EXPECT_EQ(collect(4.96), 2U);  // each is estimated at 4.95; the second begins below the limit
  // Each costs what a deletion does: its size, and its terms (id and n).
  EXPECT_DOUBLE_EQ(paid, 2 * (4.95 + 2 * 0.2));
  EXPECT_EQ(partition_->usage().items, 8U);
  EXPECT_EQ(collect(1000), 8U);
  EXPECT_EQ(partition_->usage().items, 0U);
  EXPECT_DOUBLE_EQ(paid, 10 * (4.95 + 2 * 0.2));
}

TEST_F(WriteTest, CollectingGoesOnWhereItStoppedAndRechecks) {
  schema_->default_life_ms = 10'000;
  for (int i = 0; i < 250; ++i) ASSERT_FALSE(run(create("k", std::to_string(i))).error);
  clock_.advance_ms(10'000);
  ASSERT_FALSE(run(upsert("k", "7")).error);  // alive again
  size_t collected = 0;
  for (int i = 0; i < 3; ++i)
    collected += partition_->collect_expired(schema_, kOneForEach, 100, 1e9, [](double) {}).value();
  partition_->drain();
  EXPECT_EQ(collected, 249U);
  EXPECT_EQ(partition_->usage().items, 1U);
  expect_consistent();
}

TEST_F(WriteTest, TimeDoesNotGoBackForASmallCorrection) {
  const uint32_t before = run(create("k", "a")).written[0].version.time_s;
  clock_.set_now_s(static_cast<int64_t>(before) - kTimeAheadMax_s);
  EXPECT_EQ(run(create("k", "b")).written[0].version.time_s, before);
  partition_.reset();
  partition_ = open();
  EXPECT_EQ(run(create("k", "c")).written[0].version.time_s, before);
  clock_.set_now_s(static_cast<int64_t>(before) + 5);
  EXPECT_EQ(run(create("k", "d")).written[0].version.time_s, before + 5);
}

TEST_F(WriteTest, AFinisherCompletesTheBody) {
  struct Stamp final : Finisher {
    std::string finish(std::string_view body, const Version& version,
                       const Origin& origin) const override {
      return std::string(body.substr(0, body.size() - 1)) +
             ",\"v\":" + std::to_string(version.lsn) + ",\"o\":" + std::to_string(origin.number) +
             "}";
    }
    std::span<const std::string_view> added_names() const override { return {}; }
    void each_added(const Version&, const Origin&,
                    const std::function<void(const value::Value&)>&) const override {}
  };
  Write write = create("k", "a");
  write.finisher = std::make_shared<Stamp>();
  const Outcome outcome = run(write);
  EXPECT_EQ(outcome.written[0].item.body, body_of("a", "\"v\":1,\"o\":1"));
  write.verb = Verb::replace;
  run(write);
  EXPECT_EQ(body("k", "a"), body_of("a", "\"v\":2,\"o\":1"));
  expect_consistent();
}

TEST_F(WriteTest, NewRulesReplaceTheTermsOfTheOld) {
  ASSERT_FALSE(run(create("k", "a", "\"n\":1,\"m\":2")).error);
  ASSERT_FALSE(run(create("k", "b", "\"n\":1,\"m\":2")).error);
  schema_ = std::make_shared<Schema>(*schema_);
  schema_->index = policy_of({{"/*", false}, {"/n/?", true}});
  schema_->index_version = 2;
  ASSERT_FALSE(run(replace("k", "a", "\"n\":3,\"m\":2")).error);
  ASSERT_FALSE(run(remove("k", "b")).error);
  expect_consistent();
  EXPECT_EQ(partition_->all_terms()->size(), 2U) << "one, and the shape";
  // None at all, and then everything again.
  schema_ = std::make_shared<Schema>(*schema_);
  schema_->indexed = false;
  schema_->index_version = 3;
  ASSERT_FALSE(run(replace("k", "a", "\"n\":4")).error);
  EXPECT_TRUE(partition_->all_terms()->empty());
  schema_ = indexing_everything();
  schema_->index_version = 4;
  ASSERT_FALSE(run(replace("k", "a", "\"n\":4,\"m\":5")).error);
  expect_consistent();
}

TEST_F(WriteTest, FreePathsAreIndexedAndNotCharged) {
  schema_->free_paths = {value::term_path(path_of("/id"))};
  const Outcome outcome = run(create("k", "a", "\"n\":1"));
  EXPECT_EQ(outcome.written[0].terms_added, 1U) << "nor is the shape";
  EXPECT_EQ(partition_->all_terms()->size(), 3U);
}

TEST_F(WriteTest, BodiesThatAreNotIndexedNeedNotBeJson) {
  schema_->indexed = false;
  Write write = create("k", "a");
  write.body = std::string("\x00\xFF raw", 6);
  EXPECT_FALSE(run(write).error);
  EXPECT_EQ(body("k", "a"), write.body);
  EXPECT_FALSE(run(remove("k", "a")).error);
}

TEST_F(WriteTest, TermsFindTheirItem) {
  ASSERT_FALSE(run(create("k", "a", "\"n\":1")).error);
  ASSERT_FALSE(run(create("l", "b", "\"n\":10")).error);
  std::string term = value::term_path(path_of("/n"));
  value::append_term_value(term, 10.0);
  EXPECT_EQ(partition_->find_by_term(term).value(), (ItemKey{"l", "b"}));
  term = value::term_path(path_of("/n"));
  value::append_term_value(term, 2.0);
  EXPECT_EQ(partition_->find_by_term(term).value(), std::nullopt);
}

TEST_F(WriteTest, AFullQueueRefuses) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::promise<void> begun;
  partition_->submit(one(create("k", "first")), [&](const Outcome&) {
    begun.set_value();
    released.wait();
  });
  begun.get_future().wait();
  std::atomic<int> done = 0;
  for (uint64_t i = 0; i < limits_.write_queue; ++i) {
    partition_->submit(one(create("k", std::to_string(i))), [&](const Outcome& outcome) {
      EXPECT_FALSE(outcome.error);
      ++done;
    });
  }
  bool refused = false;
  partition_->submit(one(create("k", "late")), [&](const Outcome& outcome) {
    refused = true;
    EXPECT_EQ(code_of(outcome), Code::overloaded);
    EXPECT_GT(outcome.error->retry_after_ms, 0U);
  });
  EXPECT_TRUE(refused) << "at once";
  release.set_value();
  partition_->drain();
  EXPECT_EQ(done, static_cast<int>(limits_.write_queue));
  EXPECT_EQ(partition_->usage().items, limits_.write_queue + 1);
}

TEST_F(WriteTest, ManyThreadsWriteAtOnce) {
  constexpr int kThreads = 8;
  constexpr int kWrites = 200;
  std::vector<std::vector<uint64_t>> lsns(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kWrites; ++i) {
          const std::string row = std::to_string(t) + "-" + std::to_string(i % 50);
          Outcome outcome =
              commit(*partition_, upsert(std::to_string(i % 3), row, "\"n\":" + std::to_string(i)));
          ASSERT_FALSE(outcome.error);
          lsns[static_cast<size_t>(t)].push_back(outcome.lsn);
          // What was acknowledged can be read.
          EXPECT_EQ(partition_->read(std::to_string(i % 3), row).value()->version.lsn, outcome.lsn);
        }
      });
    }
  }
  std::set<uint64_t> all;
  for (const auto& of_thread : lsns) {
    EXPECT_TRUE(std::ranges::is_sorted(of_thread));
    all.insert(of_thread.begin(), of_thread.end());
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kWrites)) << "no LSN twice";
  EXPECT_EQ(partition_->lsn(), static_cast<uint64_t>(kThreads * kWrites));
  expect_consistent();
}

TEST_F(WriteTest, WritesAfterThePoolHasStoppedStillComplete) {
  shared_->writers.stop();
  EXPECT_FALSE(run(create("k", "a")).error);
  EXPECT_FALSE(run(create("k", "b")).error);
}

}  // namespace
}  // namespace orrery::partition
