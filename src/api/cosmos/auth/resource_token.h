// Resource tokens: what a client that has no account key authorizes its requests with. One is made
// each time a permission is created, replaced or read, and lets its holder do what the permission
// grants (grant.h) until it expires.
//
//   token = "type=resource&ver=1.0&sig=" base64 of:
//     1 byte    version, 1
//     u32       number of the permission in the catalog
//     u32       number of the container that the permission's link named when the token was made;
//               0 when there was none
//     u64       Unix time at which it expires
//     u64       fingerprint of the permission's definition
//     32 bytes  the account's seal (account/seal.h)
//   All numbers are big-endian.
// Tokens are not stored. A token is revoked when its permission is deleted or changed, since the
// permission is looked up by its number and must have the same fingerprint. It names the container
// by number, so it is not valid for another one that is created later under the same name.
//
// A ResourceTokens object is immutable and may be used by any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "account/seal.h"
#include "base/result.h"

namespace orrery::cosmos {

struct ResourceToken {
  uint32_t permission = 0;
  uint32_t container = 0;
  int64_t expires_s = 0;
  uint64_t fingerprint = 0;
  bool operator==(const ResourceToken&) const = default;
};

// How long a token is valid, from x-ms-documentdb-expiry-seconds (empty: the default).
inline constexpr int64_t kDefaultTokenLifeS = 3'600;
inline constexpr int64_t kShortestTokenLifeS = 10;
inline constexpr int64_t kLongestTokenLifeS = 86'400;
Result<int64_t> token_life(std::string_view header);

uint64_t fingerprint_of(std::string_view definition);

class ResourceTokens {
 public:
  explicit ResourceTokens(const account::Secret& secret);

  // The whole text, as a client gets it.
  std::string seal(const ResourceToken& token) const;
  // From the part after sig=. Code::unauthorized when this account did not seal it. The caller
  // checks whether it has expired.
  Result<ResourceToken> open(std::string_view signature) const;

 private:
  account::Seal seal_;
};

}  // namespace orrery::cosmos
