// See authorize.h.
#include "api/table/auth/authorize.h"

#include <string>
#include <utility>

#include "api/table/auth/not_authenticated.h"
#include "api/table/auth/shared_access.h"
#include "net/http_date.h"

namespace orrery::table {
namespace {

constexpr std::string_view kSecondary = "-secondary";
constexpr size_t kMaxAuthorizationBytes = 4'096;

struct Credential {
  Scheme scheme;
  std::string_view account;
  std::string_view signature;
};

TableResult<Credential> parse_credential(std::string_view header) {
  const auto wrong = [](std::string message) {
    return refuse(ErrorCode::invalid_authentication_info, std::move(message));
  };
  if (header.size() > kMaxAuthorizationBytes) return wrong("The Authorization header is too long.");
  const size_t space = header.find(' ');
  const std::string_view scheme = header.substr(0, space);
  Credential credential;
  if (scheme == "SharedKeyLite") {
    credential.scheme = Scheme::shared_key_lite;
  } else if (scheme == "SharedKey") {
    credential.scheme = Scheme::shared_key;
  } else if (scheme == "Bearer") {
    return refuse(ErrorCode::authentication_failed,
                  "Bearer tokens are not supported: sign with SharedKey, SharedKeyLite or a shared "
                  "access signature.");
  } else {
    return wrong(
        "The Authorization header must be \"SharedKey account:signature\" or "
        "\"SharedKeyLite account:signature\".");
  }
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view() : header.substr(space + 1);
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    return wrong("After SharedKey or SharedKeyLite comes account:signature.");
  }
  credential.account = rest.substr(0, colon);
  credential.signature = rest.substr(colon + 1);
  return credential;
}

std::string_view without_secondary(std::string_view account) {
  if (account.ends_with(kSecondary)) account.remove_suffix(kSecondary.size());
  return account;
}

std::string_view comp_of(std::string_view query) {
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    if (parameter.starts_with("comp=")) return parameter.substr(5);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  return {};
}

std::string_view signed_date(const RequestFacts& request) {
  return request.x_ms_date.empty() ? request.date : request.x_ms_date;
}

// `path` is the request's, or what a client of the secondary may have signed in its place.
std::string string_to_sign(Scheme scheme, const RequestFacts& request, std::string_view account,
                           std::string_view path) {
  std::string out;
  out.reserve(128 + path.size());
  if (scheme == Scheme::shared_key) {
    out += request.method;
    out += '\n';
    out += request.content_md5;
    out += '\n';
    out += request.content_type;
    out += '\n';
  }
  out += signed_date(request);
  out += "\n/";
  out += account;
  out += path;
  if (const std::string_view comp = comp_of(request.query); !comp.empty()) {
    out += "?comp=";
    out += comp;
  }
  return out;
}

// The path of the primary, when the path names the account of the secondary.
std::string primary_path(const RequestFacts& request) {
  const std::string prefix = "/" + std::string(request.account) + std::string(kSecondary);
  if (!request.path.starts_with(prefix)) return std::string(request.path);
  return "/" + std::string(request.account) + std::string(request.path.substr(prefix.size()));
}

std::optional<account::Access> who_signed(const account::KeyRing& keys,
                                          const Credential& credential,
                                          const RequestFacts& request) {
  const auto by = [&](std::string_view account, std::string_view path) {
    auto access = keys.who_signed(string_to_sign(credential.scheme, request, account, path),
                                  credential.signature);
    // Some clients sign "/account/table" and send "/account/table/".
    if (!access && path.size() > 1 && path.ends_with('/')) {
      path.remove_suffix(1);
      access = keys.who_signed(string_to_sign(credential.scheme, request, account, path),
                               credential.signature);
    }
    return access;
  };
  auto access = by(request.account, request.path);
  if (access || !request.secondary) return access;
  // Clients disagree on whether "-secondary" is part of what is signed.
  const std::string secondary = std::string(request.account) + std::string(kSecondary);
  const std::string path = primary_path(request);
  access = by(secondary, request.path);
  if (!access) access = by(request.account, path);
  if (!access) access = by(secondary, path);
  return access;
}

TableStatus check_clock(std::string_view date, int64_t now_s) {
  if (date.empty()) {
    return not_authenticated("neither x-ms-date nor Date is there. Send x-ms-date like " +
                             net::http_date(now_s) + ".");
  }
  const std::optional<int64_t> signed_s = net::parse_http_date(date);
  if (!signed_s) {
    return not_authenticated("the date \"" + std::string(date.substr(0, 64)) +
                             "\" is not an HTTP date. Send x-ms-date like " +
                             net::http_date(now_s) + ".");
  }
  if (*signed_s > now_s + kMaxClockSkewS || *signed_s < now_s - kMaxClockSkewS) {
    return not_authenticated("it was signed at " + net::http_date(*signed_s) +
                             " and the server's clock says " + net::http_date(now_s) +
                             "; at most 15 minutes may lie between. Set the clock of the client.");
  }
  return {};
}

}  // namespace

TableResult<Grant> authorize(const RequestFacts& request, const Accounts& accounts) {
  const account::KeyRing* keys = accounts.keys_of(request.account);
  if (!keys) {
    return not_authenticated("there is no account \"" + std::string(request.account.substr(0, 64)) +
                             "\".");
  }
  if (request.authorization.empty()) {
    if (has_shared_access(request.query)) return authorize_shared_access(request, *keys, accounts);
    return not_authenticated(
        "it is not signed. Send an Authorization header, or a shared access signature.");
  }
  auto credential = parse_credential(request.authorization);
  if (!credential) return pass(credential.error());
  if (without_secondary(credential->account) != request.account) {
    return not_authenticated(
        "it is signed for the account \"" + std::string(credential->account.substr(0, 64)) +
        "\" and addressed to \"" + std::string(request.account.substr(0, 64)) + "\".");
  }
  const std::string_view date = signed_date(request);
  if (!date.empty() || !accounts.has_published_key(request.account)) {
    if (auto clock = check_clock(date, request.now_s); !clock) return pass(clock.error());
  }
  const auto access = who_signed(*keys, *credential, request);
  if (!access) {
    return not_authenticated("the signature does not match. " +
                             check_what_is_signed(string_to_sign(credential->scheme, request,
                                                                 request.account, request.path)));
  }
  return Grant::of_key(*access == account::Access::read_write, request.secondary);
}

std::string sign(const account::KeyRing& keys, Scheme scheme, const RequestFacts& request) {
  std::string header = scheme == Scheme::shared_key ? "SharedKey " : "SharedKeyLite ";
  header += request.account;
  header += ':';
  header += keys.signature_of(string_to_sign(scheme, request, request.account, request.path));
  return header;
}

}  // namespace orrery::table
