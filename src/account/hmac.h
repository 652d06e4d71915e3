// HMAC, for all who sign and seal.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::account {

using Digest = std::array<char, 32>;

inline std::string_view as_view(const Digest& digest) {
  return {digest.data(), digest.size()};
}

enum class HmacHash : uint8_t { sha1, sha256 };

// One signature by a key that is not used again. Code::internal when this OpenSSL has no HMAC with
// this hash, or there is no memory for one. Any thread may call.
Result<std::string> hmac(HmacHash hash, std::string_view key, std::string_view bytes);

// A key of HMAC-SHA256, prepared once for many signatures. Any thread may call.
class HmacKey {
 public:
  // Code::internal when this OpenSSL has no HMAC, or there is no memory for one.
  static Result<HmacKey> create(std::string_view key);
  HmacKey(HmacKey&& other) noexcept;
  HmacKey& operator=(HmacKey&& other) noexcept;
  ~HmacKey();

  // Empty when memory runs out.
  std::optional<Digest> sign(std::string_view bytes) const;

 private:
  struct Contexts;  // OpenSSL's
  explicit HmacKey(std::unique_ptr<Contexts> contexts);

  std::unique_ptr<Contexts> contexts_;
};

}  // namespace orrery::account
