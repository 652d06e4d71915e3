// The account: its keys, which change while it serves, and the secret that it seals with. All faces
// share it.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "account/keys.h"
#include "account/seal.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::account {

struct AccountOptions {
  std::string name = "orrery";
  std::string region = "Local";
  // Makes a new key in place of one, durably, and gives all of them. Unset: the keys are fixed.
  std::function<Result<Keys>(KeyName)> regenerate;
};

class Account {
 public:
  // Code::invalid when a key is not base64, or when there is none at all.
  static Result<std::unique_ptr<Account>> open(const Keys& keys, std::string secret,
                                               AccountOptions options);

  const std::string& name() const { return options_.name; }
  const std::string& region() const { return options_.region; }

  // The current keys. They stay valid for as long as the account does.
  const KeyRing& keys() const { return *newest_.load(std::memory_order_acquire); }
  bool can_regenerate() const { return options_.regenerate != nullptr; }
  // The old key is refused from now on. Code::invalid when the keys are fixed.
  Result<std::string> regenerate(KeyName name);

  // Keys that were changed elsewhere. Code::invalid as for open().
  Status take(const Keys& keys);

  const Secret& secret() const { return secret_; }

 private:
  Account(std::string secret, AccountOptions options)
      : secret_(std::move(secret)), options_(std::move(options)) {}
  void take(KeyRing ring) ORRERY_REQUIRES(mutex_);

  const Secret secret_;
  const AccountOptions options_;
  Mutex mutex_;
  // Requests read the newest ring without a lock. Older rings are kept, since requests may still
  // use them. There is one for each time a key was regenerated.
  std::vector<std::unique_ptr<const KeyRing>> rings_ ORRERY_GUARDED_BY(mutex_);
  std::atomic<const KeyRing*> newest_ = nullptr;
};

}  // namespace orrery::account
