// An issuer for tests: a key made for the occasion, its key set, and tokens of any content.
#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <string>
#include <string_view>

#include "account/signing_keys.h"

namespace orrery::account::test {

class TestIssuer {
 public:
  explicit TestIssuer(std::string id = "k1", unsigned bits = 2048)
      : id_(std::move(id)), key_(EVP_RSA_gen(bits)) {}

  std::string jwk(std::string_view more = {}) const {
    return R"({"kty":"RSA","kid":")" + id_ + R"(","n":")" + number(OSSL_PKEY_PARAM_RSA_N) +
           R"(","e":")" + number(OSSL_PKEY_PARAM_RSA_E) + "\"" + std::string(more) + "}";
  }
  std::string jwks() const { return R"({"keys":[)" + jwk() + "]}"; }
  std::string modulus() const { return number(OSSL_PKEY_PARAM_RSA_N); }
  std::string header() const { return R"({"alg":"RS256","typ":"JWT","kid":")" + id_ + "\"}"; }

  std::string token(std::string_view claims) const { return token(header(), claims); }
  std::string token(std::string_view header, std::string_view claims) const {
    const std::string text = to_base64url(header) + "." + to_base64url(claims);
    return text + "." + to_base64url(signature(text));
  }
  std::string signature(std::string_view text) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    size_t size = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_.get());
    EVP_DigestSign(context, nullptr, &size, bytes, text.size());
    std::string made(size, '\0');
    EVP_DigestSign(context, reinterpret_cast<unsigned char*>(made.data()), &size, bytes,
                   text.size());
    made.resize(size);
    EVP_MD_CTX_free(context);
    return made;
  }

 private:
  std::string number(const char* name) const {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &number);
    std::string bytes(static_cast<size_t>(BN_num_bytes(number)), '\0');
    BN_bn2bin(number, reinterpret_cast<unsigned char*>(bytes.data()));
    BN_free(number);
    return to_base64url(bytes);
  }

  std::string id_;
  PublicKey key_;
};

}  // namespace orrery::account::test
