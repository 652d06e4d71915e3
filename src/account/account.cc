// See account.h.
#include "account/account.h"

#include <utility>

namespace orrery::account {

Result<std::unique_ptr<Account>> Account::open(const Keys& keys, std::string secret,
                                               AccountOptions options) {
  auto ring = KeyRing::create(keys);
  if (!ring) return pass(ring.error());
  std::unique_ptr<Account> account(new Account(std::move(secret), std::move(options)));
  const MutexLock lock(account->mutex_);
  account->take(std::move(*ring));
  return account;
}

Status Account::take(const Keys& keys) {
  auto ring = KeyRing::create(keys);
  if (!ring) return pass(ring.error());
  const MutexLock lock(mutex_);
  take(std::move(*ring));
  return {};
}

void Account::take(KeyRing ring) {
  rings_.push_back(std::make_unique<const KeyRing>(std::move(ring)));
  newest_.store(rings_.back().get(), std::memory_order_release);
}

Result<std::string> Account::regenerate(KeyName name) {
  if (!options_.regenerate) {
    return fail(Code::invalid,
                "this server runs with --dev, and its key is the emulator's, which everybody "
                "knows: start it without --dev for keys of its own");
  }
  const MutexLock lock(mutex_);
  auto keys = options_.regenerate(name);
  if (!keys) return pass(keys.error());
  auto ring = KeyRing::create(*keys);
  if (!ring) return pass(ring.error());
  take(std::move(*ring));
  return key_of(*keys, name);
}

}  // namespace orrery::account
