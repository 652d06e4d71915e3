// The map from edges to the lists that name them, against std::map.
#include "api/gremlin/graph/edge_ends.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace orrery::gremlin {
namespace {

TEST(EdgeEndsTest, HasWhatWasSetAndNotForgotten) {
  std::mt19937_64 random(17);
  EdgeEnds ends;
  std::map<uint64_t, EdgeEnds::Ends> expected;
  for (int i = 0; i < 200'000; ++i) {
    // Few different ones, so that most are set, changed and forgotten again and again.
    const uint64_t edge = (random() % 2000) << (i % 2 == 0 ? 0 : 50);
    EdgeEnds::Ends to;
    if (random() % 3 != 0) to.out = static_cast<uint32_t>(random() % 100);
    if (random() % 3 != 0) to.in = static_cast<uint32_t>(random() % 100);
    ends.set(edge, to);
    expected[edge] = to;
    const uint64_t other = random() % 2000;
    const auto known = expected.find(other);
    EXPECT_EQ(ends.find(other), known == expected.end() ? EdgeEnds::Ends() : known->second);
  }
  for (const auto& [edge, to] : expected) EXPECT_EQ(ends.find(edge), to);
  EXPECT_LT(ends.bytes(), 32U * 2 * 4096);  // it does not grow with what was forgotten
  ends.clear();
  EXPECT_EQ(ends.find(1), EdgeEnds::Ends());
}

}  // namespace
}  // namespace orrery::gremlin
