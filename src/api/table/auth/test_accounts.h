// For tests: one account with the emulator's published key, and stored policies.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "api/table/auth/authorize.h"

namespace orrery::table {

inline constexpr std::string_view kTestAccount = "devstoreaccount1";
inline constexpr int64_t kTestNow = 1'794'830'400;  // Mon, 16 Nov 2026 12:00:00 GMT

class TestAccounts final : public Accounts {
 public:
  TestAccounts() : keys_(make()) {}

  const account::KeyRing* keys_of(std::string_view account) const override {
    return account == kTestAccount ? &keys_ : nullptr;
  }
  bool has_published_key(std::string_view /*account*/) const override { return published; }
  std::optional<AccessPolicy> policy_of(std::string_view /*account*/, std::string_view table,
                                        std::string_view id) const override {
    if (table != "orders") return std::nullopt;
    const auto found = policies.find(id);
    return found == policies.end() ? std::nullopt : std::optional(found->second);
  }

  const account::KeyRing& keys() const { return keys_; }
  bool published = false;
  std::map<std::string, AccessPolicy, std::less<>> policies;

 private:
  static account::KeyRing make() {
    auto made = account::KeyRing::create({.primary = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6"
                                                     "IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
                                          .secondary = {},
                                          .primary_readonly = "cmVhZA==",
                                          .secondary_readonly = {}});
    return std::move(made.value());
  }

  account::KeyRing keys_;
};

}  // namespace orrery::table
