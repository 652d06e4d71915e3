// See admin_signature.h.
#include "ops/admin_signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "account/authorization_token.h"
#include "base/bytes.h"
#include "net/http_date.h"

namespace orrery::ops {
namespace {

constexpr std::string_view kType = "orrery-admin";
constexpr size_t kNonceBytes = 16;
constexpr size_t kHashBytes = 32;

std::unexpected<Error> unauthorized(std::string message) {
  return fail(Code::unauthorized, std::move(message));
}

// Upper case alone, so that each has one spelling.
bool is_hex_of(std::string_view text, size_t bytes) {
  return text.size() == 2 * bytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
         });
}

Result<std::string> hash_of(std::string_view body) {
  std::array<char, kHashBytes> digest{};
  unsigned int size = 0;
  if (EVP_Digest(body.data(), body.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1) {
    return fail(Code::internal, "SHA-256 is not available in this OpenSSL");
  }
  return to_hex_upper({digest.data(), digest.size()});
}

std::string payload_of(const AdminRequest& request) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", kType, request.method, request.target,
                     request.date, request.nonce, request.content_sha256);
}

}  // namespace

Result<AdminHeaders> sign_admin(const account::KeyRing& signer, std::string_view method,
                                std::string_view target, std::string_view body, int64_t now_s,
                                account::Access access) {
  std::array<char, kNonceBytes> nonce{};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), nonce.size()) != 1) {
    return fail(Code::internal, "the system's random number generator does not work");
  }
  auto hash = hash_of(body);
  if (!hash) return pass(hash.error());
  AdminHeaders headers{.authorization = {},
                       .date = net::http_date(now_s),
                       .nonce = to_hex_upper({nonce.data(), nonce.size()}),
                       .content_sha256 = std::move(*hash)};
  const std::string signature =
      signer.signature_of(payload_of({.method = method,
                                      .target = target,
                                      .authorization = {},
                                      .date = headers.date,
                                      .nonce = headers.nonce,
                                      .content_sha256 = headers.content_sha256}),
                          access);
  headers.authorization = percent_encode(fmt::format("type={}&ver=1.0&sig={}", kType, signature));
  return headers;
}

Result<account::Access> AdminSignatures::verify(const account::KeyRing& keys,
                                                const AdminRequest& request, int64_t now_s) const {
  auto token = account::parse_authorization(request.authorization);
  if (!token) return pass(token.error());
  if (token->type() != kType || token->version() != "1.0") {
    return unauthorized(
        fmt::format("administration is signed in a way of its own, which covers the whole request: "
                    "the authorization header is to be type={}&ver=1.0&sig=… (percent-encoded)",
                    kType));
  }
  if (!is_hex_of(request.nonce, kNonceBytes) || !is_hex_of(request.content_sha256, kHashBytes)) {
    return unauthorized(
        "administration needs x-orrery-nonce, 16 random bytes, and x-orrery-content-sha256, the "
        "body's SHA-256, both in hexadecimal with capital letters");
  }
  const std::optional<account::Access> access =
      keys.who_signed(payload_of(request), token->signature());
  if (!access) {
    return unauthorized(
        "the signature does not match this request: it covers method, path with query, "
        "x-orrery-date, "
        "x-orrery-nonce and x-orrery-content-sha256, with a key of this server");
  }
  const std::optional<int64_t> signed_s = net::parse_http_date(request.date);
  if (!signed_s) return unauthorized("x-orrery-date is not an HTTP date");
  if (*signed_s < now_s - kAdminWindowS || *signed_s > now_s + kAdminWindowS) {
    return unauthorized(
        fmt::format("the request was signed at {} and the server's clock says {}: at most five "
                    "minutes may lie between",
                    net::http_date(*signed_s), net::http_date(now_s)));
  }
  if (*signed_s < started_s_) {
    return unauthorized(
        fmt::format("the request was signed at {}, before this server started at {}: sign it "
                    "again, or set the clock of the client",
                    net::http_date(*signed_s), net::http_date(started_s_)));
  }
  return *access;
}

Status AdminSignatures::admit(const AdminRequest& request, std::string_view body, int64_t now_s) {
  auto hash = hash_of(body);
  if (!hash) return pass(hash.error());
  if (!equal_constant_time(*hash, request.content_sha256)) {
    return unauthorized("the body is not the one that was signed");
  }
  const std::optional<int64_t> signed_s = net::parse_http_date(request.date);
  if (!signed_s) return unauthorized("x-orrery-date is not an HTTP date");
  MutexLock lock(mutex_);
  if (nonces_.size() >= remembered_max_) {
    std::erase_if(nonces_, [now_s](const auto& one) { return one.second < now_s; });
    if (nonces_.size() >= remembered_max_) {
      return fail(Code::overloaded,
                  fmt::format("more than {} administrative requests within five minutes: wait",
                              remembered_max_));
    }
  }
  if (!nonces_.emplace(request.nonce, *signed_s + kAdminWindowS).second) {
    return unauthorized(
        "this very request was made before: sign it again, with another x-orrery-nonce");
  }
  return {};
}

}  // namespace orrery::ops
