// The keys of an account, and the access that each gives. Every face has its own proof of
// possession (a signature, a password, a challenge); this is what they share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/hmac.h"
#include "base/result.h"

namespace orrery::account {

struct Keys {  // base64; an empty one is not in use
  std::string primary;
  std::string secondary;
  std::string primary_readonly;
  std::string secondary_readonly;
  bool operator==(const Keys&) const = default;
};

enum class KeyName : uint8_t { primary, secondary, primary_readonly, secondary_readonly };
// primary, secondary, primary-readonly, secondary-readonly
Result<KeyName> parse_key_name(std::string_view text);
std::string_view to_string(KeyName name);
std::string& key_of(Keys& keys, KeyName name);
inline constexpr KeyName kAllKeys[] = {KeyName::primary, KeyName::secondary,
                                       KeyName::primary_readonly, KeyName::secondary_readonly};

enum class Access : uint8_t { read_only, read_write };
constexpr Access access_of(KeyName name) {
  return name == KeyName::primary || name == KeyName::secondary ? Access::read_write
                                                                : Access::read_only;
}

// A snapshot of the keys, ready for use. Immutable; any thread may call. On the path of every
// request.
class KeyRing {
 public:
  // Code::invalid when a key is not base64, or when there is none at all.
  static Result<KeyRing> create(const Keys& keys);

  // The access of the key that made `signature` (base64) of `payload`; nothing when none did. Every
  // comparison takes the same time, whatever it finds.
  std::optional<Access> who_signed(std::string_view payload, std::string_view signature) const;
  // The signature of `payload`, in base64, by the first key with exactly this access: the primary
  // one unless that is said. Empty when there is none.
  std::string signature_of(std::string_view payload, Access access = Access::read_write) const;
  // The keys themselves, for whoever may be shown one.
  const Keys& texts() const { return texts_; }

 private:
  struct Key {
    HmacKey hmac;
    Access access;
  };
  Keys texts_;
  std::vector<Key> keys_;
};

}  // namespace orrery::account
