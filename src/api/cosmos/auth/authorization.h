// Who is asking: checks the signature that a client made with one of the account's keys. (Tokens of
// type=resource, which need no key, are in resource_token.h; signatures of /admin/… in
// admin_signature.h.)
//
//   header  = percent-encoded "type=master&ver=1.0&sig=" base64(signature)
//   payload = lower(verb) LF lower(resource type) LF resource link LF lower(date) LF LF
//   signature = HMAC-SHA256(base64-decoded key, payload)
// The resource link is that of the resource itself, or for a feed that of its parent: a name link
// (dbs/shop/colls/orders) in its own case and not percent-encoded, or the resource id alone in
// lower case when the request is addressed by resource ids.
//
// An Authorizer is immutable and may be used by any thread. On the path of every request: the key
// states are prepared once, and a check costs a few short hashes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/cosmos/wire/http_date.h"
#include "base/result.h"

namespace orrery::cosmos {

inline constexpr int64_t kMaxClockSkewS = 15 * 60;
inline constexpr size_t kMaxAuthorizationBytes = 4096;
inline constexpr size_t kMaxPathSegments = 8;

// A request path, taken apart: /dbs/shop/colls/orders/docs/1 has the segments dbs, shop, colls,
// orders, docs, 1. An odd number of them is a feed.
struct ResourceAddress {
  std::array<std::string, kMaxPathSegments> segments;  // percent-decoded
  size_t count = 0;
  bool by_rid = false;  // the database, and so all of the path, is named by resource ids

  // As a client signs it; some clients sign the second form.
  std::string resource_type;
  std::string resource_link;
  std::string other_type;
  std::string other_link;
  bool has_other = false;

  bool is_feed() const { return count % 2 == 1; }
  // The name or resource id that follows `dbs`, `colls`, `docs`; empty when the path ends before.
  std::string_view database() const { return id_after(0); }
  std::string_view container() const { return id_after(2); }
  std::string_view child() const { return id_after(4); }

 private:
  std::string_view id_after(size_t at) const {
    return count > at + 1 ? std::string_view(segments[at + 1]) : std::string_view();
  }
};

// `path` may have slashes at both ends and a query, which is ignored; in the path of an item a
// question mark is a part of its id.
Result<ResourceAddress> address_of(std::string_view path);

struct Keys {  // base64; an empty one is not in use
  std::string primary;
  std::string secondary;
  std::string primary_readonly;
  std::string secondary_readonly;
};

enum class KeyName : uint8_t { primary, secondary, primary_readonly, secondary_readonly };
// primary, secondary, primary-readonly, secondary-readonly
Result<KeyName> parse_key_name(std::string_view text);
std::string_view to_string(KeyName name);
std::string& key_of(Keys& keys, KeyName name);

enum class Access : uint8_t { read_only, read_write };

struct AuthRequest {
  std::string_view verb;
  std::string_view authorization;  // the header
  std::string_view date;           // x-ms-date, or Date when there is none
  const ResourceAddress* address = nullptr;
  int64_t now_s = 0;  // Unix time
};

// The part after sig= of a header of type=resource; nothing when it is of another type.
std::optional<std::string> resource_signature(std::string_view authorization);

// The fields of an authorization header, decoded.
struct AuthorizationToken {
  std::string type;
  std::string version;
  std::string signature;
};
// Code::unauthorized when there is no header, or when it is too long or not percent-encoded.
Result<AuthorizationToken> parse_authorization(std::string_view authorization);

class Authorizer {
 public:
  // Code::invalid when a key is not base64, or when there is none at all.
  static Result<Authorizer> create(const Keys& keys);

  Authorizer(Authorizer&&) noexcept;
  Authorizer& operator=(Authorizer&&) noexcept;
  ~Authorizer();

  // Code::unauthorized: no or wrong signature; the message shows what should have been signed.
  // Code::forbidden: the signature's date is too far from our clock.
  Result<Access> verify(const AuthRequest& request) const;

  // The access of the key that made `signature` (base64) of `payload`; nothing when none did.
  std::optional<Access> who_signed(std::string_view payload, std::string_view signature) const;
  // The primary key's signature of `payload`, in base64.
  std::string signature_of(std::string_view payload) const;

  // What a client sends: for tools, and for tests. Signs with the primary key.
  std::string sign(std::string_view verb, std::string_view resource_type,
                   std::string_view resource_link, std::string_view date) const;

 private:
  struct State;
  explicit Authorizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace orrery::cosmos
