// The accounts that requests may name: the server's own, by its name, and in development the
// emulator's, whose key everybody knows. All name the same tables.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "account/account.h"
#include "api/table/auth/authorize.h"
#include "cluster/engine.h"

namespace orrery::table {

// UseDevelopmentStorage=true means these.
inline constexpr std::string_view kDevelopmentAccount = "devstoreaccount1";
inline constexpr std::string_view kDevelopmentKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

class AccountBook final : public Accounts {
 public:
  AccountBook(const account::Account& account, const cluster::Engine& engine, bool in_development);

  const account::KeyRing* keys_of(std::string_view account) const override;
  bool has_published_key(std::string_view account) const override {
    return account == kDevelopmentAccount;
  }
  std::optional<AccessPolicy> policy_of(std::string_view account, std::string_view table,
                                        std::string_view id) const override;

 private:
  const account::Account& account_;
  const cluster::Engine& engine_;
  std::optional<account::KeyRing> development_;
};

}  // namespace orrery::table
