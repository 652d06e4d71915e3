// Retryable writes: what is run, and what is answered again.
#include "api/mongo/documents/retry_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::mongo {
namespace {

using State = RetryMemory::State;

TEST(RetryMemory, AnswersTheNewestWriteOfASessionAgain) {
  RetryMemory memory;
  EXPECT_EQ(memory.begin("s", 1, "insert a.b").state, State::fresh);
  EXPECT_EQ(memory.begin("s", 1, "insert a.b").state, State::running);
  memory.done("s", 1, "answer");
  const auto again = memory.begin("s", 1, "insert a.b");
  EXPECT_EQ(again.state, State::known);
  EXPECT_EQ(again.answer, "answer");
  EXPECT_EQ(memory.begin("s", 1, "update a.b").state, State::other);
  EXPECT_EQ(memory.begin("other", 1, "insert a.b").state, State::fresh);
  EXPECT_EQ(memory.begin("s", 2, "insert a.b").state, State::fresh);
  EXPECT_EQ(memory.begin("s", 1, "insert a.b").state, State::old);
}

TEST(RetryMemory, WhatFailedIsRunAgain) {
  RetryMemory memory;
  EXPECT_EQ(memory.begin("s", 1, "w").state, State::fresh);
  memory.done("s", 1, std::nullopt);
  EXPECT_EQ(memory.begin("s", 1, "w").state, State::fresh);
}

TEST(RetryMemory, TellsWhatMayHaveBeenDoneBefore) {
  RetryMemory memory;
  EXPECT_TRUE(memory.begin("s", 5, "w").may_be_done) << "by another process";
  memory.done("s", 5, "answer");
  EXPECT_FALSE(memory.begin("s", 6, "w").may_be_done);
  memory.done("s", 6, std::nullopt);
  EXPECT_TRUE(memory.begin("s", 6, "w").may_be_done) << "in part";
}

TEST(RetryMemory, TheSessionUsedLongestAgoIsForgotten) {
  RetryMemory memory;
  for (size_t i = 0; i <= RetryMemory::kSessionsMax; ++i) {
    const std::string session = std::to_string(i);
    memory.begin(session, 1, "w");
    memory.done(session, 1, "a");
  }
  EXPECT_EQ(memory.begin(std::to_string(RetryMemory::kSessionsMax), 1, "w").state, State::known);
  EXPECT_EQ(memory.begin("0", 1, "w").state, State::fresh);
}

}  // namespace
}  // namespace orrery::mongo
