// Records are done in any order, and passed in the order in which they were read.
#include "transfer/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery::transfer {
namespace {

using testing::ElementsAre;

TEST(LedgerTest, PassesInOrderWhatIsDoneInAny) {
  std::vector<std::string> passed;
  Ledger ledger([&](const Mark& mark, Outcome outcome, const std::string& reject) {
    passed.push_back(std::to_string(mark.at) + (outcome == Outcome::rejected ? reject : ""));
  });
  std::vector<uint64_t> tickets;
  for (uint64_t at = 0; at < 5; ++at)
    tickets.push_back(ledger.add({.part = 0, .at = at, .line = 0}));
  ledger.done(tickets[2], Outcome::rejected, "!");
  ledger.done(tickets[1], Outcome::written);
  EXPECT_THAT(passed, ElementsAre());
  EXPECT_EQ(ledger.mark(tickets[3]).at, 3U);
  ledger.done(tickets[0], Outcome::present);
  EXPECT_THAT(passed, ElementsAre("0", "1", "2!"));
  ledger.done(tickets[4], Outcome::written);
  EXPECT_FALSE(ledger.is_empty());
  ledger.done(tickets[3], Outcome::written);
  EXPECT_THAT(passed, ElementsAre("0", "1", "2!", "3", "4"));
  EXPECT_TRUE(ledger.is_empty());
}

TEST(LedgerTest, IsFullWhenRejectedRecordsAreHeldForAnOlderOne) {
  size_t passed = 0;
  Ledger ledger([&](const Mark&, Outcome, const std::string&) { ++passed; });
  const uint64_t oldest = ledger.add({});
  size_t held = 0;
  for (; ledger.has_room(); ++held) {
    ASSERT_LT(held, 1'000U);
    ledger.done(ledger.add({}), Outcome::rejected, std::string(1 << 20, 'x'));
  }
  EXPECT_EQ(passed, 0U);
  ledger.done(oldest, Outcome::written);
  EXPECT_EQ(passed, held + 1);
  EXPECT_TRUE(ledger.has_room());
}

}  // namespace
}  // namespace orrery::transfer
