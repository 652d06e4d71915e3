// Sealing: bytes that go out to clients and come back (continuations, tokens), so that only what
// this account made is believed. They are signed, not hidden.
//
// Each purpose has a key of its own, derived from the account's secret: what was sealed for one is
// nothing for another. Immutable; any thread may call.
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
  // The bytes without it; nothing when they are not as they were closed.
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
