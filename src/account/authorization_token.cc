// See authorization_token.h.
#include "account/authorization_token.h"

#include <utility>

#include "base/bytes.h"

namespace orrery::account {
namespace {

std::unexpected<Error> unauthorized(std::string message) {
  return fail(Code::unauthorized, std::move(message));
}

// The header's text, percent-decoded.
Result<std::string> decoded_header(std::string_view authorization) {
  if (authorization.empty()) {
    return unauthorized(
        "The authorization header is missing. Sign the request with an account key.");
  }
  if (authorization.size() > kMaxAuthorizationBytes) {
    return unauthorized("The authorization header is longer than " +
                        std::to_string(kMaxAuthorizationBytes) + " bytes.");
  }
  auto decoded = percent_decode(authorization);
  if (!decoded) {
    return unauthorized("The authorization header is not percent-encoded text: " +
                        decoded.error().message);
  }
  return decoded;
}

}  // namespace

Result<AuthorizationToken> parse_authorization(std::string_view authorization) {
  auto decoded = decoded_header(authorization);
  if (!decoded) return pass(decoded.error());
  AuthorizationToken token;
  std::string_view text = *decoded;
  while (!text.empty()) {
    const size_t end = text.find('&');
    const std::string_view field = text.substr(0, end);
    if (field.starts_with("type=")) token.type = field.substr(5);
    if (field.starts_with("ver=")) token.version = field.substr(4);
    if (field.starts_with("sig=")) token.signature = field.substr(4);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return token;
}

}  // namespace orrery::account
