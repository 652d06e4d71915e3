// Order-preserving encodings: bytes compare as the values do, and read back.
#include "value/ordered.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace orrery::value {
namespace {

using namespace std::string_literals;

std::string ordered(std::string_view bytes) {
  std::string out;
  append_ordered_bytes(out, bytes);
  return out;
}

std::string ordered(double number) {
  std::string out;
  append_ordered_number(out, number);
  return out;
}

TEST(Ordered, BytesAreWrittenAsDocumented) {
  EXPECT_EQ(ordered(""), "\x00\x01"s);
  EXPECT_EQ(ordered("ab"), "ab\x00\x01"s);
  EXPECT_EQ(ordered("a\0b"s), "a\x00\xFF"s + "b\x00\x01"s);
  EXPECT_EQ(ordered("\0"s), "\x00\xFF\x00\x01"s);
}

TEST(Ordered, NumbersAreWrittenAsDocumented) {
  EXPECT_EQ(ordered(0.0), "\x80\0\0\0\0\0\0\0"s);
  EXPECT_EQ(ordered(-0.0), ordered(0.0));
  EXPECT_EQ(ordered(1.0), "\xBF\xF0\0\0\0\0\0\0"s);
  EXPECT_EQ(ordered(-1.0), "\x40\x0F\xFF\xFF\xFF\xFF\xFF\xFF"s);
  std::string out;
  append_u64(out, 0x0102030405060708U);
  EXPECT_EQ(out, "\1\2\3\4\5\6\7\10"s);
}

// Short strings over few letters, so that prefixes and neighbours are common.
std::string random_bytes(std::mt19937_64& random) {
  static constexpr char kLetters[] = {'\x00', '\x01', '\x02', 'a', '\xFE', '\xFF'};
  std::string out;
  for (uint64_t i = random() % 6; i > 0; --i) out.push_back(kLetters[random() % 6]);
  return out;
}

TEST(Ordered, BytesKeepTheirOrderAndComeBack) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 50000; ++i) {
    const std::string a = random_bytes(random);
    const std::string b = random_bytes(random);
    ASSERT_EQ(a < b, ordered(a) < ordered(b));
    ASSERT_EQ(a == b, ordered(a) == ordered(b));
    ASSERT_TRUE(a == b || !ordered(a).starts_with(ordered(b)));
    const std::string both = ordered(a) + ordered(b);
    std::string_view in = both;
    ASSERT_EQ(take_ordered_bytes(in).value(), a);
    ASSERT_EQ(take_ordered_bytes(in).value(), b);
    ASSERT_TRUE(in.empty());
  }
}

// Parts one after the other compare part by part.
TEST(Ordered, ConcatenationsKeepTheirOrder) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 50000; ++i) {
    const std::pair a{random_bytes(random), random_bytes(random)};
    const std::pair b{random_bytes(random), random_bytes(random)};
    ASSERT_EQ(a < b, ordered(a.first) + ordered(a.second) < ordered(b.first) + ordered(b.second));
  }
}

TEST(Ordered, NumbersKeepTheirOrderAndComeBack) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{0,      1, -1,        5e-324,     -5e-324, 1e308,
                              -1e308, 2, kInfinity, -kInfinity, 0.5,     -0.5};
  std::mt19937_64 random(13);
  while (numbers.size() < 600) {
    const auto number = std::bit_cast<double>(static_cast<uint64_t>(random()));
    if (!std::isnan(number)) numbers.push_back(number);
    numbers.push_back(static_cast<double>(static_cast<int64_t>(random() % 200) - 100));
  }
  for (const double a : numbers) {
    const std::string encoded = ordered(a);
    std::string_view in = encoded;
    ASSERT_EQ(take_ordered_number(in).value(), a);
    ASSERT_TRUE(in.empty());
    for (const double b : numbers) {
      ASSERT_EQ(a < b, encoded < ordered(b)) << a << " " << b;
      ASSERT_EQ(a == b, encoded == ordered(b)) << a << " " << b;
    }
  }
}

TEST(Ordered, IntegersComeBack) {
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{256}, ~uint64_t{0}}) {
    std::string out;
    append_u64(out, number);
    out += "rest";
    std::string_view in = out;
    EXPECT_EQ(take_u64(in).value(), number);
    EXPECT_EQ(in, "rest");
  }
}

TEST(Ordered, MalformedInputIsCorruptAndNotConsumed) {
  for (const std::string& bytes : {""s, "abc"s, "abc\0"s, "abc\0\2"s, "\0\xFF"s, "\0\0"s}) {
    std::string_view in = bytes;
    const auto taken = take_ordered_bytes(in);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Code::corrupt);
    EXPECT_EQ(in, bytes);
  }
  std::string_view seven = "1234567";
  EXPECT_EQ(take_ordered_number(seven).error().code, Code::corrupt);
  EXPECT_EQ(take_u64(seven).error().code, Code::corrupt);
  EXPECT_EQ(seven.size(), 7U);
}

TEST(Ordered, AfterPrefixIsTheFirstWithoutIt) {
  EXPECT_EQ(after_prefix("a"), "b");
  EXPECT_EQ(after_prefix("a\xFF\xFF"), "b");
  EXPECT_EQ(after_prefix("a\0"s), "a\1"s);
  EXPECT_EQ(after_prefix(""), "");
  EXPECT_EQ(after_prefix("\xFF\xFF"), "");
  std::mt19937_64 random(14);
  for (int i = 0; i < 20000; ++i) {
    const std::string prefix = random_bytes(random);
    const std::string other = random_bytes(random);
    const std::string after = after_prefix(prefix);
    const bool inside = other >= prefix && (after.empty() || other < after);
    ASSERT_EQ(inside, other.starts_with(prefix));
  }
}

}  // namespace
}  // namespace orrery::value
