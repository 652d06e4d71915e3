// Tokens by which a client signs in without a key of the account: JSON Web Tokens (RFC 7519),
//   base64url(header) "." base64url(claims) "." base64url(signature)
// that an issuer we trust has signed (RS256, and nothing else). What a token's holder may do is not
// in it: that is a face's to know.
//
// Nothing of a token is believed, or told, before its signature has been found good.
//
// Input from outside: at most kMaxTokenBytes, nested as deep as JSON may be here.
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "account/signing_keys.h"

namespace orrery::account {

inline constexpr size_t kMaxTokenBytes = 16'384;
inline constexpr int64_t kTokenClockSkewS = 300;  // that the issuer's clock may be off

struct TokenRules {
  std::vector<std::string> issuers;  // one of them is the token's `iss`
  std::vector<std::string>
      audiences;  // one of them is in the token's `aud`; a last slash is ignored
  SigningKeys keys;
};

// Who holds a token.
struct Bearer {
  std::string id;                   // `oid`
  std::vector<std::string> groups;  // that the token names
};

enum class TokenFault : uint8_t {
  format,
  signature,
  not_yet,
  expired,
  issuer,
  audience,
  no_holder,
  signing_key  // the key that it names is not among the issuer's
};

struct TokenRefusal {
  TokenFault fault;
  std::string message;
};

std::expected<Bearer, TokenRefusal> check_token(const TokenRules& rules, std::string_view token,
                                                int64_t now_s);

// The name (`kid`) of the key that a token says it was signed with, before anything is believed of
// it; empty when it says none.
std::string signing_key_named_by(std::string_view token);

// A token that nobody signed: in the place of the signature is the text of a key of the account.
// For development alone.
std::expected<Bearer, TokenRefusal> check_token_with_key(std::string_view key_text,
                                                         std::string_view token, int64_t now_s);

}  // namespace orrery::account
