// Identities: canonical, each key's own, and those of levels are prefixes.
#include "value/key_identity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/bytes.h"

namespace orrery::value {
namespace {

KeyPart text(std::string of) {
  return {.type = Type::string, .text = std::move(of)};
}
KeyPart number(double of) {
  return {.type = Type::number, .number = of, .text = {}};
}

std::string hex(const PartitionKey& key) {
  return to_hex_upper(identity_of(key));
}

TEST(KeyIdentity, HasTheDocumentedBytes) {
  EXPECT_EQ(hex({KeyPart{}}), "01");
  EXPECT_EQ(hex({{.type = Type::null, .text = {}}}), "02");
  EXPECT_EQ(hex({{.type = Type::boolean, .boolean = false, .text = {}}}), "03");
  EXPECT_EQ(hex({{.type = Type::boolean, .boolean = true, .text = {}}}), "04");
  EXPECT_EQ(hex({number(0)}), "10");
  EXPECT_EQ(hex({number(-0.0)}), "10");
  EXPECT_EQ(hex({number(5)}), "124014");
  EXPECT_EQ(hex({number(-5)}), "12C014");
  EXPECT_EQ(hex({number(0.1)}), "183FB999999999999A");
  EXPECT_EQ(hex({text("")}), "20");
  EXPECT_EQ(hex({text("ab")}), "226162");
  EXPECT_EQ(hex({text(std::string(24, 'a'))}).substr(0, 6), "386161");
  // printf aaaaaaaaaaaaaaaaaaaaaaaaa | sha256sum
  EXPECT_EQ(hex({text(std::string(25, 'a'))}),
            "402F521E2A7D0BD812CBC035F4ED6806EB8D851793B04BA147");
  EXPECT_EQ(hex({text("0f8fad5b-d9cd-469f-a165-70867728950e")}),
            "410F8FAD5BD9CD469FA16570867728950E");
  for (const char* other :
       {"0F8FAD5B-D9CD-469F-A165-70867728950E", "0f8fad5b-d9cd-469f-a165-70867728950g",
        "0f8fad5b0d9cd-469f-a165-70867728950e", "0f8fad5bd9cd469fa16570867728950e"}) {
    EXPECT_EQ(hex({text(other)}).substr(0, 2), "40") << other;
  }
  EXPECT_EQ(hex({text("a"), number(5), KeyPart{}}),
            "2161"
            "124014"
            "01");
  EXPECT_EQ(identity_digest({text("a")}).size(), kDigestBytes);
}

TEST(KeyIdentity, NoneIsThePrefixOfAnother) {
  std::vector<KeyPart> parts = {KeyPart{},
                                {.type = Type::null, .text = {}},
                                {.type = Type::boolean, .boolean = false, .text = {}},
                                {.type = Type::boolean, .boolean = true, .text = {}}};
  for (int i = -300; i < 300; ++i) parts.push_back(number(i));
  for (int i = 1; i < 60; ++i) {
    parts.push_back(number(std::ldexp(1, -i)));
    parts.push_back(number(std::ldexp(1, i) - 1));
    parts.push_back(number(std::ldexp(1 + std::numeric_limits<double>::epsilon(), 20 * i - 600)));
    parts.push_back(text(std::string(static_cast<size_t>(i), 'a')));
    parts.push_back(text(std::string(static_cast<size_t>(i), '\0')));
    parts.push_back(text(std::string(static_cast<size_t>(i), '\x20')));
  }
  std::map<std::string, KeyPart> found;
  for (const KeyPart& part : parts) {
    const auto [at, is_new] = found.emplace(identity_of({part}), part);
    EXPECT_TRUE(is_new || at->second == part) << to_json({part});
  }
  // Sorted, the prefix of another comes right before one that it begins.
  for (auto at = found.begin(); std::next(at) != found.end(); ++at) {
    EXPECT_FALSE(std::next(at)->first.starts_with(at->first)) << to_json({at->second});
  }
}

}  // namespace
}  // namespace orrery::value
