// See hash.h. Blocks are read little-endian whatever the machine, so that the hashes are the same
// everywhere.
#include "base/hash.h"

#include <openssl/evp.h>

#include <bit>
#include <memory>
#include <new>

#include "base/bytes.h"

namespace orrery {

namespace {

// The bytes after the last whole block, as one little-endian number.
uint64_t load_tail(std::string_view tail) {
  uint64_t value = 0;
  for (size_t i = 0; i < tail.size(); ++i) {
    value |= uint64_t{static_cast<uint8_t>(tail[i])} << (8 * i);
  }
  return value;
}

uint32_t mix_32(uint32_t k) {
  k *= 0xcc9e2d51U;
  k = std::rotl(k, 15);
  return k * 0x1b873593U;
}

constexpr uint64_t kC1 = 0x87c37b91114253d5U;
constexpr uint64_t kC2 = 0x4cf5ad432745937fU;

uint64_t mix_first(uint64_t k) {
  return std::rotl(k * kC1, 31) * kC2;
}
uint64_t mix_second(uint64_t k) {
  return std::rotl(k * kC2, 33) * kC1;
}

uint64_t finish_64(uint64_t h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdU;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53U;
  return h ^ h >> 33;
}

}  // namespace

uint32_t murmur3_x86_32(std::string_view bytes, uint32_t seed) {
  uint32_t h = seed;
  const auto length = static_cast<uint32_t>(bytes.size());
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    h ^= mix_32(load_u32_le(bytes.data()));
    h = std::rotl(h, 13) * 5 + 0xe6546b64U;
  }
  if (!bytes.empty()) h ^= mix_32(static_cast<uint32_t>(load_tail(bytes)));
  h ^= length;
  h ^= h >> 16;
  h *= 0x85ebca6bU;
  h ^= h >> 13;
  h *= 0xc2b2ae35U;
  return h ^ h >> 16;
}

std::array<uint8_t, 16> murmur3_x64_128(std::string_view bytes, uint32_t seed) {
  uint64_t h1 = seed;
  uint64_t h2 = seed;
  const uint64_t length = bytes.size();
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    h1 ^= mix_first(load_u64_le(bytes.data()));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729U;
    h2 ^= mix_second(load_u64_le(bytes.data() + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5U;
  }
  if (bytes.size() > 8) h2 ^= mix_second(load_tail(bytes.substr(8)));
  if (!bytes.empty()) h1 ^= mix_first(load_tail(bytes.substr(0, 8)));

  h1 ^= length;
  h2 ^= length;
  h1 += h2;
  h2 += h1;
  h1 = finish_64(h1);
  h2 = finish_64(h2);
  h1 += h2;
  h2 += h1;

  std::array<uint8_t, 16> out;
  store_u64_le(out.data(), h1);
  store_u64_le(out.data() + 8, h2);
  return out;
}

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  // Looking the algorithm up takes longer than hashing a key.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  // So does making a context.
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<uint8_t, 32> out;
  if (algorithm == nullptr || context == nullptr ||
      EVP_DigestInit_ex2(context.get(), algorithm, nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), out.data(), nullptr) != 1) {
    throw std::bad_alloc();  // nothing else can fail
  }
  return out;
}

}  // namespace orrery
