// The checksum by the instruction and by tables, whole and in parts.
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

// RFC 3720, B.4.
TEST(Crc32cTest, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
}

TEST(Crc32cTest, IsTheSameByTheInstructionAndByTables) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(crc32c(bytes), extend_crc32c_by_table(0, bytes)) << i;
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Crc32cTest, CanBeTakenOfParts) {
  const std::string bytes = "a log that is written in records";
  for (size_t i = 0; i <= bytes.size(); ++i) {
    EXPECT_EQ(extend_crc32c(crc32c(bytes.substr(0, i)), bytes.substr(i)), crc32c(bytes));
  }
}

}  // namespace
}  // namespace orrery
