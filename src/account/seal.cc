// See seal.h.
#include "account/seal.h"

#include <cassert>
#include <new>
#include <utility>

#include "base/bytes.h"

namespace orrery::account {
namespace {

// OpenSSL has no other reason to fail here than that there is no memory, which is an exception
// everywhere else, too.
HmacKey key_from(std::string_view bytes) {
  auto key = HmacKey::create(bytes);
  if (!key) throw std::bad_alloc();
  return std::move(*key);
}

Digest signed_with(const HmacKey& key, std::string_view bytes) {
  const auto digest = key.sign(bytes);
  if (!digest) throw std::bad_alloc();
  return *digest;
}

}  // namespace

Seal::Seal(std::string_view secret, std::string_view purpose, size_t seal_bytes)
    : key_(key_from(as_view(signed_with(key_from(secret), purpose)))), seal_bytes_(seal_bytes) {
  assert(seal_bytes >= 8 && seal_bytes <= sizeof(Digest));
}

Digest Seal::sign(std::string_view bytes) const {
  return signed_with(key_, bytes);
}

std::string Seal::close(std::string bytes) const {
  const Digest digest = sign(bytes);
  bytes += as_view(digest).substr(0, seal_bytes_);
  return bytes;
}

std::optional<std::string_view> Seal::open(std::string_view sealed) const {
  if (sealed.size() < seal_bytes_) return std::nullopt;
  const std::string_view bytes = sealed.substr(0, sealed.size() - seal_bytes_);
  const Digest digest = sign(bytes);
  const std::string_view seal = sealed.substr(bytes.size());
  if (!equal_constant_time(as_view(digest).substr(0, seal_bytes_), seal)) return std::nullopt;
  return bytes;
}

}  // namespace orrery::account
