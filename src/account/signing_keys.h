// The public keys by which an issuer's tokens are checked: a JSON Web Key Set (RFC 7517),
//   {"keys":[{"kty":"RSA","kid":"…","n":"…","e":"AQAB"}, …]}
// Only RSA keys to sign with are taken, of 2048 to 8192 bits; others in the set are passed over.
//
// Threading: immutable; any thread may call.
#pragma once

#include <openssl/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::account {

struct PublicKeyFreer {
  void operator()(EVP_PKEY* key) const;
};
using PublicKey = std::unique_ptr<EVP_PKEY, PublicKeyFreer>;

class SigningKeys {
 public:
  static constexpr size_t kMaxKeys = 100;

  SigningKeys() = default;  // none
  // Code::invalid when it is not a key set, or has no key that can be used.
  static Result<SigningKeys> parse(std::string_view jwks);

  bool has(std::string_view key_id) const { return keys_.contains(key_id); }
  bool empty() const { return keys_.empty(); }
  // Whether this key made the signature (RS256: RSASSA-PKCS1-v1_5 with SHA-256) of the text.
  bool is_signed(std::string_view key_id, std::string_view text, std::string_view signature) const;

 private:
  std::map<std::string, PublicKey, std::less<>> keys_;
};

// Base64url without padding, as tokens and key sets have it.
std::string to_base64url(std::string_view bytes);
// Code::invalid for other characters, for padding, and for bits that no byte has.
Result<std::string> from_base64url(std::string_view text);

}  // namespace orrery::account
