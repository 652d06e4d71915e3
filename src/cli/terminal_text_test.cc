// Tables line up whatever is in them, and what clients wrote cannot control the terminal.
#include "cli/terminal_text.h"

#include <gtest/gtest.h>

namespace orrery::cli {
namespace {

TEST(TerminalText, TablesLineUp) {
  Table table({{"name"}, {"items", Table::Align::right}, {"note"}});
  EXPECT_TRUE(table.empty());
  table.add({"größe", "7", "a"});
  table.add({"x", "1,234", ""});
  EXPECT_EQ(table.text(), "name   items  note\ngröße      7  a\nx      1,234\n");
}

TEST(TerminalText, LongCellsAndLinesAreCutBetweenCharacters) {
  Table table({{"a"}, {"b"}});
  table.add({"ääääää", "second"}, 4);
  EXPECT_EQ(table.text(), "a     b\näää…  sec…\n");
  EXPECT_EQ(table.text(6), "a    …\näää… …\n");
}

TEST(TerminalText, ControlCharactersAreEscaped) {
  Table table({{"a"}});
  table.add({"\x1b[2J\n"});
  EXPECT_EQ(table.text(), "a\n\\u001b[2J\\u000a\n");
}

TEST(TerminalText, NumbersAndSizes) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(999.6), "1,000");
  EXPECT_EQ(number_text(1234567), "1,234,567");
  EXPECT_EQ(number_text(-1234), "-1,234");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KB");
}

}  // namespace
}  // namespace orrery::cli
