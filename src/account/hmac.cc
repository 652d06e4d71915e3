// See hmac.h. An EVP_MAC context is for one thread at a time. Initialized without a key, a used
// context starts again with the key that it has.
#include "account/hmac.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <array>
#include <atomic>
#include <utility>

#include "base/thread_number.h"

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

struct HmacKey::Contexts {
  // A used context, kept for the next signature: that is twice as fast as copying the prepared one.
  // On a cache line of its own, since another thread's is used at the same time.
  struct alignas(64) Spare {
    std::atomic<EVP_MAC_CTX*> context = nullptr;
  };
  static constexpr size_t kSpares = 16;

  explicit Contexts(Owned prepared_in) : prepared(std::move(prepared_in)) {}
  ~Contexts() {
    for (Spare& spare : spares) EVP_MAC_CTX_free(spare.context.load());
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  const Owned prepared;
  // By the number of the thread. Two that share one and sign at once: the second copies.
  std::array<Spare, kSpares> spares;
};

Result<HmacKey> HmacKey::create(std::string_view key) {
  auto context = start(HmacHash::sha256, key);
  if (!context) return pass(context.error());
  return HmacKey(std::make_unique<Contexts>(std::move(*context)));
}

HmacKey::HmacKey(std::unique_ptr<Contexts> contexts) : contexts_(std::move(contexts)) {}
HmacKey::HmacKey(HmacKey&& other) noexcept = default;
HmacKey& HmacKey::operator=(HmacKey&& other) noexcept = default;
HmacKey::~HmacKey() = default;

std::optional<Digest> HmacKey::sign(std::string_view bytes) const {
  auto& spare = contexts_->spares[thread_number() % Contexts::kSpares].context;
  Owned context(spare.exchange(nullptr, std::memory_order_acquire));
  if (!context) context.reset(EVP_MAC_CTX_dup(contexts_->prepared.get()));
  Digest digest;
  size_t size = 0;
  if (!context || EVP_MAC_init(context.get(), nullptr, 0, nullptr) != 1 ||
      EVP_MAC_update(context.get(), bytes_of(bytes), bytes.size()) != 1 ||
      EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                    digest.size()) != 1) {
    return std::nullopt;
  }
  context.reset(spare.exchange(context.release(), std::memory_order_acq_rel));
  return digest;
}

}  // namespace orrery::account
