// Seals bytes that clients hold and send back (continuations, tokens), so that forged ones are
// refused. They are signed, not encrypted.
//
// Each purpose has its own key, derived from the account's secret: bytes sealed for one purpose are
// refused for another. Immutable; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "account/hmac.h"

namespace orrery::account {

class Seal {
 public:
  // The seal is the first `seal_bytes` of the signature, 8 to 32.
  Seal(std::string_view secret, std::string_view purpose, size_t seal_bytes);

  // `bytes` with their seal at the end.
  std::string close(std::string bytes) const;
  // The bytes without their seal; empty when they were altered, or sealed by somebody else.
  std::optional<std::string_view> open(std::string_view sealed) const;

 private:
  Digest sign(std::string_view bytes) const;

  HmacKey key_;
  size_t seal_bytes_;
};

// What all seals of an account are derived from.
class Secret {
 public:
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
  Seal seal(std::string_view purpose, size_t seal_bytes) const {
    return {bytes_, purpose, seal_bytes};
  }

 private:
  std::string bytes_;
};

}  // namespace orrery::account
