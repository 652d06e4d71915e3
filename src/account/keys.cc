// See keys.h.
#include "account/keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"

namespace orrery::account {
namespace {

constexpr std::array<std::string_view, 4> kKeyNames = {"primary", "secondary", "primary-readonly",
                                                       "secondary-readonly"};

}  // namespace

Result<KeyName> parse_key_name(std::string_view text) {
  const auto* found = std::ranges::find(kKeyNames, text);
  if (found == kKeyNames.end()) {
    return fail(Code::invalid, "There is no key \"" + std::string(text.substr(0, 64)) +
                                   "\": the keys are primary, secondary, primary-readonly and "
                                   "secondary-readonly.");
  }
  return static_cast<KeyName>(found - kKeyNames.begin());
}

std::string_view to_string(KeyName name) {
  return kKeyNames[static_cast<size_t>(name)];
}

std::string& key_of(Keys& keys, KeyName name) {
  switch (name) {
    case KeyName::primary:
      return keys.primary;
    case KeyName::secondary:
      return keys.secondary;
    case KeyName::primary_readonly:
      return keys.primary_readonly;
    case KeyName::secondary_readonly:
      break;
  }
  return keys.secondary_readonly;
}

Result<KeyRing> KeyRing::create(const Keys& keys) {
  KeyRing ring;
  ring.texts_ = keys;
  struct Given {
    std::string_view name;
    const std::string& text;
    Access access;
  };
  for (const Given& given :
       {Given{"primary", keys.primary, Access::read_write},
        Given{"secondary", keys.secondary, Access::read_write},
        Given{"primary read-only", keys.primary_readonly, Access::read_only},
        Given{"secondary read-only", keys.secondary_readonly, Access::read_only}}) {
    if (given.text.empty()) continue;
    auto key = from_base64(given.text);
    if (!key || key->empty()) {
      return fail(Code::invalid, "The " + std::string(given.name) +
                                     " key is not base64. Use 64 random bytes in base64.");
    }
    auto prepared = HmacKey::create(*key);
    if (!prepared) return pass(prepared.error());
    ring.keys_.push_back({.hmac = std::move(*prepared), .access = given.access});
  }
  if (ring.keys_.empty()) return fail(Code::invalid, "No key is set: nobody could connect.");
  return ring;
}

std::optional<Access> KeyRing::who_signed(std::string_view payload,
                                          std::string_view signature) const {
  // Compared as text: a signature has one spelling in base64.
  for (const Key& key : keys_) {
    const auto digest = key.hmac.sign(payload);
    if (digest && equal_constant_time(to_base64(as_view(*digest)), signature)) return key.access;
  }
  return std::nullopt;
}

std::string KeyRing::signature_of(std::string_view payload, Access access) const {
  const auto key = std::ranges::find(keys_, access, &Key::access);
  if (key == keys_.end()) return {};
  const auto digest = key->hmac.sign(payload);
  return digest ? to_base64(as_view(*digest)) : std::string();
}

}  // namespace orrery::account
