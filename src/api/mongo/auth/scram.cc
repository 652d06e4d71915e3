// See scram.h.
#include "api/mongo/auth/scram.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>

#include "account/hmac.h"
#include "api/mongo/bson/sasl_prep.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

constexpr size_t kNonceBytes = 24;
constexpr size_t kSha1SaltBytes = 16;
constexpr size_t kSha256SaltBytes = 28;
constexpr uint32_t kSha1Iterations = 10'000;  // of users, as MongoDB has them
constexpr uint32_t kSha256Iterations = 15'000;
constexpr size_t kPasswordBytesMax = 4'096;
constexpr size_t kMaxDerived = 64;  // keys change seldom; then the old ones are forgotten

const EVP_MD* digest_of(ScramKind kind) {
  return kind == ScramKind::sha1 ? EVP_sha1() : EVP_sha256();
}

std::string random_bytes(size_t size) {
  std::string bytes(size, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size));
  return bytes;
}

std::string hash(const EVP_MD* digest, std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), out, &size, digest, nullptr);
  return {reinterpret_cast<char*>(out), size};
}

Answer<std::string> hmac(ScramKind kind, std::string_view key, std::string_view bytes) {
  auto signature = account::hmac(
      kind == ScramKind::sha1 ? account::HmacHash::sha1 : account::HmacHash::sha256, key, bytes);
  if (!signature) return refuse(kInternalError, signature.error().message);
  return std::move(*signature);
}

std::string hex_md5(std::string_view text) {
  std::string hex = to_hex_upper(hash(EVP_md5(), text));
  std::ranges::transform(hex, hex.begin(),
                         [](char c) { return c >= 'A' && c <= 'F' ? char(c - 'A' + 'a') : c; });
  return hex;
}

std::unexpected<Error> failed() {
  return refuse(kAuthenticationFailed, "Authentication failed.");
}

// The value of `name=` in a list of attributes that commas separate; nothing when it is not there.
std::optional<std::string_view> attribute(std::string_view message, char name) {
  while (!message.empty()) {
    const size_t end = message.find(',');
    const std::string_view part = message.substr(0, end);
    if (part.size() >= 2 && part[0] == name && part[1] == '=') return part.substr(2);
    if (end == std::string_view::npos) break;
    message.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// =2C is a comma and =3D an equals sign.
std::string unescape_name(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("=2C")) {
      out += ',';
      i += 2;
    } else if (name.substr(i).starts_with("=3D")) {
      out += '=';
      i += 2;
    } else {
      out += name[i];
    }
  }
  return out;
}

Answer<ScramDerived> derive_from(ScramKind kind, const std::string& password,
                                 const std::string& salt, uint32_t iterations) {
  std::string salted(static_cast<size_t>(EVP_MD_get_size(digest_of(kind))), '\0');
  PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()),
                    reinterpret_cast<const unsigned char*>(salt.data()),
                    static_cast<int>(salt.size()), static_cast<int>(iterations), digest_of(kind),
                    static_cast<int>(salted.size()),
                    reinterpret_cast<unsigned char*>(salted.data()));
  const auto client_key = hmac(kind, salted, "Client Key");
  if (!client_key) return pass(client_key.error());
  auto server_key = hmac(kind, salted, "Server Key");
  if (!server_key) return pass(server_key.error());
  return ScramDerived{.stored_key = hash(digest_of(kind), *client_key),
                      .server_key = std::move(*server_key)};
}

}  // namespace

Answer<ScramCredential> make_credential(ScramKind kind, std::string_view user,
                                        const std::string& password) {
  if (password.empty() || password.size() > kPasswordBytesMax) {
    return refuse(kBadValue,
                  fmt::format("User passwords must not be empty, nor longer than {} bytes",
                              kPasswordBytesMax));
  }
  std::string used;
  if (kind == ScramKind::sha1) {
    used = hex_md5(fmt::format("{}:mongo:{}", user, password));
  } else {
    auto text = sasl_prep(password);
    if (!text) return refuse(kBadValue, "the password has characters that SASLprep prohibits");
    used = std::move(*text);
  }
  ScramCredential made;
  made.iterations = kind == ScramKind::sha1 ? kSha1Iterations : kSha256Iterations;
  made.salt = random_bytes(kind == ScramKind::sha1 ? kSha1SaltBytes : kSha256SaltBytes);
  auto derived = derive_from(kind, used, made.salt, made.iterations);
  if (!derived) return pass(std::move(derived.error()));
  made.derived = std::move(*derived);
  return made;
}

std::optional<ScramKind> scram_kind(std::string_view mechanism) {
  if (mechanism == kScramSha1) return ScramKind::sha1;
  if (mechanism == kScramSha256) return ScramKind::sha256;
  return std::nullopt;
}

ScramSecrets::ScramSecrets(account::Account& account)
    : account_(account),
      sha1_salt_(random_bytes(kSha1SaltBytes)),
      sha256_salt_(random_bytes(kSha256SaltBytes)) {}

std::string ScramSecrets::salt_of_nobody(ScramKind kind, std::string_view user) const {
  const std::string made = hash(EVP_sha256(), salt(kind) + std::string(user));
  return made.substr(0, salt(kind).size());
}

Answer<ScramSecrets::Derived> ScramSecrets::derive(ScramKind kind, const std::string& user,
                                                   const std::string& key) {
  {
    MutexLock lock(mutex_);
    if (const auto found = derived_.find({kind, key}); found != derived_.end()) {
      return found->second;
    }
  }
  // Keys are base64: SASLprep leaves them as they are.
  const std::string password =
      kind == ScramKind::sha1 ? hex_md5(fmt::format("{}:mongo:{}", user, key)) : key;
  auto derived = derive_from(kind, password, salt(kind), kScramIterations);
  if (!derived) return derived;
  MutexLock lock(mutex_);
  if (derived_.size() >= kMaxDerived) derived_.clear();
  derived_.insert_or_assign({kind, key}, *derived);
  return derived;
}

Answer<ScramConversation::Step> ScramConversation::begin(ScramSecrets& secrets,
                                                         std::string_view payload,
                                                         const Find& find) {
  // n,,n=user,r=nonce
  const size_t first = payload.find(',');
  const size_t second = first == std::string_view::npos ? first : payload.find(',', first + 1);
  if (second == std::string_view::npos || (payload[0] != 'n' && payload[0] != 'y')) return failed();
  header_ = payload.substr(0, second + 1);
  first_bare_ = payload.substr(second + 1);
  const auto name = attribute(first_bare_, 'n');
  const auto nonce = attribute(first_bare_, 'r');
  if (!name || !nonce || nonce->empty()) return failed();
  user_ = unescape_name(*name);
  nonce_ = std::string(*nonce) + to_base64(random_bytes(kNonceBytes));
  std::string salt = secrets.salt(kind_);
  uint32_t iterations = kScramIterations;
  if (user_ != secrets.account().name()) {
    credential_ = find(user_);
    iterations = kind_ == ScramKind::sha1 ? kSha1Iterations : kSha256Iterations;
    salt = secrets.salt_of_nobody(kind_, user_);
  }
  if (credential_) {
    salt = credential_->salt;
    iterations = credential_->iterations;
  }
  server_first_ = fmt::format("r={},s={},i={}", nonce_, to_base64(salt), iterations);
  return Step{server_first_, false};
}

// Nothing: the proof is not one of these keys.
Answer<std::optional<ScramConversation::Step>> ScramConversation::prove(
    const ScramDerived& derived, const std::string& proof, const std::string& signed_text) const {
  auto client_key = hmac(kind_, derived.stored_key, signed_text);
  if (!client_key) return pass(client_key.error());
  if (client_key->size() != proof.size()) return std::optional<Step>();
  for (size_t i = 0; i < client_key->size(); ++i) {
    (*client_key)[i] = static_cast<char>((*client_key)[i] ^ proof[i]);
  }
  if (!equal_constant_time(hash(digest_of(kind_), *client_key), derived.stored_key)) {
    return std::optional<Step>();
  }
  const auto signature = hmac(kind_, derived.server_key, signed_text);
  if (!signature) return pass(signature.error());
  return Step{"v=" + to_base64(*signature), skips_empty_exchange_};
}

Answer<ScramConversation::Step> ScramConversation::go_on(ScramSecrets& secrets,
                                                         std::string_view payload) {
  if (is_proven_) return Step{"", true};
  // c=header,r=nonce,p=proof
  const size_t proof_at = payload.rfind(",p=");
  if (proof_at == std::string_view::npos || server_first_.empty()) return failed();
  const std::string_view without_proof = payload.substr(0, proof_at);
  const auto proof = from_base64(payload.substr(proof_at + 3));
  const auto nonce = attribute(without_proof, 'r');
  const auto binding = attribute(without_proof, 'c');
  if (!proof || !nonce || *nonce != nonce_ || !binding || *binding != to_base64(header_)) {
    return failed();
  }
  const std::string signed_text =
      fmt::format("{},{},{}", first_bare_, server_first_, without_proof);
  if (user_ != secrets.account().name()) {
    if (!credential_) return failed();
    auto step = prove(credential_->derived, *proof, signed_text);
    if (!step) return pass(std::move(step.error()));
    if (!*step) return failed();
    is_proven_ = true;
    return std::move(**step);
  }
  account::Keys keys = secrets.account().keys().texts();
  for (const account::KeyName name : account::kAllKeys) {
    const std::string& key = account::key_of(keys, name);
    if (key.empty()) continue;
    const auto derived = secrets.derive(kind_, secrets.account().name(), key);
    if (!derived) return pass(derived.error());
    auto step = prove(*derived, *proof, signed_text);
    if (!step) return pass(std::move(step.error()));
    if (!*step) continue;
    access_ = account::access_of(name);
    is_proven_ = true;
    return std::move(**step);
  }
  return failed();
}

}  // namespace orrery::mongo
