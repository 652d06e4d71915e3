// Murmur3 against the verification value of its authors, and known hashes.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"

namespace orrery {
namespace {

std::string hex_128(std::string_view bytes, uint32_t seed) {
  const auto hash = murmur3_x64_128(bytes, seed);
  return to_hex_upper(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

// The verification of the SMHasher suite: hash keys 0, 01, 0102, … with seeds 256 - length, then
// hash the hashes; the first four bytes are a published constant.
TEST(Murmur3, PassesTheSmhasherVerification) {
  std::string hashes_32;
  std::string hashes_128;
  std::string key;
  for (uint32_t i = 0; i < 256; ++i) {
    char four[4];
    store_u32_le(four, murmur3_x86_32(key, 256 - i));
    hashes_32.append(four, 4);
    const auto sixteen = murmur3_x64_128(key, 256 - i);
    hashes_128.append(reinterpret_cast<const char*>(sixteen.data()), sixteen.size());
    key.push_back(static_cast<char>(i));
  }
  EXPECT_EQ(murmur3_x86_32(hashes_32, 0), 0xB0F57EE3U);
  const auto final_128 = murmur3_x64_128(hashes_128, 0);
  EXPECT_EQ(load_u32_le(final_128.data()), 0x6384BA69U);
}

TEST(Murmur3, KnownHashes) {
  EXPECT_EQ(murmur3_x86_32("", 0), 0U);
  EXPECT_EQ(murmur3_x86_32("", 1), 0x514E28B7U);
  EXPECT_EQ(murmur3_x86_32("hello", 0), 0x248BFA47U);
  EXPECT_EQ(hex_128("", 0), "00000000000000000000000000000000");
  EXPECT_EQ(hex_128("hello", 0), "029BBD41B3A7D8CB191DAE486A901E5B");
}

}  // namespace
}  // namespace orrery
