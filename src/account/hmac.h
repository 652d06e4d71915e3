// HMAC-SHA256, for all who sign and seal.
#pragma once

#include <array>
#include <atomic>
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

// A key that was taken in once, since requests are checked with the same few. Any thread may call.
class HmacKey {
 public:
  // Code::internal when this OpenSSL has no HMAC, or there is no memory for one.
  static Result<HmacKey> create(std::string_view key);
  HmacKey(HmacKey&& other) noexcept;
  HmacKey& operator=(HmacKey&& other) noexcept;
  ~HmacKey();

  // Nothing when there was no memory.
  std::optional<Digest> sign(std::string_view bytes) const;

 private:
  struct Context;  // OpenSSL's
  explicit HmacKey(Context* prepared) : prepared_(prepared) {}

  Context* prepared_;
  // One that was used and can be used again, which is twice as fast as a copy. Two threads at once
  // make do with a copy for one of them.
  mutable std::atomic<Context*> spare_ = nullptr;
};

}  // namespace orrery::account
