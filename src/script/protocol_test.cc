// The messages' bytes.
#include "script/protocol.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace orrery::script {
namespace {

std::string payload(const Message& message) {
  return encode(message).substr(kFrameHead);
}

TEST(ProtocolTest, EveryMessageReadsBackAsItWas) {
  const Message all[] = {
      WorkerLimits{.heap_bytes = 1, .memory_bytes = 1ULL << 40, .message_bytes = 3},
      Execution{.kind = Kind::post_trigger,
                .name = "n",
                .source = std::string("a\0b", 3),
                .arguments = "[1]",
                .logging = true,
                .time_ms = 4'000'000'000,
                .operations = 7,
                .response_bytes = 9},
      Load{.name = "f", .source = "x", .time_ms = 5},
      FunctionCall{.function = 2, .time_ms = 3, .rows = "[]", .undefined = {1, 2, 0xFFFFFFFF}},
      Unload{},
      Reply{.status = 449, .body = "{}", .continuation = "c"},
      ItemOperation{.kind = OperationKind::read_feed, .by_name = true, .page_size = -1},
      Done{.response_body = "1", .log = "line\n"},
      Failed{.failure = Failure::unable, .number = -5, .message = "m", .line = 3},
      Loaded{},
      Results{.json = "[[1],[]]"},
  };
  static_assert(std::size(all) == std::variant_size_v<Message>);
  for (const Message& message : all) {
    const std::string frame = encode(message);
    EXPECT_EQ(load_u32_le(frame.data()), frame.size() - kFrameHead);
    const auto back = decode(payload(message));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(encode(*back), frame);
  }
}

TEST(ProtocolTest, RefusesWhatIsCutOrContinued) {
  const std::string whole = payload(Failed{.number = 1, .message = "text", .stack = "s"});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode(whole + "x"));
}

TEST(ProtocolTest, RefusesValuesOutOfRange) {
  EXPECT_FALSE(decode("\x63"));
  std::string operation = payload(ItemOperation{});
  operation[1] = static_cast<char>(kOperationKinds);
  EXPECT_FALSE(decode(operation));
  std::string failed = payload(Failed{});
  failed[1] = static_cast<char>(kFailures);
  EXPECT_FALSE(decode(failed));
  // A length beyond the end takes no memory.
  std::string results = payload(Results{});
  store_u32_le(results.data() + 1, 0xFFFFFFFF);
  EXPECT_FALSE(decode(results));
  std::string call = payload(FunctionCall{});
  store_u32_le(call.data() + call.size() - 4, 0x3FFFFFFF);
  EXPECT_FALSE(decode(call));
}

TEST(ProtocolTest, EveryFailureHasAName) {
  for (uint8_t i = 0; i < kFailures; ++i) {
    EXPECT_NE(to_string(static_cast<Failure>(i)), "unknown");
  }
}

}  // namespace
}  // namespace orrery::script
