// Who is asking: checks the signature that a client made with one of the account's keys. (Tokens of
// type=resource, which need no key, are in resource_token.h.)
//
//   header  = percent-encoded "type=master&ver=1.0&sig=" base64(signature)
//   payload = lower(verb) LF lower(resource type) LF resource link LF lower(date) LF LF
//   signature = HMAC-SHA256(base64-decoded key, payload)
// The resource link is that of the resource itself, or for a feed that of its parent: a name link
// (dbs/shop/colls/orders) in its own case and not percent-encoded, or the resource id alone in
// lower case when the request is addressed by resource ids.
//
// Pure; any thread may call. On the path of every request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "account/keys.h"
#include "api/cosmos/wire/resource_address.h"
#include "base/result.h"

namespace orrery::cosmos {

inline constexpr int64_t kMaxClockSkewS = 15 * 60;

struct AuthRequest {
  std::string_view verb;
  std::string_view authorization;  // the header
  std::string_view date;           // x-ms-date, or Date when there is none
  const ResourceAddress* address = nullptr;
  int64_t now_s = 0;  // Unix time
};

// The part after sig= of a header of type=resource; nothing when it is of another type.
std::optional<std::string> resource_signature(std::string_view authorization);

// Code::unauthorized: no or wrong signature; the message shows what should have been signed.
// Code::forbidden: the signature's date is too far from our clock.
Result<account::Access> verify(const account::KeyRing& keys, const AuthRequest& request);

// What a client sends, signed with the primary key: for tests.
std::string sign(const account::KeyRing& keys, std::string_view verb,
                 std::string_view resource_type, std::string_view resource_link,
                 std::string_view date);

}  // namespace orrery::cosmos
