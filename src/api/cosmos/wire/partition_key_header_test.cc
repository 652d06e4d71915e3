// Key headers of every type and number of levels, and what is refused.
#include "api/cosmos/wire/partition_key_header.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

using value::KeyPart;
using value::PartitionKey;
using value::Type;

PartitionKey parsed_key(std::string_view header) {
  auto key = parse_key_header(header);
  EXPECT_TRUE(key.has_value()) << header;
  return key.value_or(PartitionKey{});
}

KeyPart text(std::string_view of) {
  KeyPart part;
  part.type = Type::string;
  part.text = of;
  return part;
}

KeyPart number(double of) {
  KeyPart part;
  part.type = Type::number;
  part.number = of;
  return part;
}

TEST(PartitionKeyHeader, ReadsEachType) {
  EXPECT_EQ(parsed_key(R"(["Redmond"])"), PartitionKey{text("Redmond")});
  EXPECT_EQ(parsed_key(R"([""])"), PartitionKey{text("")});
  EXPECT_EQ(parsed_key("[5]"), PartitionKey{number(5)});
  EXPECT_EQ(parsed_key("[-1.5e3]"), PartitionKey{number(-1500)});
  EXPECT_EQ(parsed_key("[true]")[0].type, Type::boolean);
  EXPECT_TRUE(parsed_key("[true]")[0].boolean);
  EXPECT_FALSE(parsed_key("[false]")[0].boolean);
  EXPECT_EQ(parsed_key("[null]")[0].type, Type::null);
  EXPECT_EQ(parsed_key("[{}]")[0].type, Type::undefined);
  EXPECT_TRUE(parsed_key("[]").empty());
  EXPECT_TRUE(parsed_key(" [ ] ").empty());
}

TEST(PartitionKeyHeader, ReadsEscapesAsTheSdkWritesThem) {
  EXPECT_EQ(parsed_key("[\"caf\\u00e9 \\ud83d\\ude00\"]")[0].text, "caf\xC3\xA9 \xF0\x9F\x98\x80");
  EXPECT_EQ(parsed_key(R"(["a\"b\\c"])")[0].text, "a\"b\\c");
  EXPECT_EQ(parsed_key("[\"caf\xC3\xA9\"]")[0].text, "caf\xC3\xA9");
}

TEST(PartitionKeyHeader, ReadsSeveralLevels) {
  const PartitionKey key = parsed_key(R"(["a",2,{}])");
  ASSERT_EQ(key.size(), 3U);
  EXPECT_EQ(key[1].number, 2);
  EXPECT_EQ(key[2].type, Type::undefined);
  // Looks like the plain form at both ends and is not.
  EXPECT_EQ(parsed_key(R"(["a","b"])").size(), 2U);
}

TEST(PartitionKeyHeader, RefusesTheRestWithAReason) {
  for (const char* header :
       {"", "Redmond", "\"Redmond\"", "[\"a]", "[[1]]", "[{\"a\":1}]", "[1,2,3,4]", "[NaN]",
        "[Infinity]", "[1]]", "[\"a\nb\"]", "[\"\xFF\"]", "[\"\\ud800\"]", "[", "[\"", "[\"]"}) {
    auto key = parse_key_header(header);
    ASSERT_FALSE(key.has_value()) << header;
    EXPECT_EQ(key.error().code, Code::invalid);
  }
  EXPECT_FALSE(parse_key_header("[\"" + std::string(kMaxKeyHeaderBytes, 'a') + "\"]").has_value());
}

TEST(PartitionKeyHeader, ValuesHaveALimit) {
  Limits limits;
  limits.partition_key_bytes = 4;
  EXPECT_TRUE(check_key_values(parsed_key(R"(["abcd",123456,null])"), limits));
  auto refused = check_key_values(parsed_key(R"(["abcd","abcde"])"), limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_NE(refused.error().message.find("5 bytes"), std::string::npos);
}

TEST(PartitionKeyHeader, ChecksTheNumberOfLevels) {
  value::KeyDefinition fixed;
  EXPECT_TRUE(check_levels(fixed, parsed_key("[]"), false).has_value());
  EXPECT_TRUE(check_levels(fixed, parsed_key("[{}]"), false).has_value());
  EXPECT_FALSE(check_levels(fixed, parsed_key("[1]"), false).has_value());

  value::KeyDefinition one;
  one.paths = {value::Path{.steps = {{.name = "a"}}}};
  EXPECT_TRUE(check_levels(one, parsed_key("[1]"), false).has_value());
  EXPECT_FALSE(check_levels(one, parsed_key("[]"), true).has_value());
  EXPECT_FALSE(check_levels(one, parsed_key("[1,2]"), true).has_value());

  value::KeyDefinition two = one;
  two.placement = value::Placement::multi_hash;
  two.paths.push_back(value::Path{.steps = {{.name = "b"}}});
  EXPECT_FALSE(check_levels(two, parsed_key("[1]"), false).has_value());
  EXPECT_TRUE(check_levels(two, parsed_key("[1]"), true).has_value());
  EXPECT_TRUE(check_levels(two, parsed_key("[1,2]"), false).has_value());
  auto wrong = check_levels(two, parsed_key("[1]"), false);
  EXPECT_NE(wrong.error().message.find("/a, /b"), std::string::npos) << wrong.error().message;
}

}  // namespace
}  // namespace orrery::cosmos
