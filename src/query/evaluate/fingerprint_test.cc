// Equal values have one fingerprint, others have others.
#include "query/evaluate/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <vector>

#include "base/hash.h"
#include "value/hash_twin.h"
#include "value/json.h"
#include "value/ordered.h"

namespace orrery::query {
namespace {

using value::Value;

Value parsed(std::string_view json) {
  return Value::make_document(*value::JsonDocument::parse(json));
}

TEST(FingerprintTest, OfEqualValues) {
  EXPECT_EQ(fingerprint_of(parsed("1")), fingerprint_of(parsed("1.0")));
  EXPECT_EQ(fingerprint_of(parsed("0")), fingerprint_of(parsed("-0.0")));
  EXPECT_EQ(fingerprint_of(parsed(R"({"a":1,"b":[2]})")),
            fingerprint_of(parsed(R"({ "b":[2], "a":1e0 })")));
  EXPECT_EQ(fingerprint_of(parsed("\"\\u0041\"")), fingerprint_of(Value::make_string("A")));
}

TEST(FingerprintTest, OfOthers) {
  std::vector<Fingerprint> all = {fingerprint_of(Value())};
  for (const char* json : {"null", "false", "true", "0", "1", "\"\"", "\"1\"", "[]", "{}", "[[]]",
                           "[1]", "[1,1]", R"({"a":1})", R"({"a":"1"})", R"({"a1":1})",
                           R"(["a",1])", R"({"a":{"b":1}})", R"({"a":{},"b":1})"}) {
    all.push_back(fingerprint_of(parsed(json)));
  }
  std::ranges::sort(all);
  EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end());
}

// Murmur3 can be run backwards: these two would be one group, were it the fingerprint.
TEST(FingerprintTest, NobodyCanMakeTwoAlike) {
  const auto form_of = [](std::string_view text) {
    std::string form(1, static_cast<char>('0' + static_cast<int>(value::Type::string)));
    value::append_u64(form, 39);
    return form.append(text);
  };
  const auto hash_of = [&](std::string_view text) {
    const auto hash = murmur3_x64_128(form_of(text), 0);
    return std::string(hash.begin(), hash.end());
  };
  const std::string text(39, 'a');
  std::string twin(23, 'b');
  twin += value::last_block(form_of(twin), hash_of(text));
  ASSERT_EQ(hash_of(text), hash_of(twin));
  EXPECT_NE(fingerprint_of(Value::make_string(text)), fingerprint_of(Value::make_string(twin)));
}

TEST(FingerprintTest, OfSeveral) {
  const Value one = parsed("1");
  const std::vector<Value> a = {Value(), one};
  const std::vector<Value> b = {one, Value()};
  EXPECT_NE(fingerprint_of(a), fingerprint_of(b));
}

TEST(FingerprintTest, ThoseRememberedAreTheSame) {
  Fingerprints fingerprints;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3'000; ++i) {
      // Short and long ones, and more than are remembered.
      const std::vector<Value> values = {
          Value(), Value::make_string(std::to_string(i) + std::string(i % 100, 'x'))};
      ASSERT_EQ(fingerprints.of(values), fingerprint_of(values)) << i;
    }
  }
}

}  // namespace
}  // namespace orrery::query
