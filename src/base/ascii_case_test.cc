// Letters of ASCII change, and nothing else does.
#include "base/ascii_case.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(AsciiCase, LowersLettersAlone) {
  EXPECT_EQ(lowered("GET /Shop/[AZ]@`{z}"), "get /shop/[az]@`{z}");
  EXPECT_EQ(lowered("\xC3\x84\xC3\xA4"), "\xC3\x84\xC3\xA4");
  EXPECT_EQ(lowered(""), "");
  std::string out = "Kept";
  append_lower(out, "LOW");
  EXPECT_EQ(out, "Keptlow");
}

}  // namespace
}  // namespace orrery
