// Reading the authorization header, and checking the signature: see authorization.h.
#include "api/cosmos/auth/authorization.h"

#include <algorithm>
#include <utility>

#include "account/authorization_token.h"
#include "base/bytes.h"
#include "net/http_date.h"

namespace orrery::cosmos {
namespace {

char* write_lower(char* to, std::string_view text) {
  for (const char c : text) *to++ = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return to;
}

std::string payload_of(std::string_view verb, std::string_view type, std::string_view link,
                       std::string_view date) {
  std::string payload(verb.size() + type.size() + link.size() + date.size() + 5, '\n');
  char* to = payload.data();
  to = write_lower(to, verb) + 1;
  to = write_lower(to, type) + 1;
  to = std::ranges::copy(link, to).out + 1;
  write_lower(to, date);
  return payload;
}

std::unexpected<Error> unauthorized(std::string message) {
  return fail(Code::unauthorized, std::move(message));
}

// In one line, for a message: line ends shown as \n.
std::string shown(std::string_view payload) {
  std::string out;
  for (const char c : payload.substr(0, 2048)) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

Status check_clock(std::string_view date, int64_t now_s) {
  const std::optional<int64_t> signed_s = net::parse_http_date(date);
  if (!signed_s) {
    return unauthorized("The date \"" + std::string(date.substr(0, 64)) +
                        "\" is not an HTTP date. Send x-ms-date like " + net::http_date(now_s) +
                        ".");
  }
  if (*signed_s > now_s + kMaxClockSkewS || *signed_s < now_s - kMaxClockSkewS) {
    return fail(Code::forbidden,
                "The authorization token is not valid now: it was signed at " +
                    net::http_date(*signed_s) + " and the server's clock says " +
                    net::http_date(now_s) +
                    "; at most 15 minutes may lie between. Set the clock of the client.");
  }
  return {};
}

}  // namespace

std::optional<std::string> resource_signature(std::string_view authorization) {
  // Most requests are signed with a key: look no further than the type for them.
  if (authorization.substr(0, 32).find("resource") == std::string_view::npos) {
    return std::nullopt;
  }
  auto token = account::parse_authorization(authorization);
  if (!token || token->type() != "resource") return std::nullopt;
  return std::string(token->signature());
}

Result<account::Access> verify(const account::KeyRing& keys, const AuthRequest& request) {
  auto parsed = account::parse_authorization(request.authorization);
  if (!parsed) return pass(parsed.error());
  const account::AuthorizationToken& token = *parsed;
  if (token.type() == "sas") {
    return unauthorized(
        "Tokens of type=sas are not supported yet. Sign the request with an account key "
        "(type=master), or send a permission's token (type=resource) or one of an issuer "
        "(type=aad).");
  }
  if (token.type() != "master" || token.signature().empty()) {
    return unauthorized(
        "The authorization header is not of the form type=master&ver=1.0&sig=… (percent-encoded).");
  }
  if (token.version() != "1.0") {
    return unauthorized("ver=" + std::string(token.version().substr(0, 16)) +
                        " is not a known version of the authorization token. Use ver=1.0.");
  }
  if (request.date.empty()) {
    return unauthorized("Neither x-ms-date nor Date is there. Send x-ms-date like " +
                        net::http_date(request.now_s) + ".");
  }

  const ResourceAddress& address = *request.address;
  const std::string payload =
      payload_of(request.verb, address.resource_type, address.resource_link, request.date);
  std::optional<account::Access> access = keys.who_signed(payload, token.signature());
  if (!access && address.has_other) {
    access = keys.who_signed(
        payload_of(request.verb, address.other_type, address.other_link, request.date),
        token.signature());
  }
  if (!access) {
    return unauthorized(
        "The signature does not match this request. Check the account key, and that the client "
        "signs what the server does: \"" +
        shown(payload) + "\" (line ends written \\n).");
  }
  if (auto clock = check_clock(request.date, request.now_s); !clock) return pass(clock.error());
  return *access;
}

std::string sign(const account::KeyRing& keys, std::string_view verb,
                 std::string_view resource_type, std::string_view resource_link,
                 std::string_view date) {
  return percent_encode("type=master&ver=1.0&sig=" +
                        keys.signature_of(payload_of(verb, resource_type, resource_link, date)));
}

}  // namespace orrery::cosmos
