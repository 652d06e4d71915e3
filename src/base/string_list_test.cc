// See string_list.h.
#include "base/string_list.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(StringListTest, GivesWhatWasAddedInOrder) {
  StringList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  for (std::string_view text : {"a", "", "longer than a short string is"}) list.push_back(text);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.front(), "a");
  EXPECT_EQ(list[1], "");
  EXPECT_EQ(list.back(), "longer than a short string is");
  EXPECT_EQ(list.bytes(), 30U);
  EXPECT_GE(list.memory(), 30U + 3 * sizeof(size_t));
  EXPECT_EQ(list.strings(), (std::vector<std::string>{"a", "", "longer than a short string is"}));
  std::vector<std::string> more = {"before"};
  more.insert(more.end(), list.begin(), list.end());
  EXPECT_EQ(more.size(), 4U);
}

}  // namespace
}  // namespace orrery
