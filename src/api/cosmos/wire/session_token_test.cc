// Session tokens of every form, lists of them, ancestors of a range, and malformed ones.
#include "api/cosmos/wire/session_token.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery::cosmos {
namespace {

const std::vector<uint32_t> kNone;

std::optional<uint64_t> required(std::string_view list, uint32_t range,
                                 const std::vector<uint32_t>& ancestors = kNone) {
  auto lsn = lsn_required(list, range, ancestors);
  EXPECT_TRUE(lsn.has_value()) << list;
  return lsn.value_or(std::nullopt);
}

TEST(SessionToken, WritesTheOneRegionForm) {
  EXPECT_EQ(session_token(3, 42), "3:-1#42");
  EXPECT_EQ(session_token(0xFFFFFFFF, ~uint64_t{0}), "4294967295:-1#18446744073709551615");
}

TEST(SessionToken, ReadsEveryForm) {
  EXPECT_EQ(required("3:-1#42", 3), 42U);
  EXPECT_EQ(required("3:42", 3), 42U);
  EXPECT_EQ(required("3:1#42#1=7#2=-1", 3), 42U);
  EXPECT_EQ(required("", 3), std::nullopt);
}

TEST(SessionToken, PicksTheRangeAndItsAncestorsFromAList) {
  EXPECT_EQ(required("0:-1#9,1:-1#5, 2:-1#7", 1), 5U);
  EXPECT_EQ(required("0:-1#9,1:-1#5,2:-1#7", 4), std::nullopt);
  EXPECT_EQ(required("0:-1#9,1:-1#5,2:-1#7", 4, {0, 2}), 9U);
  EXPECT_EQ(required("0:-1#9,4:-1#11", 4, {0}), 11U);
  EXPECT_EQ(required("1:-1#5,1:-1#8,1:-1#6", 1), 8U);
}

TEST(SessionToken, RefusesMalformedOnes) {
  for (const char* list :
       {"x", "1", "1:", ":5", "1:-1#", "1:#5", "1:-1#5#", "1:-1#5#a", "1:-1#5#1=", "-1:5", "1:-5",
        "1:-1#99999999999999999999", "2:-1#3,garbage", "1:+5"}) {
    auto lsn = lsn_required(list, 1, kNone);
    ASSERT_FALSE(lsn.has_value()) << list;
    EXPECT_EQ(lsn.error().code, Code::invalid);
  }
}

TEST(SessionToken, IsBounded) {
  EXPECT_FALSE(lsn_required(std::string(kMaxSessionTokenBytes + 1, ' '), 1, kNone).has_value());
  EXPECT_FALSE(lsn_required(std::string(kMaxSessionTokenEntries + 1, ','), 1, kNone).has_value());
}

}  // namespace
}  // namespace orrery::cosmos
