// The authorization header of signed requests:
//   percent-encoded "type=…&ver=…&sig=…"
// Input from outside. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace orrery::account {

inline constexpr size_t kMaxAuthorizationBytes = 4096;

class AuthorizationToken {
 public:
  explicit AuthorizationToken(std::string decoded) : text_(std::move(decoded)) {}
  // Empty when there is none.
  std::string_view type() const { return field("type="); }
  std::string_view version() const { return field("ver="); }
  std::string_view signature() const { return field("sig="); }

 private:
  std::string_view field(std::string_view name) const;

  std::string text_;
};
// Code::unauthorized when there is no header, or when it is too long or not percent-encoded.
Result<AuthorizationToken> parse_authorization(std::string_view authorization);

}  // namespace orrery::account
