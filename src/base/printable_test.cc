// Text from outside, shown: one line, valid UTF-8, no commands.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

std::string printable(std::string_view text, std::string_view escaped = {}) {
  std::string out = "> ";
  append_printable(out, text, escaped);
  return out.substr(2);
}

TEST(Printable, TextStandsAsItIs) {
  for (const char* text :
       {"", "orders \"1\" \\", "caf\u00e9 \u4f60 \U0001F600", "\u00a0\u2027\u202f"}) {
    EXPECT_EQ(printable(text), text);
  }
  EXPECT_EQ(printable("a\"b\\c", "\"\\"), "a\\\"b\\\\c");
}

TEST(Printable, CommandsAreShownNotGiven) {
  EXPECT_EQ(printable("a\r\n\tb\x1b[2J\x7f"), "a\\u000d\\u000a\\u0009b\\u001b[2J\\u007f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(printable("\u0080\u009b\u2028\u2029\u202a\u202e\u2066\u2069"),
            "\\u0080\\u009b\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069");
}

TEST(Printable, WhatIsNoUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\xff"), "\\ufffd");
  EXPECT_EQ(printable("\x80"), "\\ufffd");
  EXPECT_EQ(printable("\xc0\xaf"), "\\ufffd\\ufffd") << "longer than it need be";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\ufffd\\ufffd\\ufffd") << "longer than it need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd") << "beyond Unicode";
  EXPECT_EQ(printable("\xe2\x82"), "\\ufffd\\ufffd") << "cut short";
  EXPECT_EQ(printable("\xe2\x82z"), "\\ufffd\\ufffdz") << "cut short";
}

}  // namespace
}  // namespace orrery
