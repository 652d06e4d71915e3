// The signature of administrative requests (/admin/…). A face's signature may cover neither path
// nor body, so a captured one could be reused for other requests. This one covers the whole request
// and is accepted once.
//
//   authorization            percent-encoded "type=orrery-admin&ver=1.0&sig=" base64(signature)
//   x-orrery-date            when it was signed, an HTTP date
//   x-orrery-nonce           16 random bytes in hexadecimal, others with every request
//   x-orrery-content-sha256  of the body, in hexadecimal
//   payload   = "orrery-admin" LF method LF target LF date LF nonce LF body's hash LF
//   signature = HMAC-SHA256(base64-decoded key, payload)
// The target is path and query as they are sent. No payload of a face's signature ends like this
// one, so neither signature can stand for the other.
//
// A request is accepted within five minutes of its date, and its nonce is remembered for as long.
// Nonces are kept in memory, so requests that were signed before the server started are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "account/keys.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::ops {

inline constexpr int64_t kAdminWindowS = 5 * 60;

struct AdminRequest {
  std::string_view method;
  std::string_view target;
  std::string_view authorization;
  std::string_view date;
  std::string_view nonce;
  std::string_view content_sha256;
};

// The headers of a request, for the client's side.
struct AdminHeaders {
  std::string authorization;
  std::string date;
  std::string nonce;
  std::string content_sha256;
};
// By a key with this access. Code::internal when the system gives no random bytes.
Result<AdminHeaders> sign_admin(const account::KeyRing& signer, std::string_view method,
                                std::string_view target, std::string_view body, int64_t now_s,
                                account::Access access = account::Access::read_write);

// The server's side. Any thread may call.
class AdminSignatures {
 public:
  // `remembered_max`: how many requests it remembers at once.
  explicit AdminSignatures(int64_t started_s, size_t remembered_max = 16'384)
      : started_s_(started_s), remembered_max_(remembered_max) {}

  // Checks the headers. Code::unauthorized: not signed, not by a key of this account, or outside
  // of its time.
  Result<account::Access> verify(const account::KeyRing& keys, const AdminRequest& request,
                                 int64_t now_s) const;
  // Checks a verified request once its body is complete. Code::unauthorized: the body is not the
  // one that was signed, or the request was replayed. Code::overloaded: too many nonces to
  // remember.
  Status admit(const AdminRequest& request, std::string_view body, int64_t now_s);

 private:
  const int64_t started_s_;
  const size_t remembered_max_;
  Mutex mutex_;
  // By nonce, when it may be forgotten: after that the date of its request is too old.
  std::unordered_map<std::string, int64_t> nonces_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::ops
