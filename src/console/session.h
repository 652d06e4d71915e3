// Sessions of the console: what a browser holds instead of a key.
//
// A session is a token in a cookie. The server keeps no list of them:
//   grant = 1 byte version, 1
//           16 bytes  drawn when the server started: a restart ends all sessions
//           16 bytes  the session's own number, random
//           u64       Unix time at which it was opened
//   token = hexadecimal of: grant
//           32 bytes  HMAC-SHA256 of kPurpose and the grant, with the key that opened it
//           u64       Unix time at which it ends unless it is renewed
//           32 bytes  the account's seal (account/seal.h) of all of the above
//   All numbers are big-endian.
// The HMAC ties the session to its key. When the key is replaced, no key of the account made it any
// more, and the session is over. The seal ties the end to this server: whoever has a key can open a
// session, and nobody can make one that lasts longer.
//
// Signing out is remembered until the session would have ended: there are kRevokedMax at most, the
// oldest are forgotten first, and opening one of them takes a key.
//
// Threading: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "account/account.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::console {

inline constexpr int64_t kIdleS = 60 * 60;         // without a request
inline constexpr int64_t kSessionS = 8 * 60 * 60;  // in all
inline constexpr int64_t kRenewAfterS = 5 * 60;    // so often a token in use is replaced
inline constexpr size_t kRevokedMax = 4'096;
inline constexpr size_t kTokenChars = 2 * (41 + 32 + 8 + 32);

struct Session {
  account::Access access = account::Access::read_only;
  std::string id;
  int64_t opened_s = 0;
  int64_t ends_s = 0;
};

class Sessions {
 public:
  // Code::internal when the system gives no random bytes.
  static Result<std::unique_ptr<Sessions>> create(const account::Account& account);

  // A token for whoever has this key (base64). Code::unauthorized when it is none of the account's.
  Result<std::string> open(std::string_view key, int64_t now_s) const;
  // A token with the rights of the primary key, for those who need no key.
  Result<std::string> open_without_key(int64_t now_s) const;
  // Nothing when it was forged, has ended, was signed out of, or lost its key.
  std::optional<Session> check(std::string_view token, int64_t now_s) const;
  // The same session with a later end; nothing while that is not worth a new token.
  std::optional<std::string> renew(std::string_view token, int64_t now_s) const;
  void close(const Session& session);

 private:
  Sessions(const account::Account& account, std::string start);

  Result<std::string> new_grant(int64_t now_s) const;
  std::string sealed(std::string_view grant, std::string_view signature, int64_t ends_s) const;

  const account::Account& account_;
  const std::string start_;
  const account::Seal seal_;
  mutable Mutex mutex_;
  std::map<std::string, int64_t, std::less<>> revoked_ ORRERY_GUARDED_BY(mutex_);  // id, its end
};

}  // namespace orrery::console
