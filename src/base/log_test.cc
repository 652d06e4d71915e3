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
  EXPECT_EQ(written(Format::text, "\x1b[2J\xff"), "value=\"\\u001b[2J\\ufffd\"\n");
  EXPECT_EQ(written(Format::json, "\x7f\xc2\x9b"), "\"value\":\"\\u007f\\u009b\"}\n");
}

}  // namespace
}  // namespace orrery::log
