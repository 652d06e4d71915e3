// The form in which signed requests name their signature in the authorization header:
//   percent-encoded "type=…&ver=…&sig=…"
// Input from outside. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::account {

inline constexpr size_t kMaxAuthorizationBytes = 4096;

struct AuthorizationToken {
  std::string type;
  std::string version;
  std::string signature;
};
// Code::unauthorized when there is no header, or when it is too long or not percent-encoded.
Result<AuthorizationToken> parse_authorization(std::string_view authorization);

}  // namespace orrery::account
