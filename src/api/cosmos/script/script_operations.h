// The document operations of a script, within its transaction: script::Operations over
// partition::Transaction.
//
// A script works within one logical partition. It sees a snapshot of the items there, from the
// start of its transaction, and its own writes, with provisional resource ids and etags (see
// provisional_names.h). Each operation answers as the same request from outside would.
//
// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/cosmos/items/item_write.h"
#include "api/cosmos/query/service_rules.h"
#include "api/cosmos/script/provisional_names.h"
#include "api/cosmos/wire/continuation.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "partition/transaction.h"
#include "script/host.h"

namespace orrery::cosmos {

// Where a script works, and how.
struct ScriptScope {
  cluster::RoutingPtr routing;
  std::string key;        // as a JSON array; empty in a container without a partition key
  std::string placement;  // of that key
  double charge_factor = 1;
  QueryRules query_rules = QueryRules::service;
  std::function<bool()> is_wanted;  // whether the client is still there
};

class ScriptOperations final : public script::Operations {
 public:
  ScriptOperations(cluster::Engine& engine, script::Host& host, const Clock& clock,
                   const Continuations& continuations, const ScriptScope& scope,
                   partition::Transaction& transaction);

  script::Reply perform(const script::ItemOperation& operation) override;
  bool is_wanted() const override { return scope_.is_wanted(); }
  // Starts the deadline of a script: its queries end their pages when it has passed.
  void start_clock();

  // Stages a write, and returns the item as the transaction now sees it; empty after a delete.
  struct Staged {
    std::string body;
    bool replaced = false;
  };
  std::expected<Staged, Refusal> stage(const ItemRequest& request);
  // Whether there is an item with this id.
  Result<bool> has(const std::string& row) const;
  // The body that an editor makes of the item, without the properties that the server adds.
  // Code::not_found when there is no such item.
  Result<std::string> edited(const std::string& row, const partition::Editor& editor) const;

  // How many writes were staged.
  size_t staged() const { return transaction_.staged(); }

  // What reads have cost so far.
  double charge() const { return charge_; }
  const ProvisionalNames& names() const { return *names_; }

 private:
  struct Known {  // what a script sees of an item that it has written
    partition::Version version;
    partition::Origin origin;
  };

  script::Reply write(const script::ItemOperation& operation, ItemVerb verb);
  script::Reply read(const script::ItemOperation& operation);
  script::Reply query(const script::ItemOperation& operation);
  script::Reply read_feed(const script::ItemOperation& operation);

  // The id of the item that an operation is about.
  Result<std::string> row_of(const script::ItemOperation& operation) const;
  std::string body_of(const std::string& row, partition::Item& item) const;
  size_t page_size(const script::ItemOperation& operation) const;

  cluster::Engine& engine_;
  script::Host& host_;  // for functions in queries
  const Clock& clock_;
  const Continuations& continuations_;
  const ScriptScope& scope_;
  partition::Transaction& transaction_;
  const ItemFinisher finisher_;
  const std::shared_ptr<ProvisionalNames> names_;
  std::unordered_map<std::string, Known> written_;     // by id
  std::unordered_map<std::string, std::string> made_;  // provisional resource id to id
  int64_t deadline_us_ = 0;
  double charge_ = 0;
};

}  // namespace orrery::cosmos
