// See sha256_stream.h.
#include "base/sha256_stream.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/bytes.h"

namespace orrery {

struct Sha256Stream::Context {
  EVP_MD_CTX* made = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(made); }
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  if (context_->made == nullptr || EVP_DigestInit_ex(context_->made, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();  // it fails for no other reason
  }
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::add(std::string_view piece) {
  EVP_DigestUpdate(context_->made, piece.data(), piece.size());
}

std::string Sha256Stream::finish() {
  std::array<unsigned char, 32> hash = {};
  EVP_DigestFinal_ex(context_->made, hash.data(), nullptr);
  return to_hex_upper(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

}  // namespace orrery
