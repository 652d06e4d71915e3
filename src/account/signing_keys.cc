// See signing_keys.h.
#include "account/signing_keys.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "value/json.h"

namespace orrery::account {
namespace {

constexpr int kMinBits = 2048;
constexpr int kMaxBits = 8192;

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Number = std::unique_ptr<BIGNUM, Freer<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freer<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freer<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freer<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;

const unsigned char* key_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// A member that is a text; empty when it is not there or is something else.
std::string_view member_text(const value::Node& object, std::string_view name) {
  const value::Node* found = object.find(name);
  return found != nullptr && found->type == value::Type::string ? found->text : std::string_view();
}

Number number_of(std::string_view base64url) {
  auto bytes = from_base64url(base64url);
  if (!bytes || bytes->empty() || bytes->size() > kMaxBits / 8 + 1) return nullptr;
  return Number(BN_bin2bn(key_bytes(*bytes), static_cast<int>(bytes->size()), nullptr));
}

// Null: it cannot be used.
PublicKey key_of(std::string_view modulus, std::string_view exponent) {
  const Number n = number_of(modulus);
  const Number e = number_of(exponent);
  if (!n || !e || BN_num_bits(n.get()) < kMinBits || BN_num_bits(n.get()) > kMaxBits)
    return nullptr;
  // Exponents beyond that are unheard of, and make a check slow.
  if (BN_is_odd(e.get()) == 0 || BN_is_one(e.get()) != 0 || BN_num_bits(e.get()) > 32) {
    return nullptr;
  }
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return nullptr;
  }
  return PublicKey(key);
}

bool is_for_signatures(const value::Node& key) {
  const std::string_view use = member_text(key, "use");
  const std::string_view algorithm = member_text(key, "alg");
  return member_text(key, "kty") == "RSA" && (use.empty() || use == "sig") &&
         (algorithm.empty() || algorithm == "RS256");
}

}  // namespace

void PublicKeyFreer::operator()(EVP_PKEY* key) const {
  EVP_PKEY_free(key);
}

Result<SigningKeys> SigningKeys::parse(std::string_view jwks) {
  auto document = value::JsonDocument::parse(jwks);
  if (!document) return fail(Code::invalid, "the key set is not JSON: " + document.error().message);
  const value::Node* list = document->root().find("keys");
  if (list == nullptr || list->type != value::Type::array) {
    return fail(Code::invalid, "the key set has no array \"keys\"");
  }
  if (list->count > kMaxKeys) {
    return fail(Code::invalid,
                fmt::format("the key set has {} keys, and {} are the most", list->count, kMaxKeys));
  }
  SigningKeys found;
  for (const value::Node* key = list->first; key != nullptr; key = key->next) {
    const std::string_view id = member_text(*key, "kid");
    if (id.empty() || !is_for_signatures(*key)) continue;
    PublicKey made = key_of(member_text(*key, "n"), member_text(*key, "e"));
    if (made) found.keys_.emplace(id, std::move(made));
  }
  if (found.keys_.empty()) {
    return fail(Code::invalid,
                fmt::format("the key set has no RSA key of {} to {} bits with a kid, to sign with",
                            kMinBits, kMaxBits));
  }
  return found;
}

bool SigningKeys::is_signed(std::string_view key_id, std::string_view text,
                            std::string_view signature) const {
  const auto key = keys_.find(key_id);
  if (key == keys_.end()) return false;
  const DigestContext context(EVP_MD_CTX_new());
  // RSA's default padding is that of RS256.
  return context &&
         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key->second.get()) ==
             1 &&
         EVP_DigestVerify(context.get(), key_bytes(signature), signature.size(), key_bytes(text),
                          text.size()) == 1;
}

std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> from_base64url(std::string_view text) {
  std::string plain(text);
  if (plain.find_first_of("+/=") != std::string::npos || plain.size() % 4 == 1) {
    return fail(Code::invalid, "it is not base64url without padding");
  }
  std::ranges::replace(plain, '-', '+');
  std::ranges::replace(plain, '_', '/');
  plain.append((4 - plain.size() % 4) % 4, '=');
  auto bytes = from_base64(plain);
  // One text for the same bytes: otherwise a token could be written in several ways.
  if (bytes && to_base64url(*bytes) != text) {
    return fail(Code::invalid, "it is not base64url as it is written");
  }
  return bytes;
}

}  // namespace orrery::account
