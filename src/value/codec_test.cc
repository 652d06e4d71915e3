// Codecs: a body of another encoding than JSON becomes values, in documents and out of them, and
// has terms as JSON has.
#include "value/codec.h"

#include <gtest/gtest.h>

#include <set>

#include "value/terms.h"
#include "value/test_codec.h"
#include "value/test_values.h"

namespace orrery::value {
namespace {

// An object of one member, as a body is.
Value body_of(const Value& value) {
  return Value::make_object({{Value::make_string("v"), value}});
}

TEST(Codec, TypedBodiesBecomeValuesThatBehaveLikeOwnedOnes) {
  const TestCodec codec;
  std::mt19937_64 random(81);
  std::vector<std::pair<Value, Value>> pairs;  // owned, and of a document
  while (pairs.size() < 400) {
    const Value owned = body_of(random_value(random, 3));
    auto document = codec.parse(TestCodec::encode(owned));
    ASSERT_TRUE(document) << document.error().message;
    const Value parsed = Value::make_document(std::move(*document));
    // The test's codec has no code.
    if (owned.to_json() != parsed.to_json()) continue;
    pairs.emplace_back(owned, parsed);
  }
  EXPECT_GT(pairs.size(), 350U);
  for (const auto& [owned, parsed] : pairs) {
    EXPECT_EQ(owned, parsed);
    EXPECT_EQ(owned.hash(), parsed.hash());
    EXPECT_EQ(TestCodec::encode(parsed), TestCodec::encode(owned));
    const Value copy = parsed.find("v").to_owned();
    EXPECT_EQ(compare(copy, owned.find("v"), ValueOrder::typed), std::strong_ordering::equal);
    for (const auto& [other, other_parsed] : pairs) {
      ASSERT_EQ(compare(owned, other, ValueOrder::typed),
                compare(parsed, other_parsed, ValueOrder::typed));
    }
  }
}

TEST(Codec, BrokenBodiesAreErrors) {
  const TestCodec codec;
  std::mt19937_64 random(82);
  const std::string body = TestCodec::encode(body_of(random_value(random, 3)));
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(codec.parse(std::string_view(body).substr(0, size)));
  }
  EXPECT_FALSE(codec.parse(body + "n"));
  EXPECT_FALSE(json_codec()->parse(body));
  EXPECT_EQ(unknown_codec("stone").get()->parse("{}").error().code, Code::unsupported);
}

TEST(Codec, TermsFollowTheDefinitionsOrder) {
  const TestCodec codec;
  IndexDefinition definition = IndexPolicy::everything().definition();
  definition.order = ValueOrder::typed;
  definition.composites = {
      {.parts = {{.path = {.steps = {{.name = "v"}}}, .descending = true},
                 {.path = {.steps = {{.name = "missing"}}}, .descending = false}}}};
  const IndexPolicy policy(definition);
  std::mt19937_64 random(83);
  for (int round = 0; round < 500; ++round) {
    const Value owned = body_of(random_value(random, 2));
    const auto document = codec.parse(TestCodec::encode(owned)).value();
    const Value parsed = Value::from(document.root());
    std::set<std::string> terms;
    policy.each_term(document.root(), [&](std::string_view term) {
      EXPECT_EQ(term_size(std::string(term) + "\x01more").value(), term.size());
      terms.emplace(term);
    });
    std::string expected = term_path_of_member("v");
    append_term_value(expected, parsed.find("v"), ValueOrder::typed);
    if (!parsed.find("v").is_undefined()) {
      EXPECT_TRUE(terms.contains(expected));
    }
  }
}

TEST(Codec, JsonIsTheSameAsItsDocument) {
  const std::string text = R"({"a":[1,"x",{"b":null}],"c":true})";
  const auto document = json_codec()->parse(text).value();
  EXPECT_EQ(Value::from(document.root()).to_json(), text);
  EXPECT_TRUE(document.root().is_json);
  EXPECT_GT(document.memory(), text.size());
}

}  // namespace
}  // namespace orrery::value
