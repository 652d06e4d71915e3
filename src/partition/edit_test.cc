// Transactions that read and edit: what they see, what they leave, and what bounds them.
#include <charconv>
#include <thread>

#include "partition/note.h"
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

// Bodies are {"id":"…","n":NUMBER}: adds to the number.
class Adder final : public Editor {
 public:
  explicit Adder(int by, const Lifetime& lifetime = {}) : by_(by), lifetime_(lifetime) {}
  Result<Edited> edit(const Item& current) const override {
    const size_t at = current.body.find("\"n\":");
    if (at == std::string::npos) return fail(Code::invalid, "there is no n");
    int number = 0;
    std::from_chars(current.body.data() + at + 4, current.body.data() + current.body.size(),
                    number);
    return Edited{current.body.substr(0, at + 4) + std::to_string(number + by_) + "}", lifetime_};
  }

 private:
  const int by_;
  const Lifetime lifetime_;
};

class EditTest : public PartitionTest {
 protected:
  std::shared_ptr<Partition> partition_ = open();

  Outcome run(std::vector<Write> transaction) {
    return commit(*partition_, std::move(transaction));
  }
  Write add(std::string_view row, int by, const Lifetime& lifetime = {}) const {
    Write write = replace("k", row);
    write.body.clear();
    write.editor = std::make_shared<Adder>(by, lifetime);
    return write;
  }
  Write read(std::string_view row) const { return write_of(Verb::read, "k", row, schema_); }
  std::string body(std::string_view row) const {
    auto item = partition_->read("k", row);
    return item && *item ? (*item)->body : "";
  }
};

TEST_F(EditTest, AnEditBuildsOnWhatIsThere) {
  run(one(create("k", "a", "\"n\":1")));
  const Outcome outcome = run(all_of(add("a", 2), add("a", 3)));
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_EQ(outcome.written[0].item.body, body_of("a", "\"n\":3"));
  EXPECT_EQ(outcome.written[1].item.body, body_of("a", "\"n\":6"));
  EXPECT_TRUE(outcome.written[1].replaced);
  EXPECT_EQ(body("a"), body_of("a", "\"n\":6"));
  EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
  EXPECT_EQ(partition_->usage().bytes, recomputed_usage(*partition_).bytes);
}

TEST_F(EditTest, AnEditThatFailsLeavesNothingOfItsTransaction) {
  run(all_of(create("k", "a", "\"n\":1"), create("k", "b")));
  const Outcome outcome = run(all_of(add("a", 2), add("b", 2)));
  EXPECT_EQ(code_of(outcome), Code::invalid);
  EXPECT_EQ(outcome.failed_write, 1U);
  EXPECT_EQ(body("a"), body_of("a", "\"n\":1"));
  EXPECT_EQ(code_of(run(one(add("absent", 1)))), Code::not_found);
  Write guarded = add("a", 1);
  guarded.if_version = Version{.lsn = 99, .time_s = 0, .range = 7};
  EXPECT_EQ(code_of(run(one(std::move(guarded)))), Code::precondition_failed);
}

TEST_F(EditTest, AnEditSetsTheTimeToLive) {
  schema_->default_life_ms = Lifetime::kForever;
  run(one(create("k", "a", "\"n\":1")));
  run(one(add("a", 1, {.ms = 5'000})));
  clock_.advance_ms(6000);
  EXPECT_EQ(code_of(run(one(add("a", 1)))), Code::not_found);
  EXPECT_EQ(code_of(run(one(read("a")))), Code::not_found);
}

TEST_F(EditTest, ReadsSeeTheTransactionsOwnWrites) {
  run(one(create("k", "a", "\"n\":1")));
  const Outcome outcome =
      run(all_of(read("a"), add("a", 1), read("a"), create("k", "b"), read("b"), remove("k", "b")));
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_EQ(outcome.written[0].item.body, body_of("a", "\"n\":1"));
  EXPECT_EQ(outcome.written[0].version.lsn, 1U);
  EXPECT_EQ(outcome.written[2].item.body, body_of("a", "\"n\":2"));
  EXPECT_EQ(outcome.written[2].version, outcome.written[1].version);
  EXPECT_EQ(outcome.written[4].item.body, body_of("b"));
  EXPECT_EQ(outcome.lsn, 2U) << "a transaction is one step";
  EXPECT_EQ(code_of(run(all_of(remove("k", "a"), read("a")))), Code::not_found);
  EXPECT_EQ(body("a"), body_of("a", "\"n\":2"));
}

TEST_F(EditTest, ReadingAloneWritesNothingAndTellsTheNewestLsn) {
  run(all_of(create("k", "a"), create("k", "b")));
  const Outcome outcome = run(one(read("a")));
  ASSERT_FALSE(outcome.error);
  EXPECT_EQ(outcome.written[0].version.lsn, 1U);
  EXPECT_EQ(outcome.lsn, 1U);
  EXPECT_EQ(partition_->lsn(), 1U);
}

TEST_F(EditTest, WhatATransactionGivesBackIsBounded) {
  const std::string large = "\"s\":\"" + std::string(limits_.response_bytes / 2, 'x') + "\"";
  run(one(create("k", "a", large)));
  EXPECT_FALSE(run(one(read("a"))).error);
  const Outcome outcome = run(all_of(create("k", "b"), read("a"), read("a")));
  EXPECT_EQ(code_of(outcome), Code::too_large);
  EXPECT_EQ(outcome.failed_write, 2U);
  EXPECT_EQ(body("b"), "");
}

// Refuses when the body does not have the text, and leaves a note of what was there.
class Guard final : public Editor {
 public:
  explicit Guard(std::string text) : text_(std::move(text)) {}
  Result<Edited> edit(const Item& current) const override {
    if (!current.body.contains(text_)) return fail(Code::precondition_failed, "not that one");
    return Edited{.body = current.body,
                  .lifetime = {},
                  .note = std::make_shared<const Note>(
                      Note{.owner = "o", .number = 1, .body = current.body, .life_s = 60})};
  }

 private:
  const std::string text_;
};

TEST_F(EditTest, ARemovalAsksItsEditor) {
  run(one(create("k", "a", "\"n\":1")));
  Write removal = remove("k", "a");
  removal.editor = std::make_shared<Guard>("\"n\":2");
  EXPECT_EQ(code_of(run(one(removal))), Code::precondition_failed);
  EXPECT_EQ(body("a"), body_of("a", "\"n\":1"));
  EXPECT_TRUE(partition_->notes("o", 1)->empty());
  removal.editor = std::make_shared<Guard>("\"n\":1");
  EXPECT_FALSE(run(one(removal)).error);
  EXPECT_EQ(body("a"), "");
  ASSERT_EQ(partition_->notes("o", 1)->size(), 1U);
  EXPECT_EQ(partition_->notes("o", 1)->front().body, body_of("a", "\"n\":1"));
  EXPECT_EQ(code_of(run(one(removal))), Code::not_found);
}

TEST_F(EditTest, TheAnswerHasTheItemIfItIsWanted) {
  run(one(create("k", "a", "\"n\":1")));
  Write edit = add("a", 1);
  edit.wants_item = false;
  const Outcome outcome = run(all_of(edit, edit, add("a", 1)));
  ASSERT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_EQ(outcome.written[1].item.body, "");
  EXPECT_EQ(outcome.written[1].version.lsn, 2U);
  EXPECT_EQ(outcome.written[2].item.body, body_of("a", "\"n\":4"));
  EXPECT_EQ(body("a"), body_of("a", "\"n\":4"));
}

TEST_F(EditTest, EditsThatRaceLoseNothing) {
  run(one(create("k", "a", "\"n\":0")));
  constexpr int kThreads = 4;
  constexpr int kEach = 100;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < kEach; ++i) EXPECT_FALSE(run(one(add("a", 1))).error);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(body("a"), body_of("a", "\"n\":" + std::to_string(kThreads * kEach)));
}

}  // namespace
}  // namespace orrery::partition
