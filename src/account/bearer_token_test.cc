// Tokens of an issuer: good ones, and every way to pass one off that is not.
#include "account/bearer_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "account/hmac.h"
#include "account/test_issuer.h"
#include "base/bytes.h"

namespace orrery::account {
namespace {

using test::TestIssuer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;
const std::string kIssuer = "https://issuer.example/tenant";

const TestIssuer& issuer() {
  static const TestIssuer made;
  return made;
}

TokenRules rules() {
  TokenRules made;
  made.issuers = {"https://other.example", kIssuer};
  made.audiences = {"https://db.example", "https://other.example/"};
  made.keys = *SigningKeys::parse(issuer().jwks());
  return made;
}

std::string claims(std::string_view changed = {}, std::string_view value = {}) {
  std::vector<std::pair<std::string_view, std::string>> all = {{"iss", "\"" + kIssuer + "\""},
                                                               {"aud", "\"https://other.example\""},
                                                               {"nbf", std::to_string(kNow - 60)},
                                                               {"exp", std::to_string(kNow + 3600)},
                                                               {"oid", "\"ada\""},
                                                               {"groups", R"(["g1","g2"])"}};
  std::string text;
  for (const auto& [name, usual] : all) {
    const std::string_view shown = name == changed ? value : std::string_view(usual);
    if (shown.empty()) continue;
    text += (text.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + std::string(shown);
  }
  return text + "}";
}

TokenFault fault_of(std::string_view token) {
  auto bearer = check_token(rules(), token, kNow);
  EXPECT_FALSE(bearer) << token;
  return bearer ? TokenFault{99} : bearer.error().fault;
}

TEST(BearerToken, SaysWhoHoldsIt) {
  auto bearer = check_token(rules(), issuer().token(claims()), kNow);
  ASSERT_TRUE(bearer) << bearer.error().message;
  EXPECT_EQ(bearer->id, "ada");
  EXPECT_THAT(bearer->groups, ElementsAre("g1", "g2"));
}

TEST(BearerToken, AudiencesHaveOneSlashOrNoneAtTheirEnd) {
  for (const char* audience : {R"("https://db.example")", R"("https://db.example/")",
                               R"("https://other.example/")", R"(["x","https://db.example"])"}) {
    EXPECT_TRUE(check_token(rules(), issuer().token(claims("aud", audience)), kNow)) << audience;
  }
  for (const char* audience : {R"("https://db.example.evil")", R"("https://db.example//")", R"("")",
                               R"([])", R"([["https://db.example"]])", "5", "null", ""}) {
    EXPECT_EQ(fault_of(issuer().token(claims("aud", audience))), TokenFault::audience) << audience;
  }
}

TEST(BearerToken, ChecksIssuerHolderAndTimes) {
  struct Row {
    std::string_view claim;
    std::string value;
    TokenFault fault;
  };
  for (const Row& row :
       {Row{"iss", "\"https://evil.example\"", TokenFault::issuer},
        Row{"iss", "\"" + kIssuer + "/\"", TokenFault::issuer}, Row{"iss", "", TokenFault::issuer},
        Row{"oid", "", TokenFault::no_holder}, Row{"oid", "\"\"", TokenFault::no_holder},
        Row{"oid", "5", TokenFault::no_holder},
        Row{"exp", std::to_string(kNow - kTokenClockSkewS), TokenFault::expired},
        Row{"exp", "0", TokenFault::expired}, Row{"exp", "", TokenFault::format},
        Row{"exp", "\"9999999999\"", TokenFault::format}, Row{"exp", "1e300", TokenFault::format},
        Row{"exp", "-1", TokenFault::format},
        Row{"nbf", std::to_string(kNow + kTokenClockSkewS + 1), TokenFault::not_yet},
        Row{"nbf", "\"0\"", TokenFault::format}}) {
    EXPECT_EQ(fault_of(issuer().token(claims(row.claim, row.value))), row.fault)
        << row.claim << " " << row.value;
  }
  // Within what clocks may be off.
  for (auto [claim, at] :
       {std::pair("exp", kNow - kTokenClockSkewS + 1), std::pair("nbf", kNow + kTokenClockSkewS)}) {
    EXPECT_TRUE(check_token(rules(), issuer().token(claims(claim, std::to_string(at))), kNow));
  }
  EXPECT_TRUE(check_token(rules(), issuer().token(claims("nbf", "")), kNow));
}

TEST(BearerToken, IsNotTakenUnsignedOrByAnotherAlgorithm) {
  const std::string body = to_base64url(claims());
  for (const char* algorithm : {"none", "None", "HS256", "RS384", "rs256", "ES256", ""}) {
    const std::string header =
        to_base64url(R"({"alg":")" + std::string(algorithm) + R"(","kid":"k1"})");
    EXPECT_EQ(fault_of(header + "." + body + "."), TokenFault::signature) << algorithm;
    EXPECT_EQ(
        fault_of(header + "." + body + "." + to_base64url(issuer().signature(header + "." + body))),
        TokenFault::signature)
        << algorithm;
  }
  // The public key, which everybody has, as the secret of an HMAC.
  for (const std::string& secret : {issuer().modulus(), issuer().jwk(), issuer().jwks()}) {
    const std::string text = to_base64url(R"({"alg":"HS256","kid":"k1"})") + "." + body;
    const auto digest = HmacKey::create(secret)->sign(text);
    EXPECT_EQ(fault_of(text + "." + to_base64url(as_view(*digest))), TokenFault::signature);
  }
  // No algorithm, or several.
  EXPECT_EQ(fault_of(issuer().token(R"({"kid":"k1"})", claims())), TokenFault::signature);
  EXPECT_EQ(fault_of(issuer().token(R"({"alg":"RS256","alg":"none","kid":"k1"})", claims())),
            TokenFault::format);
  EXPECT_EQ(fault_of(issuer().token(R"({"alg":"RS256","kid":"k1","crit":["b64"]})", claims())),
            TokenFault::format);
}

TEST(BearerToken, IsOfAKeyOfTheIssuerAlone) {
  const TestIssuer other("k2");
  EXPECT_EQ(fault_of(other.token(claims())), TokenFault::signing_key);
  // Another's key that goes by the same name, or that the token brings along.
  EXPECT_EQ(fault_of(TestIssuer("k1").token(claims())), TokenFault::signature);
  EXPECT_EQ(
      fault_of(other.token(R"({"alg":"RS256","kid":"k1","jwk":)" + other.jwk() + "}", claims())),
      TokenFault::signature);
  EXPECT_EQ(fault_of(issuer().token(R"({"alg":"RS256"})", claims())), TokenFault::signing_key);
  EXPECT_EQ(fault_of(issuer().token(R"({"alg":"RS256","kid":["k1"]})", claims())),
            TokenFault::signing_key);
}

TEST(BearerToken, NoByteOfItCanBeChanged) {
  const std::string token = issuer().token(claims());
  for (size_t at = 0; at < token.size(); ++at) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(check_token(rules(), changed, kNow)) << at;
  }
  for (size_t size = 0; size < token.size(); ++size) {
    EXPECT_FALSE(check_token(rules(), token.substr(0, size), kNow)) << size;
  }
  for (const char* end : {"=", ".", "A", " ", "\n", ".e30"}) {
    EXPECT_FALSE(check_token(rules(), token + end, kNow)) << end;
  }
}

TEST(BearerToken, IsBounded) {
  EXPECT_EQ(fault_of(std::string(kMaxTokenBytes + 1, 'a')), TokenFault::format);
  EXPECT_EQ(
      fault_of(issuer().token(claims("groups", "[\"" + std::string(kMaxTokenBytes, 'g') + "\"]"))),
      TokenFault::format);
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  EXPECT_EQ(fault_of(issuer().token(claims("groups", deep))), TokenFault::format);
  EXPECT_EQ(fault_of(issuer().token(R"({"alg":)" + deep + "}", claims())), TokenFault::format);
  for (const char* text : {"", ".", "..", "...", "a.b", "e30.e30.", "e30.e30.e30", "Ww.e30.AA"}) {
    EXPECT_FALSE(check_token(rules(), text, kNow)) << text;
  }
}

TEST(BearerToken, MayHaveAKeyInThePlaceOfASignature) {
  const std::string key = "the key's text";
  const std::string header = to_base64url(R"({"alg":"RS256","kid":"nobody"})");
  const std::string good = header + "." + to_base64url(claims()) + "." + to_base64url(key);
  EXPECT_EQ(signing_key_named_by(good), "nobody");
  EXPECT_EQ(signing_key_named_by(issuer().token(claims())), "k1");
  EXPECT_EQ(signing_key_named_by("no token"), "");
  auto bearer = check_token_with_key(key, good, kNow);
  ASSERT_TRUE(bearer) << bearer.error().message;
  EXPECT_EQ(bearer->id, "ada");
  EXPECT_EQ(check_token_with_key("another key", good, kNow).error().fault, TokenFault::signature);
  EXPECT_EQ(
      check_token_with_key("", header + "." + to_base64url(claims()) + ".", kNow).error().fault,
      TokenFault::signature);
  EXPECT_EQ(check_token_with_key(key, good, kNow + 10'000).error().fault, TokenFault::expired);
  EXPECT_EQ(check_token_with_key(key, good, kNow - 10'000).error().fault, TokenFault::not_yet);
  const std::string none = to_base64url(R"({"alg":"none","kid":"nobody"})");
  EXPECT_EQ(check_token_with_key(key, none + good.substr(header.size()), kNow).error().fault,
            TokenFault::signature);
  // It says nothing to a server that has an issuer.
  EXPECT_EQ(fault_of(good), TokenFault::signing_key);
}

TEST(SigningKeys, TakesWhatCanSign) {
  const TestIssuer small("small", 1024);
  const auto of = [](const std::string& keys) {
    return SigningKeys::parse(R"({"keys":[)" + keys + "]}");
  };
  for (const std::string& unusable :
       {std::string(), small.jwk(), issuer().jwk(R"(,"use":"enc")"),
        issuer().jwk(R"(,"alg":"RS512")"),
        std::string(R"({"kty":"EC","kid":"k1","crv":"P-256","x":"AA","y":"AA"})"),
        std::string(R"({"kty":"oct","kid":"k1","k":"c2VjcmV0"})"),
        std::string(R"({"kty":"RSA","kid":"k1","n":"AQAB","e":"AQAB"})"),
        R"({"kty":"RSA","kid":"k1","n":")" + issuer().modulus() + R"(","e":"AQ"})",
        R"({"kty":"RSA","n":")" + issuer().modulus() + R"(","e":"AQAB"})", std::string("5")}) {
    EXPECT_FALSE(of(unusable)) << unusable;
  }
  auto mixed = of(small.jwk() + "," + issuer().jwk(R"(,"use":"sig","alg":"RS256","x5c":["x"])"));
  ASSERT_TRUE(mixed);
  EXPECT_TRUE(mixed->has("k1"));
  EXPECT_FALSE(mixed->has("small"));
  for (const char* text : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":)"}) {
    EXPECT_FALSE(SigningKeys::parse(text)) << text;
  }
  std::string many = issuer().jwk();
  for (size_t i = 0; i < SigningKeys::kMaxKeys; ++i) many += ",{}";
  EXPECT_FALSE(of(many));
}

TEST(Base64Url, HasOneTextForEachValue) {
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("ab"), std::string("abc"),
        std::string("\xFB\xFF\xFE"), std::string(100, '\xFF')}) {
    EXPECT_EQ(*from_base64url(to_base64url(bytes)), bytes);
  }
  for (const char* text : {"A", "AA=", "AA==", "+/+/", "AB", "AAF", "A A", "AAAAA"}) {
    EXPECT_FALSE(from_base64url(text)) << text;
  }
}

}  // namespace
}  // namespace orrery::account
