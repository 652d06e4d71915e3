// Frames of RNTBD: their bytes, their limits, and what is cut off.
#include "api/cosmos/direct/frame.h"

#include <gtest/gtest.h>

#include <string>

#include "api/cosmos/direct/token_ids.h"

namespace orrery::cosmos::direct {
namespace {

using Outcome = FrameProgress::Outcome;

constexpr FrameLimits kLimits{.head_bytes_max = 1000, .payload_bytes_max = 100};
const std::string kFrameActivity =
    "\x04\x03\x02\x01\x06\x05\x08\x07\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";

std::string request_frame(std::string_view payload) {
  std::string out;
  FrameWriter frame(out, operation::kCreate << 16 | resource::kItem, kFrameActivity);
  frame.add_text(request_token::kDatabaseName, "shop");
  frame.add_byte(request_token::kPayloadPresent, payload.empty() ? 0 : 1);
  frame.end();
  if (!payload.empty()) frame.add_payload(payload);
  return out;
}

TEST(RntbdFrame, HasTheBytesOfTheProtocol) {
  std::string out;
  FrameWriter frame(out, 0x00130003, kFrameActivity);
  frame.add_byte(0x0002, 1);
  frame.add_u32(0x004D, 7);
  frame.end();
  frame.add_payload("{}");
  std::string expected("\x23\0\0\0\x03\0\x13\0", 8);
  expected += kFrameActivity;
  expected += std::string("\x02\0\0\x01\x4d\0\x02\x07\0\0\0", 11);
  expected += std::string("\x02\0\0\0{}", 6);
  EXPECT_EQ(out, expected);
}

TEST(RntbdFrame, IsReadOnceItIsWhole) {
  const std::string bytes = request_frame("{\"id\":\"1\"}");
  RequestFrame frame;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const FrameProgress progress =
        read_frame(std::string_view(bytes).substr(0, size), kLimits, frame);
    ASSERT_TRUE(progress.outcome == Outcome::need_head || progress.outcome == Outcome::need_payload)
        << size;
    EXPECT_TRUE(progress.bytes == 0 || (progress.bytes > size && progress.bytes <= bytes.size()));
  }
  // What follows it is not looked at.
  const std::string with_more = bytes + "more";
  ASSERT_EQ(read_frame(with_more, kLimits, frame).outcome, Outcome::whole);
  EXPECT_EQ(frame.bytes, bytes.size());
  EXPECT_EQ(frame.resource, resource::kItem);
  EXPECT_EQ(frame.operation, operation::kCreate);
  EXPECT_EQ(frame.activity_id, kFrameActivity);
  EXPECT_EQ(frame.payload, "{\"id\":\"1\"}");
}

TEST(RntbdFrame, WithoutPayloadEndsAfterItsTokens) {
  const std::string bytes = request_frame("");
  RequestFrame frame;
  ASSERT_EQ(read_frame(bytes, kLimits, frame).outcome, Outcome::whole);
  EXPECT_EQ(frame.payload, "");
  EXPECT_EQ(frame.bytes, bytes.size());
}

// The number of PayloadPresent is the user agent's there.
TEST(RntbdFrame, ConnectionContextHasNoPayload) {
  std::string bytes;
  FrameWriter writer(bytes, 0, kFrameActivity);
  writer.add_u32(context_token::kProtocolVersion, 1);
  writer.add_text8(context_token::kUserAgent, "a client");
  writer.end();
  RequestFrame frame;
  ASSERT_EQ(read_frame(bytes, kLimits, frame).outcome, Outcome::whole);
  EXPECT_TRUE(frame.is_connection_context());
}

TEST(RntbdFrame, IsRefusedOverItsLimits) {
  RequestFrame frame;
  // By its length alone, before the rest has come.
  EXPECT_EQ(read_frame(std::string("\x17\0\0\0", 4), kLimits, frame).outcome, Outcome::malformed);
  EXPECT_EQ(read_frame(std::string("\xe9\x03\0\0", 4), kLimits, frame).outcome, Outcome::malformed);
  EXPECT_EQ(read_frame(std::string("\xff\xff\xff\xff", 4), kLimits, frame).outcome,
            Outcome::malformed);
  EXPECT_EQ(read_frame(request_frame(std::string(101, 'x')), kLimits, frame).outcome,
            Outcome::malformed);
  EXPECT_EQ(read_frame(request_frame(std::string(100, 'x')), kLimits, frame).outcome,
            Outcome::whole);
}

TEST(RntbdFrame, TokenThatIsCutOffIsMalformed) {
  const auto outcome_of = [](std::string_view tokens) {
    std::string bytes;
    FrameWriter writer(bytes, 0x00030003, kFrameActivity);
    bytes += tokens;
    writer.end();
    RequestFrame frame;
    return read_frame(bytes, kLimits, frame).outcome;
  };
  EXPECT_EQ(outcome_of(""), Outcome::whole);
  EXPECT_EQ(outcome_of(std::string("\x15\0", 2)), Outcome::malformed);
  EXPECT_EQ(outcome_of(std::string("\x15\0\x08\x02\0a", 6)), Outcome::malformed);
  EXPECT_EQ(outcome_of(std::string("\x15\0\x09\xff\xff\xff\xff", 7)), Outcome::malformed);
  EXPECT_EQ(outcome_of(std::string("\x15\0\x0f\x01", 4)), Outcome::malformed);  // no such type
  EXPECT_EQ(outcome_of(std::string("\x15\0\x05\1\2\3\4\5\6\7", 10)), Outcome::malformed);
  EXPECT_EQ(outcome_of(std::string("\x02\0\x07\0", 4)), Outcome::malformed);  // PayloadPresent
}

TEST(RntbdTokens, OfEveryTypeAreRead) {
  const std::string bytes(
      "\1\0\0\xfe"
      "\2\0\1\2\1"
      "\3\0\2\4\3\2\1"
      "\4\0\3\xff\xff\xff\xff"
      "\5\0\5\xfe\xff\xff\xff\xff\xff\xff\xff"
      "\6\0\7\2ab"
      "\7\0\x0a\1c"
      "\x08\0\x0c\1\0\0\0d"
      "\x09\0\x0e\0\0\0\0\0\0\xf0\x3f",
      4 + 5 + 7 + 7 + 11 + 6 + 5 + 8 + 11);
  TokenReader reader(bytes);
  Token token;
  const auto number = [&] {
    EXPECT_EQ(reader.next(token), TokenReader::Outcome::token);
    EXPECT_TRUE(token.is_number());
    return static_cast<int64_t>(token.number);
  };
  const auto text = [&] {
    EXPECT_EQ(reader.next(token), TokenReader::Outcome::token);
    EXPECT_FALSE(token.is_number());
    return token.bytes;
  };
  EXPECT_EQ(number(), 0xfe);
  EXPECT_EQ(number(), 0x0102);
  EXPECT_EQ(number(), 0x01020304);
  EXPECT_EQ(number(), -1);
  EXPECT_EQ(number(), -2);
  EXPECT_EQ(text(), "ab");
  EXPECT_EQ(text(), "c");
  EXPECT_EQ(text(), "d");
  EXPECT_EQ(text().size(), 8U);
  EXPECT_EQ(token.id, 9);
  EXPECT_EQ(reader.next(token), TokenReader::Outcome::end);
}

TEST(RntbdFrame, ActivityIdIsShownAsDotNetDoes) {
  const auto text = activity_text(kFrameActivity);
  EXPECT_EQ(std::string(text.data(), text.size()), "01020304-0506-0708-090a-0b0c0d0e0f10");
}

TEST(RntbdFrame, LongTextsAreCutToWhatClientsCanRead) {
  std::string bytes;
  FrameWriter writer(bytes, 200, kFrameActivity);
  writer.add_text8(1, std::string(300, 'a'));
  writer.add_text(2, std::string(70'000, 'b'));
  writer.end();
  TokenReader reader(std::string_view(bytes).substr(kFrameHeadBytes));
  Token token;
  ASSERT_EQ(reader.next(token), TokenReader::Outcome::token);
  EXPECT_EQ(token.bytes.size(), 255U);
  ASSERT_EQ(reader.next(token), TokenReader::Outcome::token);
  EXPECT_EQ(token.bytes.size(), kTextBytesMax);
}

}  // namespace
}  // namespace orrery::cosmos::direct
