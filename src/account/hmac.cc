// See hmac.h. An EVP_MAC context is for one thread at a time. Initialized without a key, a used
// context starts again with the key that it has.
#include "account/hmac.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <utility>

namespace orrery::account {
namespace {

struct Free {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using Owned = std::unique_ptr<EVP_MAC_CTX, Free>;

// For as long as the process runs.
EVP_MAC* algorithm() {
  static EVP_MAC* const found = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  return found;
}

unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
}

Result<Owned> start(HmacHash hash, std::string_view key) {
  Owned context(algorithm() == nullptr ? nullptr : EVP_MAC_CTX_new(algorithm()));
  std::string digest = hash == HmacHash::sha1 ? "SHA1" : "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_end()};
  // An empty key must not be passed as null, which would mean the key of the context.
  constexpr std::string_view kEmpty = "";
  if (key.data() == nullptr) key = kEmpty;
  if (!context || EVP_MAC_init(context.get(), bytes_of(key), key.size(), parameters) != 1) {
    return fail(Code::internal,
                fmt::format("HMAC with {} is not available in this OpenSSL", digest));
  }
  return context;
}

}  // namespace

Result<std::string> hmac(HmacHash hash, std::string_view key, std::string_view bytes) {
  auto context = start(hash, key);
  if (!context) return pass(context.error());
  std::string signature(EVP_MAC_CTX_get_mac_size(context->get()), '\0');
  size_t size = 0;
  if (EVP_MAC_update(context->get(), bytes_of(bytes), bytes.size()) != 1 ||
      EVP_MAC_final(context->get(), bytes_of(signature), &size, signature.size()) != 1) {
    return fail(Code::internal, "there is no memory for an HMAC");
  }
  return signature;
}

struct HmacKey::Context {
  static Context* wrap(EVP_MAC_CTX* context) { return reinterpret_cast<Context*>(context); }
  static EVP_MAC_CTX* unwrap(Context* context) { return reinterpret_cast<EVP_MAC_CTX*>(context); }
};

Result<HmacKey> HmacKey::create(std::string_view key) {
  auto context = start(HmacHash::sha256, key);
  if (!context) return pass(context.error());
  return HmacKey(Context::wrap(context->release()));
}

HmacKey::HmacKey(HmacKey&& other) noexcept
    : prepared_(std::exchange(other.prepared_, nullptr)), spare_(other.spare_.exchange(nullptr)) {}

HmacKey& HmacKey::operator=(HmacKey&& other) noexcept {
  std::swap(prepared_, other.prepared_);
  other.spare_ = spare_.exchange(other.spare_.exchange(nullptr));
  return *this;
}

HmacKey::~HmacKey() {
  EVP_MAC_CTX_free(Context::unwrap(prepared_));
  EVP_MAC_CTX_free(Context::unwrap(spare_.load()));
}

std::optional<Digest> HmacKey::sign(std::string_view bytes) const {
  Owned context(Context::unwrap(spare_.exchange(nullptr, std::memory_order_acquire)));
  if (!context) context.reset(EVP_MAC_CTX_dup(Context::unwrap(prepared_)));
  Digest digest;
  size_t size = 0;
  if (!context || EVP_MAC_init(context.get(), nullptr, 0, nullptr) != 1 ||
      EVP_MAC_update(context.get(), bytes_of(bytes), bytes.size()) != 1 ||
      EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                    digest.size()) != 1) {
    return std::nullopt;
  }
  context.reset(Context::unwrap(
      spare_.exchange(Context::wrap(context.release()), std::memory_order_acq_rel)));
  return digest;
}

}  // namespace orrery::account
