// SCRAM (RFC 5802, RFC 7677): how clients prove that they have a password, without sending it: that
// of a user (users.h), or a key of the account, as the password of a user with the account's name.
//
// The account has several keys and a client does not say which it has, so its proof is tried with
// each. Deriving a key takes some milliseconds, which are spent once a key: ScramSecrets keeps what
// it derived, with one salt for all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "account/account.h"
#include "api/mongo/bson/error.h"
#include "base/thread_annotations.h"

namespace orrery::mongo {

enum class ScramKind : uint8_t { sha1, sha256 };
inline constexpr std::string_view kScramSha1 = "SCRAM-SHA-1";
inline constexpr std::string_view kScramSha256 = "SCRAM-SHA-256";
std::optional<ScramKind> scram_kind(std::string_view mechanism);

struct ScramDerived {
  std::string stored_key;
  std::string server_key;
};
// What the server keeps of a password.
struct ScramCredential {
  uint32_t iterations = 0;
  std::string salt;
  ScramDerived derived;
};
// Of a new password. kBadValue when it has characters that no password may have. Takes
// milliseconds.
Answer<ScramCredential> make_credential(ScramKind kind, std::string_view user,
                                        const std::string& password);

// Threading: any thread.
class ScramSecrets {
 public:
  explicit ScramSecrets(account::Account& account);

  using Derived = ScramDerived;
  // Of one key as a password of this user. May take milliseconds.
  Answer<Derived> derive(ScramKind kind, const std::string& user, const std::string& key);
  const std::string& salt(ScramKind kind) const {
    return kind == ScramKind::sha1 ? sha1_salt_ : sha256_salt_;
  }
  // For users that are not known: the same for the same name, as if they were.
  std::string salt_of_nobody(ScramKind kind, std::string_view user) const;
  account::Account& account() const { return account_; }

 private:
  account::Account& account_;
  std::string sha1_salt_;
  std::string sha256_salt_;
  Mutex mutex_;
  std::map<std::pair<ScramKind, std::string>, Derived> derived_ ORRERY_GUARDED_BY(mutex_);
};

inline constexpr uint32_t kScramIterations = 4096;  // the fewest that drivers accept

// One login, of two or three steps. One thread at a time.
class ScramConversation {
 public:
  ScramConversation(ScramKind kind, bool skips_empty_exchange)
      : kind_(kind), skips_empty_exchange_(skips_empty_exchange) {}

  struct Step {
    std::string payload;
    bool is_done = false;
  };
  // The credential of a user of a database; nothing: it is not known.
  using Find = std::function<std::optional<ScramCredential>(const std::string& user)>;
  // The client's first message.
  Answer<Step> begin(ScramSecrets& secrets, std::string_view payload, const Find& find);
  // Those after it. May take milliseconds. kAuthenticationFailed when the proof is wrong.
  Answer<Step> go_on(ScramSecrets& secrets, std::string_view payload);

  // Once it is done.
  const std::string& user() const { return user_; }
  // Unset: the user is none of the account's keys, but one of those of find().
  std::optional<account::Access> access() const { return access_; }

 private:
  const ScramKind kind_;
  const bool skips_empty_exchange_;
  std::string user_;
  std::string nonce_;
  std::string first_bare_;    // the client's first message without its header
  std::string server_first_;  // our answer
  std::string header_;        // of the channel binding, as the client sent it
  std::optional<ScramCredential> credential_;
  std::optional<account::Access> access_;
  bool is_proven_ = false;

  Answer<std::optional<Step>> prove(const ScramDerived& derived, const std::string& proof,
                                    const std::string& signed_text) const;
};

}  // namespace orrery::mongo
