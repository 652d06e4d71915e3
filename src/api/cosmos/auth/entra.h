// Signing in without keys: what the file of `--entra` says, and the policy that comes of it.
//
//   {"issuer":"https://login.microsoftonline.com/TENANT/v2.0",   or "issuers":[…]
//    "audiences":["https://cosmos.azure.com","https://db.example:8081"],
//    "discovery":"https://…/.well-known/openid-configuration",   or "keys":"jwks.json"
//    "roles":[…],"assignments":[…]}                              (roles.h)
// The places of keys are https addresses, or files beside this one. A discovery document is
// believed about its keys only if it names an issuer that the file names.
//
// Threading: any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "account/bearer_token.h"
#include "api/cosmos/auth/roles.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::cosmos {

struct EntraPolicy {
  account::TokenRules tokens;
  Roles roles;
};

struct EntraFile {
  std::vector<std::string> issuers;
  std::vector<std::string> audiences;
  std::string discovery;  // one of them is empty
  std::string keys;
  Roles roles;
};

// Code::invalid, with what is wrong.
Result<EntraFile> parse_entra_file(std::string_view text);
// Where a discovery document says that the keys are.
Result<std::string> keys_place_of(std::string_view discovery_document,
                                  const std::vector<std::string>& issuers);

// The policy in force, which whoever keeps it may change at any time.
class Entra {
 public:
  // Null: nobody is let in by a token.
  std::shared_ptr<const EntraPolicy> policy() const {
    const MutexLock lock(mutex_);
    return policy_;
  }
  void set(std::shared_ptr<const EntraPolicy> policy) {
    const MutexLock lock(mutex_);
    policy_ = std::move(policy);
  }
  // A token has named a key that is not among the issuer's: there may be newer ones.
  void ask_for_keys() {
    const MutexLock lock(mutex_);
    is_asked_ = true;
  }
  bool take_asked() {
    const MutexLock lock(mutex_);
    return std::exchange(is_asked_, false);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const EntraPolicy> policy_ ORRERY_GUARDED_BY(mutex_);
  bool is_asked_ ORRERY_GUARDED_BY(mutex_) = false;
};

}  // namespace orrery::cosmos
