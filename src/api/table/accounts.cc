// See accounts.h.
#include "api/table/accounts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/table/tables/table_store.h"

namespace orrery::table {

AccountBook::AccountBook(const account::Account& account, const cluster::Engine& engine,
                         bool in_development)
    : account_(account), engine_(engine) {
  if (!in_development) return;
  auto ring = account::KeyRing::create({.primary = std::string(kDevelopmentKey),
                                        .secondary = {},
                                        .primary_readonly = {},
                                        .secondary_readonly = {}});
  if (ring) development_.emplace(std::move(*ring));
}

const account::KeyRing* AccountBook::keys_of(std::string_view account) const {
  if (account == account_.name()) return &account_.keys();
  return account == kDevelopmentAccount && development_ ? &*development_ : nullptr;
}

std::optional<AccessPolicy> AccountBook::policy_of(std::string_view /*account*/,
                                                   std::string_view table,
                                                   std::string_view id) const {
  const cluster::RoutingPtr routing = find_table(engine_, table);
  if (!routing) return std::nullopt;
  std::vector<AccessPolicy> policies = read_access_policies(engine_, *routing->container);
  const auto found = std::ranges::find(policies, id, &AccessPolicy::id);
  if (found == policies.end()) return std::nullopt;
  return std::move(*found);
}

}  // namespace orrery::table
