// The index finds what was added, also where hashes collide.
#include "api/gremlin/value/value_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace orrery::gremlin {
namespace {

TEST(ValueIndexTest, FindsWhatWasAdded) {
  std::mt19937 random(1);
  ValueIndex index;
  std::vector<unsigned> values;
  std::map<unsigned, size_t> expected;
  for (int i = 0; i < 5000; ++i) {
    const unsigned value = random() % 1000;
    // Few different hashes: most of them collide.
    const size_t at =
        index.find_or_add(value % 97, [&](size_t position) { return values[position] == value; });
    const auto [known, is_new] = expected.try_emplace(value, values.size());
    ASSERT_EQ(at, known->second);
    if (is_new) values.push_back(value);
    ASSERT_EQ(index.size(), values.size());
  }
  index.clear();
  EXPECT_EQ(index.find_or_add(5, [](size_t) { return true; }), 0U);
}

}  // namespace
}  // namespace orrery::gremlin
