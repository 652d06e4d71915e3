// Who asks for administration (/admin/…). The vendor's signature covers neither path nor body: one
// that was captured would be good for any other request of its kind. This one covers the whole
// request, and is taken once.
//
//   authorization            percent-encoded "type=orrery-admin&ver=1.0&sig=" base64(signature)
//   x-ms-date                when it was signed, an HTTP date
//   x-orrery-nonce           16 random bytes in hexadecimal, others with every request
//   x-orrery-content-sha256  of the body, in hexadecimal
//   payload   = "orrery-admin" LF method LF target LF date LF nonce LF body's hash LF
//   signature = HMAC-SHA256(base64-decoded key, payload)
// The target is path and query as they are sent. No payload of the vendor's signature ends like
// this one, so neither signature can stand for the other.
//
// A request is taken within five minutes of its date, and its nonce is remembered for as long. The
// memory is that of the process: what was signed before the server started is refused.
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
// Code::internal when the system gives no random bytes.
Result<AdminHeaders> sign_admin(const account::KeyRing& signer, std::string_view method,
                                std::string_view target, std::string_view body, int64_t now_s);

// The server's side. Any thread may call.
class AdminSignatures {
 public:
  // `remembered_max`: how many requests it remembers at once.
  explicit AdminSignatures(int64_t started_s, size_t remembered_max = 16'384)
      : started_s_(started_s), remembered_max_(remembered_max) {}

  // From the headers alone. Code::unauthorized: not signed, not by a key of ours, or not now.
  Result<account::Access> verify(const account::KeyRing& keys, const AdminRequest& request,
                                 int64_t now_s) const;
  // Of a verified request whose body has come. Code::unauthorized: the body is not the one that was
  // signed, or the request was here before. Code::overloaded: too many within the time that they
  // are remembered.
  Status admit(const AdminRequest& request, std::string_view body, int64_t now_s);

 private:
  const int64_t started_s_;
  const size_t remembered_max_;
  Mutex mutex_;
  // Until when each is remembered: the end of the time in which its date is taken.
  std::unordered_map<std::string, int64_t> nonces_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::ops
