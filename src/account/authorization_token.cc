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

std::string_view AuthorizationToken::field(std::string_view name) const {
  std::string_view rest = text_;
  std::string_view found;
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view one = rest.substr(0, end);
    if (one.starts_with(name)) found = one.substr(name.size());
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return found;
}

Result<AuthorizationToken> parse_authorization(std::string_view authorization) {
  auto decoded = decoded_header(authorization);
  if (!decoded) return pass(decoded.error());
  return AuthorizationToken(std::move(*decoded));
}

}  // namespace orrery::account
