// Levels by name, and what a request may ask for.
#include "api/cosmos/wire/consistency.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(Consistency, LevelsHaveNames) {
  for (const auto level :
       {Consistency::strong, Consistency::bounded_staleness, Consistency::session,
        Consistency::consistent_prefix, Consistency::eventual}) {
    EXPECT_EQ(parse_consistency(to_string(level)).value(), level);
  }
  EXPECT_EQ(parse_consistency("session").error().code, Code::invalid);
}

TEST(Consistency, StrongerReadsCostTwice) {
  EXPECT_EQ(consistency_factor("", Consistency::strong).value(), 2);
  EXPECT_EQ(consistency_factor("", Consistency::bounded_staleness).value(), 2);
  EXPECT_EQ(consistency_factor("", Consistency::session).value(), 1);
  EXPECT_EQ(consistency_factor("Eventual", Consistency::strong).value(), 1);
}

TEST(Consistency, ARequestCannotAskForMoreThanTheAccountHas) {
  EXPECT_EQ(consistency_factor("Session", Consistency::session).value(), 1);
  const auto refused = consistency_factor("Strong", Consistency::session);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_NE(refused.error().message.find("stronger than the account's default, Session"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery::cosmos
