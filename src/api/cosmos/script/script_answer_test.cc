// How the end of a script looks on the wire.
#include "api/cosmos/script/script_answer.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

using script::Failed;
using script::Failure;

TEST(ScriptAnswer, TellsTheExceptionItsLineAndItsStack) {
  const ErrorReply reply = script_error(Failed{.failure = Failure::threw,
                                               .number = 409,
                                               .message = "Error: boom",
                                               .stack = "    at f (p.js:3:7)",
                                               .line = 3},
                                        "p", "id");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.substatus, 409U);
  for (const char* part :
       {"Encountered exception while executing Javascript. Exception = Error: boom",
        "Script 'p', line 3", "at f (p.js:3:7)"}) {
    EXPECT_NE(reply.body.find(part), std::string::npos) << part << " in " << reply.body;
  }
}

TEST(ScriptAnswer, GivesEachFailureItsStatus) {
  const auto status = [](Failure failure) {
    return script_error(Failed{.failure = failure}, "p", "id").status;
  };
  EXPECT_EQ(status(Failure::compile), 400);
  EXPECT_EQ(status(Failure::aborted), 400);
  EXPECT_EQ(status(Failure::memory), 400);
  EXPECT_EQ(status(Failure::timed_out), 408);
  EXPECT_EQ(status(Failure::too_large), 413);
  EXPECT_EQ(status(Failure::busy), 429);
  EXPECT_EQ(status(Failure::unable), 503);
}

TEST(ScriptAnswer, EncodesTheLogForAHeader) {
  EXPECT_EQ(log_header("a b\r\n100%"), "a%20b%0D%0A100%25");
  EXPECT_EQ(log_header("ü"), "%C3%BC");
  std::string longest;
  for (int i = 0; i < 10'000; ++i) longest += "ü";
  const std::string cut = log_header(longest);
  EXPECT_LE(cut.size(), 8'192U);
  EXPECT_EQ(cut.size() % 6, 0U);  // no character is cut in two
}

TEST(ScriptAnswer, FindsTheSource) {
  EXPECT_EQ(script_source(R"("body":"f\n;","triggerType":"Pre")"), "f\n;");
  EXPECT_EQ(script_source(""), "");
}

}  // namespace
}  // namespace orrery::cosmos
