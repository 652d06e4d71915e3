// Sets and indexes of numbers, against those of the standard library.
#include "api/gremlin/value/number_set.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace orrery::gremlin {
namespace {

TEST(NumberSetTest, TellsWhatIsNew) {
  std::mt19937 random(3);
  NumberSet numbers;
  EXPECT_TRUE(numbers.empty());
  std::set<uint32_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const uint32_t number = random() % 30'000;
    EXPECT_EQ(numbers.insert(number), expected.insert(number).second);
  }
  EXPECT_FALSE(numbers.empty());
  numbers.clear();
  EXPECT_TRUE(numbers.insert(*expected.begin()));
}

TEST(NumberIndexTest, GivesEachNumberItsPosition) {
  std::mt19937 random(4);
  NumberIndex index(500);
  std::map<uint32_t, size_t> expected;
  for (int i = 0; i < 5000; ++i) {
    const uint32_t number = random() % 500 * 65'536;
    const size_t next = expected.size();
    EXPECT_EQ(index.find_or_add(number, next), expected.try_emplace(number, next).first->second);
  }
  NumberIndex none(0);
  EXPECT_EQ(none.find_or_add(7, 0), 0U);
}

}  // namespace
}  // namespace orrery::gremlin
