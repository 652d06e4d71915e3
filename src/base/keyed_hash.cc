// See keyed_hash.h.
#include "base/keyed_hash.h"

#include <sodium/crypto_shorthash.h>
#include <sodium/randombytes.h>

#include <array>

namespace orrery {
namespace {

using Key = std::array<unsigned char, crypto_shorthash_KEYBYTES>;

Key random_key() {
  Key key;
  randombytes_buf(key.data(), key.size());
  return key;
}

}  // namespace

uint64_t keyed_hash(std::string_view bytes) {
  static const Key key = random_key();
  uint64_t hash = 0;
  static_assert(sizeof(hash) == crypto_shorthash_BYTES);
  crypto_shorthash(reinterpret_cast<unsigned char*>(&hash),
                   reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), key.data());
  return hash;
}

}  // namespace orrery
