// See shared_items.h.
#include "api/cosmos/items/shared_items.h"

#include <utility>

#include "api/cosmos/auth/authorize.h"
#include "api/cosmos/items/item_write.h"
#include "api/cosmos/operation.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

class CosmosItems final : public face::SharedItems {
 public:
  std::string_view face() const override { return kFaceName; }
  Result<partition::Write> make_write(partition::Verb verb, std::string_view json,
                                      const cluster::Routing& routing,
                                      const Limits& limits) const override {
    const ItemVerb item_verb = verb == partition::Verb::replace  ? ItemVerb::replace
                               : verb == partition::Verb::upsert ? ItemVerb::upsert
                                                                 : ItemVerb::create;
    auto write = cosmos::make_write({.verb = item_verb,
                                     .id = {},
                                     .body = json,
                                     .key = {},
                                     .placement = {},
                                     .if_match = {},
                                     .if_none_match = {}},
                                    routing, limits);
    if (!write) return pass(std::move(write.error().error));
    return std::move(*write);
  }
  std::function<uint64_t(std::string_view)> age() const override { return ItemAge(); }
  Result<TokenGrant> open_token(std::string_view token, const cluster::Engine& engine,
                                const account::Account& account, const cluster::Routing& routing,
                                int64_t now_s) const override {
    auto grant = open_grant(ResourceTokens(account.secret()), engine, routing, token, now_s);
    if (!grant) return pass(grant.error());
    TokenGrant made{.may_write = grant->may_write, .placement = {}};
    if (grant->key) made.placement = value::place(routing.container->spec.key, *grant->key);
    return made;
  }
  std::optional<partition::Version> version_of(std::string_view mark) const override {
    return parse_etag_condition(mark);
  }
};

}  // namespace

const face::SharedItems& shared_items() {
  static const CosmosItems kItems;
  return kItems;
}

}  // namespace orrery::cosmos
