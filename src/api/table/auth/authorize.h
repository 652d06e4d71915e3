// Who is asking: checks the signature of a request to the Table service, and says what it grants.
//
// Four proofs, each an HMAC-SHA256 (base64) by a key of the account:
//   Authorization: SharedKey account:sig      over VERB LF Content-MD5 LF Content-Type LF date LF
//   resource Authorization: SharedKeyLite account:sig  over date LF resource
//   ?ss=…&srt=…&sp=…&se=…&sig=…               account signature (shared_access.h)
//   ?tn=…&sp=…&se=…&sig=…                     table signature, with keys and stored policy
// date is x-ms-date, or Date when there is none. resource is "/account" and the path as it was
// sent, with ?comp=… when there is one: in path style the account comes twice.
//
// Threading: any thread; nothing blocks. On the path of every request.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "account/keys.h"
#include "api/table/auth/grant.h"
#include "api/table/service/access_policy.h"
#include "api/table/service/table_error.h"

namespace orrery::table {

inline constexpr int64_t kMaxClockSkewS = 15 * 60;

// All as sent; empty when not there.
struct RequestFacts {
  std::string_view method = {};
  std::string_view path = {};     // before the '?', percent-encoded, with the account in path style
  std::string_view query = {};    // after it, percent-encoded
  std::string_view account = {};  // that the address names, without "-secondary"
  bool secondary = false;         // the address is that of the secondary
  std::string_view table = {};    // that the address names, decoded; empty: none ($batch, Tables)
  std::string_view authorization = {};
  std::string_view x_ms_date = {};
  std::string_view date = {};
  std::string_view content_md5 = {};
  std::string_view content_type = {};
  std::string_view peer = {};  // the client's address, perhaps with its port
  bool tls = false;
  int64_t now_s = 0;  // Unix time
};

// Where keys and policies are looked up. Must not block.
class Accounts {
 public:
  virtual ~Accounts() = default;
  // Null when there is no account of this name. Stays valid for as long as the request.
  virtual const account::KeyRing* keys_of(std::string_view account) const = 0;
  // Whether everybody knows the account's key, as the emulator's. A date in what is signed proves
  // nothing then, and clients of the emulator leave it out.
  virtual bool has_published_key(std::string_view /*account*/) const { return false; }
  // Nothing when there is no such table, or no such identifier in it. The name compares without
  // case.
  virtual std::optional<AccessPolicy> policy_of(std::string_view account, std::string_view table,
                                                std::string_view id) const = 0;
};

// 403 AuthenticationFailed and its relatives, or 400 InvalidAuthenticationInfo. The caller then
// asks the grant for what the request does.
TableResult<Grant> authorize(const RequestFacts& request, const Accounts& accounts);

// The authorization header that a client sends: for tests and tools.
enum class Scheme : uint8_t { shared_key, shared_key_lite };
std::string sign(const account::KeyRing& keys, Scheme scheme, const RequestFacts& request);

}  // namespace orrery::table
