// Collations: what they compare, and what is refused.
#include "api/mongo/bson/collation.h"

#include <gtest/gtest.h>

#include "api/mongo/bson/test_ejson.h"

namespace orrery::mongo {
namespace {

std::shared_ptr<const Collation> collation(std::string_view spec) {
  return Collation::parse(from_ejson(spec)).value();
}

int32_t code_of(std::string_view spec) {
  const auto parsed = Collation::parse(from_ejson(spec));
  return parsed ? 0 : parsed.error().code;
}

TEST(Collation, ComparesByItsStrength) {
  EXPECT_TRUE(collation(R"({"locale": "en", "strength": 1})")->compare("cafe", "CAF\xC3\x89") == 0);
  EXPECT_TRUE(collation(R"({"locale": "en", "strength": 2})")->compare("cat", "CAT") == 0);
  EXPECT_TRUE(collation(R"({"locale": "en"})")->compare("cat", "CAT") < 0);
  EXPECT_TRUE(collation(R"({"locale": "en", "strength": 1.9})")->compare("a", "A") == 0);
}

TEST(Collation, HasItsOptions) {
  EXPECT_TRUE(collation(R"({"locale": "en", "numericOrdering": true})")->compare("9", "10") < 0);
  EXPECT_TRUE(collation(R"({"locale": "en", "caseFirst": "upper"})")->compare("A", "a") < 0);
  EXPECT_TRUE(collation(R"({"locale": "en", "strength": 3, "alternate": "shifted"})")
                  ->compare("a-b", "ab") == 0);
  EXPECT_TRUE(collation(R"({"locale": "en", "alternate": "shifted", "maxVariable": "space"})")
                  ->compare("a-b", "ab") != 0);
  EXPECT_TRUE(collation(R"({"locale": "de@collation=phonebook"})")->compare("\xC3\xA4", "az") < 0);
}

TEST(Collation, KeysCompareAsTheStringsDo) {
  const auto english = collation(R"({"locale": "en", "strength": 2})");
  EXPECT_EQ(english->key("cat"), english->key("CAT"));
  EXPECT_LT(english->key("cat"), english->key("Dog"));
}

TEST(Collation, TellsItsWholeSpecification) {
  EXPECT_EQ(to_ejson(collation(R"({"locale": "en", "strength": 2})")->spec()),
            to_ejson(from_ejson(
                R"({"locale": "en", "caseLevel": false, "caseFirst": "off", "strength": 2,
                    "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
                    "normalization": false, "backwards": false, "version": "57.1"})")));
}

TEST(Collation, Errors) {
  EXPECT_EQ(Collation::parse(from_ejson(R"({"locale": "simple"})")).value(), nullptr);
  EXPECT_EQ(code_of(R"({"locale": "en_DB"})"), kBadValue);
  EXPECT_EQ(code_of(R"({"locale": "nope"})"), kBadValue);
  EXPECT_EQ(code_of(R"({"strength": 1})"), kFailedToParse);
  EXPECT_EQ(code_of(R"({"locale": "en", "strength": 9})"), kBadValue);
  EXPECT_EQ(code_of(R"({"locale": "en", "caseFirst": "x"})"), kBadValue);
  EXPECT_EQ(code_of(R"({"locale": "en", "backwards": "x"})"), kTypeMismatch);
}

}  // namespace
}  // namespace orrery::mongo
