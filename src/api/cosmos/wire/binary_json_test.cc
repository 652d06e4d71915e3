// Binary JSON: every marker that stands for JSON, what is refused, and items there and back.
#include "api/cosmos/wire/binary_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "value/document.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using ::testing::HasSubstr;

constexpr size_t kMax = 1U << 20;

// Of hexadecimal digits, spaces left out, after the byte that all begin with.
Result<std::string> decode(std::string_view hex, size_t bytes_max = kMax) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  return text_of_binary_json("\x80" + *from_hex(digits), bytes_max);
}

TEST(BinaryJson, ReadsEveryMarker) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"00", "0"},
      {"1F", "31"},
      {"2C", R"("id")"},
      {"20", R"("$s")"},
      {"3F", R"("_id")"},
      {"80", R"("")"},
      {"83 616263", R"("abc")"},
      {"82 220A", R"("\"\n")"},
      {"C0 02 6869", R"("hi")"},
      {"C1 0200 6869", R"("hi")"},
      {"C2 02000000 6869", R"("hi")"},
      {"C7 FFFFFFFFFFFFFFFF", "18446744073709551615"},
      {"C8 FF", "255"},
      {"C9 FFFF", "-1"},
      {"CA 00000080", "-2147483648"},
      {"CB FFFFFFFFFFFFFF7F", "9223372036854775807"},
      {"CC 000000000000F83F", "1.5"},
      {"CD 0000C03F", "1.5"},
      {"CE 000000000000F8BF", "-1.5"},
      {"CF 003E", "1.5"},
      {"CF 0100", "5.960464477539063e-8"},
      {"D0", "null"},
      {"D1", "false"},
      {"D2", "true"},
      {"E0", "[]"},
      {"E1 05", "[5]"},
      {"E2 02 0102", "[1,2]"},
      {"E3 0200 0102", "[1,2]"},
      {"E4 02000000 0102", "[1,2]"},
      {"E5 02 02 0102", "[1,2]"},
      {"E6 0200 0200 0102", "[1,2]"},
      {"E7 02000000 02000000 0102", "[1,2]"},
      {"E2 00", "[]"},
      {"E1 E1 E0", "[[[]]]"},
      {"E8", "{}"},
      {"E9 2C 05", R"({"id":5})"},
      {"EA 06 2C 05 8161 E1 D0", R"({"id":5,"a":[null]})"},
      {"EB 0200 2C 05", R"({"id":5})"},
      {"EC 02000000 2C 05", R"({"id":5})"},
      {"ED 02 01 2C 05", R"({"id":5})"},
      {"EE 0200 0100 2C 05", R"({"id":5})"},
      {"EF 02000000 01000000 2C 05", R"({"id":5})"},
      // The string at byte 3 again.
      {"E2 05 82 6869 C3 03", R"(["hi","hi"])"},
      {"E2 06 82 6869 C4 0300", R"(["hi","hi"])"},
      {"E2 07 82 6869 C5 030000", R"(["hi","hi"])"},
      {"E2 08 82 6869 C6 03000000", R"(["hi","hi"])"},
      {"75 10325476 98BADCFE 10325476 98BADCFE", R"("01234567-89ab-cdef-0123-456789abcdef")"},
      {"76 10325476 98BADCFE 10325476 98BADCFE", R"("01234567-89AB-CDEF-0123-456789ABCDEF")"},
      {"77 10325476 98BADCFE 10325476 98BADCFE", R"("\"01234567-89ab-cdef-0123-456789abcdef\"")"},
      {"78 03 BA 0C", R"("abc")"},
      {"79 04 BA DC", R"("ABCD")"},
      {"7A 05 13 52 0B", R"("2014:")"},
      {"7B 03 61 10 02", R"("abc")"},
      {"7C 03 61 20 08", R"("abc")"},
      {"7D 03 41 40 20 00", R"("ABC")"},
      {"7E 03 61 F1 18", R"("abc")"},
      {"7F 0300 61 F1 18", R"("abc")"},
      {"71 01 00 616263", R"("YWJj")"},
      {"72 0100 01 6162", R"("YWI=")"},
      {"71 01 FE 6162", R"("YWI")"},
      {"73 01 00 FBFFFE", R"("-__-")"},
      {"F0 D7 03 010203", "[1,2,3]"},
      {"F0 D8 01 FF", "[-1]"},
      {"F1 D9 0100 FFFF", "[-1]"},
      {"F0 DC 01 FFFFFFFF", "[4294967295]"},
      {"F2 F0 D7 02 02 01020304", "[[1,2],[3,4]]"},
      {"F3 F1 D7 0200 0100 0102", "[[1,2]]"},
  };
  for (const auto& [hex, text] : cases) {
    auto read = decode(hex);
    ASSERT_TRUE(read) << hex << ": " << read.error().message;
    EXPECT_EQ(*read, text) << hex;
    // And nothing of it can be missing.
    std::string digits;
    for (const char c : hex) {
      if (c != ' ') digits += c;
    }
    for (size_t size = 0; size < digits.size(); size += 2) {
      EXPECT_FALSE(decode(digits.substr(0, size))) << hex << " " << size;
    }
    EXPECT_FALSE(decode(digits + "00")) << hex;
  }
}

TEST(BinaryJson, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {"", "cut short"},
      {"40", "where a string is to be"},
      {"60 00", "where a string is to be"},
      {"70", "where a string is to be"},
      {"D3", "none of JSON"},
      {"DD 01 00", "none of JSON"},
      {"F4", "none of JSON"},
      {"FF", "none of JSON"},
      {"CC 000000000000F07F", "JSON does not know"},
      {"CF 007C", "JSON does not know"},
      {"E9 05 05", "where a string is to be"},
      {"E2 02 C3 03", "refers to another"},
      {"E2 02 C3 00", "outside of it"},
      {"E2 02 C3 09", "outside of it"},
      {"E2 02 C3 01", "where a string is to be"},
      {"E2 01 C8 05", "cut short"},
      {"7B 01 7F 01", "not ASCII"},
      {"71 01 03 61", "wrong padding"},
      {"F0 D0 01 00", "of no type"},
      {"F2 F1 D7 01 01 01", "something else"},
  };
  for (const auto& [hex, words] : cases) {
    auto read = decode(hex);
    ASSERT_FALSE(read) << hex;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_THAT(read.error().message, HasSubstr(words)) << hex;
  }
  EXPECT_FALSE(text_of_binary_json("{}", kMax));
  EXPECT_FALSE(text_of_binary_json("", kMax));
}

TEST(BinaryJson, IsBounded) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "E1";
  auto nested = decode(deep + "E0");
  ASSERT_FALSE(nested);
  EXPECT_THAT(nested.error().message, HasSubstr("too deep"));
  // A long string, and a thousand references to it.
  std::string body = "\x80\xE4" + std::string(4, '\0') + "\xC1\x10\x27" + std::string(10'000, 'x');
  for (int i = 0; i < 1000; ++i) body += "\xC3\x06";
  store_u32_le(body.data() + 2, static_cast<uint32_t>(body.size() - 6));
  auto many = text_of_binary_json(body, 100'000);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Code::too_large);
  EXPECT_TRUE(text_of_binary_json(body, 100'000'000));
  // Rows without a column cost no input.
  auto empty = decode("F3 F1 D7 0000 FFFF", 1000);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::too_large);
}

TEST(BinaryJson, ThereAndBack) {
  for (
      const std::string& text :
      {std::string(
           R"({"id":"a","pk":["x",null,true,false,{}],"n":{"deep":[1,-1,31,32,255,256,-32768,65536]},)"
           R"("big":9007199254740993,"half":0.5,"_ts":1800000000,"e":"","long":")") +
           std::string(300, 'y') + R"(","longer":")" + std::string(70'000, 'z') +
           R"(","ü":"\n\u0001"})",
       std::string("[]"), std::string(R"("text")")}) {
    auto binary = binary_json_of(text);
    ASSERT_TRUE(binary);
    EXPECT_TRUE(is_binary_json(*binary));
    auto back = text_of_binary_json(*binary, kMax);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*binary_json_of(*back), *binary);
    EXPECT_EQ(*back, value::JsonDocument::parse(text)->text());
  }
  EXPECT_EQ(to_hex_upper(*binary_json_of(R"({"id":"b","n":300})")), "80EC080000002C8162816EC92C01");
  EXPECT_FALSE(binary_json_of("{"));
}

}  // namespace
}  // namespace orrery::cosmos
