// Continuation tokens read back as they were made; damaged, foreign and overlong ones do not.
#include "api/cosmos/wire/continuation.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(Continuation, ReadsBackWhatItWrites) {
  const Continuations tokens{account::Secret("secret")};
  for (const size_t size : {0U, 1U, 2U, 3U, 255U, 1023U}) {
    const FeedPosition position{.container = 7,
                                .after_placement = std::string("\x00\xFF\x3F", 3),
                                .after_row = std::string(size, '\xFE')};
    auto back = tokens.decode(tokens.encode(position), 7);
    ASSERT_TRUE(back.has_value()) << size;
    EXPECT_EQ(*back, position);
  }
  auto name = tokens.decode_name(tokens.encode_name("orders"));
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(*name, "orders");
}

TEST(Continuation, IsShortAndSafeInAHeader) {
  const Continuations tokens{account::Secret("secret")};
  const std::string token = tokens.encode({.container = 0xFFFFFFFF,
                                           .after_placement = std::string(123, '\xFF'),
                                           .after_row = std::string(255, '\xFF')});
  EXPECT_EQ(token.size(), 528U);
  for (const char c : token) {
    EXPECT_TRUE(isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') << c;
  }
}

TEST(Continuation, RefusesEveryChange) {
  const Continuations tokens{account::Secret("secret")};
  const std::string token =
      tokens.encode({.container = 1, .after_placement = "abc", .after_row = "row"});
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(tokens.decode(changed, 1).has_value()) << i;
    EXPECT_FALSE(tokens.decode(token.substr(0, i), 1).has_value()) << i;
  }
  EXPECT_FALSE(tokens.decode(token + "A", 1).has_value());
  EXPECT_FALSE(tokens.decode(token + "=", 1).has_value());
}

TEST(Continuation, RefusesForeignOnes) {
  const Continuations tokens{account::Secret("secret")};
  const std::string token =
      tokens.encode({.container = 1, .after_placement = "abc", .after_row = "row"});
  auto other_container = tokens.decode(token, 2);
  ASSERT_FALSE(other_container.has_value());
  EXPECT_EQ(other_container.error().code, Code::invalid);
  EXPECT_FALSE(Continuations(account::Secret("other")).decode(token, 1).has_value());
  EXPECT_FALSE(tokens.decode_name(token).has_value());
  EXPECT_FALSE(tokens.decode(tokens.encode_name("x"), 1).has_value());
  EXPECT_FALSE(tokens.decode("{\"token\":\"+RID:~abc#RT:1\"}", 1).has_value());
  EXPECT_FALSE(tokens.decode(std::string(kMaxContinuationBytes + 1, 'A'), 1).has_value());
}

QueryPosition some_position() {
  QueryPosition position{.container = 1, .query_hash = 2, .range_hash = 3, .at = {}};
  position.at.key = std::string("\x00key", 4);
  position.at.rows_of_it = 4;
  position.at.skipped = 5;
  position.at.given = 6;
  position.at.order = "[[1],[]]";
  position.at.order_mark = query::Fingerprint{7};
  position.at.result_mark = query::Fingerprint{8};
  position.at.tie_number = 0x12345678;
  position.at.gathered = "{}";
  return position;
}

TEST(Continuation, OfAQuery) {
  const Continuations tokens{account::Secret("secret")};
  const QueryPosition position = some_position();
  auto token = tokens.encode(position, 1024);
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_TRUE(token->starts_with("{\"token\":\"")) << "JSON, as the vendor's: " << *token;
  auto back = tokens.decode_query(*token, 1, 2);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, position);
  EXPECT_FALSE(tokens.decode_query(*token, 9, 2));
  EXPECT_FALSE(tokens.decode_query(*token, 1, 9));
  EXPECT_FALSE(tokens.decode(*token, 1));
  EXPECT_FALSE(Continuations(account::Secret("other")).decode_query(*token, 1, 2));
  for (size_t i = 0; i < token->size(); ++i) {
    std::string changed = *token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(tokens.decode_query(changed, 1, 2)) << i;
  }
}

TEST(Continuation, OrderValuesAreLeftOutOfShortOnes) {
  const Continuations tokens{account::Secret("secret")};
  QueryPosition position = some_position();
  for (const size_t length : {1000, 5000, 100'000}) {
    position.at.order = "[[\"" + std::string(length, 'x') + "\"]]";
    auto token = tokens.encode(position, 1024);
    ASSERT_TRUE(token) << token.error().message;
    EXPECT_LE(token->size(), 1024U);
    auto back = tokens.decode_query(*token, 1, 2);
    ASSERT_TRUE(back);
    EXPECT_TRUE(back->at.order.empty());
    EXPECT_EQ(back->at.order_mark, position.at.order_mark);
  }
  position.at.key = std::string(1000, 'k');
  auto none = tokens.encode(position, 1024);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::invalid);
  EXPECT_TRUE(tokens.encode(position, 2048));
}

TEST(Continuation, TheLimitThatAClientSets) {
  EXPECT_EQ(continuation_limit("").value(), kMaxContinuationBytes);
  EXPECT_EQ(continuation_limit("1").value(), 1024U);
  EXPECT_EQ(continuation_limit("99").value(), kMaxContinuationBytes);
  for (const char* bad : {"0", "-1", "x", "1.5", "1 ", "99999999999999999999"}) {
    EXPECT_FALSE(continuation_limit(bad)) << bad;
  }
}

}  // namespace
}  // namespace orrery::cosmos
