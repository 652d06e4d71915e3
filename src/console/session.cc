// See session.h.
#include "console/session.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "account/hmac.h"
#include "base/bytes.h"

namespace orrery::console {
namespace {

constexpr std::string_view kPurpose = "orrery console session\n";
constexpr char kVersion = 1;
constexpr size_t kRandomBytes = 16;
constexpr size_t kOpenedAt = 1 + 2 * kRandomBytes;
constexpr size_t kGrantBytes = kOpenedAt + 8;
constexpr size_t kSignatureBytes = 32;
constexpr size_t kSealBytes = 32;
constexpr size_t kTokenBytes = kGrantBytes + kSignatureBytes + 8 + kSealBytes;
static_assert(2 * kTokenBytes == kTokenChars);

Result<std::string> random_bytes() {
  std::array<char, kRandomBytes> bytes{};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()) != 1) {
    return fail(Code::internal, "the system's random number generator does not work");
  }
  return std::string(bytes.data(), bytes.size());
}

void append_u64(std::string& out, int64_t number) {
  std::array<char, 8> bytes{};
  store_u64_be(bytes.data(), static_cast<uint64_t>(number));
  out.append(bytes.data(), bytes.size());
}

int64_t u64_at(std::string_view bytes, size_t at) {
  return static_cast<int64_t>(load_u64_be(bytes.data() + at));
}

std::string signed_text(std::string_view grant) {
  return std::string(kPurpose).append(grant);
}

}  // namespace

Result<std::unique_ptr<Sessions>> Sessions::create(const account::Account& account) {
  auto start = random_bytes();
  if (!start) return pass(start.error());
  return std::unique_ptr<Sessions>(new Sessions(account, std::move(*start)));
}

Sessions::Sessions(const account::Account& account, std::string start)
    : account_(account),
      start_(std::move(start)),
      seal_(account.secret().seal("console-session", kSealBytes)) {}

Result<std::string> Sessions::new_grant(int64_t now_s) const {
  auto id = random_bytes();
  if (!id) return pass(id.error());
  std::string grant(1, kVersion);
  grant += start_;
  grant += *id;
  append_u64(grant, now_s);
  return grant;
}

std::string Sessions::sealed(std::string_view grant, std::string_view signature,
                             int64_t ends_s) const {
  std::string bytes(grant);
  bytes += signature;
  append_u64(bytes, ends_s);
  return to_hex_upper(seal_.close(std::move(bytes)));
}

Result<std::string> Sessions::open(std::string_view key, int64_t now_s) const {
  auto grant = new_grant(now_s);
  if (!grant) return pass(grant.error());
  const auto refused = [] {
    return fail(Code::unauthorized,
                "this is no key of this server: take one from the file keys.json in its data "
                "folder, or from `orrery keys list`");
  };
  auto bytes = from_base64(key);
  if (!bytes || bytes->empty()) return refused();
  auto hmac = account::HmacKey::create(*bytes);
  if (!hmac) return pass(hmac.error());
  const auto signature = hmac->sign(signed_text(*grant));
  if (!signature) return fail(Code::overloaded, "the server is out of memory: try again");
  const std::string_view made = account::as_view(*signature);
  if (!account_.keys().who_signed(signed_text(*grant), to_base64(made))) return refused();
  return sealed(*grant, made, now_s + kIdleS);
}

Result<std::string> Sessions::open_without_key(int64_t now_s) const {
  auto grant = new_grant(now_s);
  if (!grant) return pass(grant.error());
  auto signature = from_base64(account_.keys().signature_of(signed_text(*grant)));
  if (!signature || signature->size() != kSignatureBytes) {
    return fail(Code::overloaded, "the server is out of memory: try again");
  }
  return sealed(*grant, *signature, now_s + kIdleS);
}

std::optional<Session> Sessions::check(std::string_view token, int64_t now_s) const {
  if (token.size() != kTokenChars) return std::nullopt;
  const auto bytes = from_hex(token);
  if (!bytes) return std::nullopt;
  const auto opened = seal_.open(*bytes);
  if (!opened || opened->front() != kVersion || opened->substr(1, kRandomBytes) != start_) {
    return std::nullopt;
  }
  const std::string_view grant = opened->substr(0, kGrantBytes);
  Session session{.access = {},
                  .id = std::string(grant.substr(1 + kRandomBytes, kRandomBytes)),
                  .opened_s = u64_at(grant, kOpenedAt),
                  .ends_s = u64_at(*opened, kGrantBytes + kSignatureBytes)};
  if (now_s >= session.ends_s || now_s >= session.opened_s + kSessionS) return std::nullopt;
  const auto access = account_.keys().who_signed(
      signed_text(grant), to_base64(opened->substr(kGrantBytes, kSignatureBytes)));
  if (!access) return std::nullopt;
  session.access = *access;
  const MutexLock lock(mutex_);
  if (revoked_.contains(session.id)) return std::nullopt;
  return session;
}

std::optional<std::string> Sessions::renew(std::string_view token, int64_t now_s) const {
  const auto session = check(token, now_s);
  if (!session) return std::nullopt;
  const int64_t last_s = session->opened_s + kSessionS;
  const int64_t ends_s = std::min(now_s + kIdleS, last_s);
  const bool is_last = ends_s == last_s && session->ends_s < last_s;
  if (!is_last && ends_s < session->ends_s + kRenewAfterS) return std::nullopt;
  const auto bytes = from_hex(token);
  if (!bytes) return std::nullopt;
  const std::string_view all = *bytes;
  return sealed(all.substr(0, kGrantBytes), all.substr(kGrantBytes, kSignatureBytes), ends_s);
}

void Sessions::close(const Session& session) {
  const MutexLock lock(mutex_);
  if (revoked_.size() >= kRevokedMax) {
    revoked_.erase(
        std::ranges::min_element(revoked_, {}, [](const auto& one) { return one.second; }));
  }
  // A renewed token of the same session may end later than the one that was shown.
  revoked_.emplace(session.id, session.opened_s + kSessionS);
}

}  // namespace orrery::console
