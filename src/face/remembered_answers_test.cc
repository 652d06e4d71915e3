// Writes that are run once however often they come.
#include "face/remembered_answers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace orrery::face {
namespace {

using peer::ForwardAnswer;
using std::chrono::milliseconds;
using std::chrono::seconds;

class RememberedAnswersTest : public testing::Test {
 protected:
  peer::ForwardDone begin(const std::string& key, milliseconds sent_before = milliseconds(0)) {
    answer_.reset();
    return memory_.begin(key, sent_before,
                         [this](Result<ForwardAnswer> answer) { answer_ = std::move(answer); });
  }
  static ForwardAnswer answer(std::string body) {
    ForwardAnswer made;
    made.status = 201;
    made.body = std::move(body);
    return made;
  }
  // Long enough to know of all that is asked for.
  void pass_time() { now_ += RememberedAnswers::kKeptFor + seconds(10); }

  std::chrono::steady_clock::time_point now_{};
  RememberedAnswers memory_{2'000, 8, [this] { return now_; }};
  std::optional<Result<ForwardAnswer>> answer_;  // of the newest
};

TEST_F(RememberedAnswersTest, GivesTheSameAnswerToWhoAsksAgain) {
  auto run = begin("a-1");
  ASSERT_TRUE(run);
  run(answer("made"));
  EXPECT_EQ(answer_->value().body, "made");
  EXPECT_FALSE(begin("a-1", seconds(1))) << "it is not run again";
  EXPECT_EQ(answer_->value().body, "made");
}

TEST_F(RememberedAnswersTest, WhoAsksAgainWhileItRunsGetsItsAnswer) {
  auto run = begin("a-1");
  EXPECT_FALSE(begin("a-1", milliseconds(5)));
  EXPECT_FALSE(answer_);
  run(answer("made"));
  EXPECT_EQ(answer_->value().body, "made");
}

TEST_F(RememberedAnswersTest, OneThatWasDroppedHasAnUnknownOutcome) {
  begin("a-1") = nullptr;
  ASSERT_TRUE(answer_ && !*answer_);
  EXPECT_EQ(answer_->error().code, Code::internal);
  EXPECT_FALSE(begin("a-1", milliseconds(5)));
  EXPECT_EQ(answer_->error().code, Code::internal);
}

TEST_F(RememberedAnswersTest, RunsWhatDidNotComeBefore) {
  pass_time();
  auto run = begin("a-1", seconds(2));
  ASSERT_TRUE(run);
  run(answer("made"));
  // The first one, which was late.
  EXPECT_FALSE(begin("a-1"));
  EXPECT_EQ(answer_->value().body, "made");
}

TEST_F(RememberedAnswersTest, DoesNotRunWhatAnEarlierProcessMayHaveRun) {
  now_ += seconds(5);
  EXPECT_FALSE(begin("a-1", seconds(6)));
  EXPECT_EQ(answer_->error().code, Code::not_found);
  EXPECT_TRUE(begin("a-2")) << "one that was not sent before";
}

TEST_F(RememberedAnswersTest, KnowsWhenItHadNoRoom) {
  pass_time();
  for (int i = 0; i < 8; ++i) begin("a-" + std::to_string(i))(answer("small"));
  auto run = begin("b-1");
  ASSERT_TRUE(run) << "it is run all the same";
  run(answer("forgotten"));
  EXPECT_FALSE(begin("b-1", milliseconds(10)));
  EXPECT_EQ(answer_->error().code, Code::not_found);
  EXPECT_FALSE(begin("a-7", milliseconds(10)));
  EXPECT_EQ(answer_->value().body, "small") << "what is known stays known";
}

TEST_F(RememberedAnswersTest, ForgetsInTimeAndHasRoomAgain) {
  begin("a-1")(answer(std::string(5'000, 'x')));
  pass_time();
  begin("a-2")(answer("small"));
  EXPECT_FALSE(begin("a-2", milliseconds(10)));
  EXPECT_EQ(answer_->value().body, "small");
  // Nobody asks after so long.
  EXPECT_FALSE(begin("a-1", RememberedAnswers::kKeptFor + seconds(10)));
  EXPECT_EQ(answer_->error().code, Code::not_found);
}

}  // namespace
}  // namespace orrery::face
