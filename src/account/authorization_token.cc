// See authorization_token.h.
#include "account/authorization_token.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace orrery::account {
namespace {

std::unexpected<Error> unauthorized(std::string message) {
  return fail(Code::unauthorized, std::move(message));
}

// The header's text, percent-decoded.
Result<std::string> decoded_header(std::string_view authorization, size_t bytes_max) {
  if (authorization.empty()) {
    return unauthorized(
        "The authorization header is missing. Sign the request with an account key.");
  }
  if (authorization.size() > bytes_max) {
    return unauthorized("The authorization header is longer than " + std::to_string(bytes_max) +
                        " bytes.");
  }
  auto decoded = percent_decode(authorization);
  if (!decoded) {
    return unauthorized("The authorization header is not percent-encoded text: " +
                        decoded.error().message);
  }
  return decoded;
}

}  // namespace

AuthorizationToken::AuthorizationToken(std::string decoded) : text_(std::move(decoded)) {
  const std::string_view text = text_;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('&', at), text.size());
    const std::string_view one = text.substr(at, end - at);
    if (one.starts_with("type=")) type_ = {.at = at + 5, .size = one.size() - 5};
    if (one.starts_with("ver=")) version_ = {.at = at + 4, .size = one.size() - 4};
    if (one.starts_with("sig=")) signature_ = {.at = at + 4, .size = one.size() - 4};
    at = end + 1;
  }
}

Result<AuthorizationToken> parse_authorization(std::string_view authorization, size_t bytes_max) {
  auto decoded = decoded_header(authorization, bytes_max);
  if (!decoded) return pass(decoded.error());
  return AuthorizationToken(std::move(*decoded));
}

}  // namespace orrery::account
