// The authorization header of signed requests:
//   percent-encoded "type=…&ver=…&sig=…"
// Input from outside. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::account {

inline constexpr size_t kMaxAuthorizationBytes = 4096;

class AuthorizationToken {
 public:
  explicit AuthorizationToken(std::string decoded);
  // Empty when there is none.
  std::string_view type() const { return field(type_); }
  std::string_view version() const { return field(version_); }
  std::string_view signature() const { return field(signature_); }

 private:
  // Places, since views would not follow the text when it moves.
  struct Place {
    size_t at = 0;
    size_t size = 0;
  };
  std::string_view field(const Place& place) const {
    return std::string_view(text_).substr(place.at, place.size);
  }

  std::string text_;
  Place type_;
  Place version_;
  Place signature_;
};
// Code::unauthorized when there is no header, or when it is too long or not percent-encoded.
Result<AuthorizationToken> parse_authorization(std::string_view authorization,
                                               size_t bytes_max = kMaxAuthorizationBytes);

}  // namespace orrery::account
