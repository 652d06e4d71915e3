// Hexadecimal, base64 and percent encodings read back; what is malformed is refused.
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery {
namespace {

std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

TEST(Hex, EncodesUpperCaseAndReadsEitherCase) {
  EXPECT_EQ(to_hex_upper(std::string_view("\x00\xAB\x3F", 3)), "00AB3F");
  EXPECT_EQ(from_hex("00ab3F").value(), std::string("\x00\xAB\x3F", 3));
  EXPECT_EQ(from_hex("").value(), "");
}

TEST(Hex, RefusesWhatIsNotHexadecimal) {
  for (const char* text : {"0", "0G", "G0", "0x", " 0", "123"}) {
    const auto bytes = from_hex(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, Code::invalid);
  }
}

TEST(Base64, KnownSpellings) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xFB\xFF", "+/8="}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text).value(), bytes);
  }
}

TEST(Base64, IsStrict) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zh==", "Zm9=", "Zm 9",
                           "Zg==Zg==", "Zm-v", "Zm9v\n", "Z=g="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(Bytes, TextFormsRoundTrip) {
  std::mt19937_64 random(1);
  for (size_t size = 0; size < 200; ++size) {
    const std::string bytes = random_bytes(random, size);
    EXPECT_EQ(from_hex(to_hex_upper(bytes)).value(), bytes);
    EXPECT_EQ(from_base64(to_base64(bytes)).value(), bytes);
    EXPECT_EQ(percent_decode(percent_encode(bytes)).value(), bytes);
  }
}

TEST(Percent, EncodesAllButUnreserved) {
  EXPECT_EQ(percent_encode("aZ09-_.~ /+%&"), "aZ09-_.~%20%2F%2B%25%26");
  EXPECT_EQ(percent_decode("type%3dmaster%26a+b").value(), "type=master&a+b");
  EXPECT_EQ(percent_decode("%41").value(), "A");
}

TEST(Percent, RefusesBrokenEscapes) {
  for (const char* text : {"%", "%4", "a%", "%zz", "%4g", "%%41"}) {
    EXPECT_FALSE(percent_decode(text)) << text;
  }
}

TEST(Compare, ConstantTimeAgreesWithEquality) {
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_TRUE(equal_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_constant_time("Secret", "secret"));
  EXPECT_FALSE(equal_constant_time("secret", "secre"));
  for (size_t size = 1; size < 40; ++size) {
    const std::string one(size, 'x');
    EXPECT_TRUE(equal_constant_time(one, std::string(size, 'x'))) << size;
    for (size_t at = 0; at < size; ++at) {
      std::string other = one;
      other[at] = 'y';
      EXPECT_FALSE(equal_constant_time(one, other)) << at << " of " << size;
    }
  }
}

TEST(Compare, IgnoresCaseOfAsciiLettersOnly) {
  EXPECT_TRUE(equals_ignore_case("Content-Length", "content-LENGTH"));
  EXPECT_FALSE(equals_ignore_case("a", "ab"));
  EXPECT_FALSE(equals_ignore_case("[", "{"));
  EXPECT_FALSE(equals_ignore_case("@", "`"));
  EXPECT_FALSE(equals_ignore_case("\xC4", "\xE4"));
}

TEST(Integers, ByteOrderIsStated) {
  char bytes[8];
  store_u64_be(bytes, 0x0102030405060708U);
  EXPECT_EQ(std::string_view(bytes, 8), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(load_u64_be(bytes), 0x0102030405060708U);
  EXPECT_EQ(load_u64_le(bytes), 0x0807060504030201U);
  EXPECT_EQ(load_u32_be(bytes), 0x01020304U);
  EXPECT_EQ(load_u32_le(bytes), 0x04030201U);
  EXPECT_EQ(load_u16_be(bytes), 0x0102U);
  EXPECT_EQ(load_u16_le(bytes), 0x0201U);
  store_u64_le(bytes, 0x0102030405060708U);
  EXPECT_EQ(std::string_view(bytes, 8), "\x08\x07\x06\x05\x04\x03\x02\x01");
  store_u32_be(bytes, 0x01020304U);
  store_u32_le(bytes + 4, 0x01020304U);
  EXPECT_EQ(std::string_view(bytes, 8), "\x01\x02\x03\x04\x04\x03\x02\x01");
  store_u16_be(bytes, 0x0102U);
  store_u16_le(bytes + 2, 0x0102U);
  EXPECT_EQ(std::string_view(bytes, 4), "\x01\x02\x02\x01");
}

}  // namespace
}  // namespace orrery
