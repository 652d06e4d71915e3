// Log lines: whatever a value holds, it stays one value in one line.
#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery::log {
namespace {

std::string written(Format format, std::string_view value) {
  testing::internal::CaptureStderr();
  configure(Level::info, format);
  info("said", {{"value", value}});
  std::string line = testing::internal::GetCapturedStderr();
  configure(Level::info, Format::text);
  return line.substr(line.find(format == Format::json ? "\"value\"" : "value="));
}

TEST(Log, PlainValuesStandAsTheyAre) {
  EXPECT_EQ(written(Format::text, "orders-1"), "value=orders-1\n");
  EXPECT_EQ(written(Format::text, "caf\u00e9"), "value=\"caf\u00e9\"\n");
  EXPECT_EQ(written(Format::json, "a b"), "\"value\":\"a b\"}\n");
}

TEST(Log, NoValueMakesALineOrAFieldOfItsOwn) {
  const std::string forged = "x\n2026-01-01T00:00:00.000Z info all is well\r admin=\"yes\"";
  for (const Format format : {Format::text, Format::json}) {
    const std::string line = written(format, forged);
    EXPECT_EQ(std::ranges::count(line, '\n'), 1) << line;
    EXPECT_NE(line.find("x\\u000a2026"), std::string::npos) << line;
    EXPECT_NE(line.find("admin=\\\"yes\\\""), std::string::npos) << line;
  }
}

TEST(Log, NoValueCommandsTheTerminalOrBreaksTheEncoding) {
  for (const auto& [value, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"\x1b[2J", "\\u001b[2J"},
           {"\x7f", "\\u007f"},
           {"\xc2\x9b"
            "2J",
            "\\u009b2J"},                              // CSI in one character
           {"\xe2\x80\xa8", "\\u2028"},                // a line separator
           {"\xe2\x80\xae", "\\u202e"},                // right to left
           {"\xff", "\\ufffd"},                        // no UTF-8
           {"\xc0\xaf", "\\ufffd\\ufffd"},             // overlong
           {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},  // half of a pair
           {"\xe2\x82", "\\ufffd\\ufffd"},             // cut short
           {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
       }) {
    EXPECT_EQ(written(Format::text, value), "value=\"" + std::string(expected) + "\"\n");
    EXPECT_EQ(written(Format::json, value), "\"value\":\"" + std::string(expected) + "\"}\n");
  }
}

}  // namespace
}  // namespace orrery::log
