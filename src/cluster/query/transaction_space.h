// What a script's query reads: the items of one logical partition as its transaction sees them,
// staged ones included. There is no index over what is staged, so a query looks at every item.
//
// Threading: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "partition/transaction.h"
#include "query/plan/item_view.h"

namespace orrery::cluster {

class TransactionSpace final : public query::ItemSpace {
 public:
  // An item's body as the script is to see it.
  using BodyOf = std::function<std::string(const partition::ItemKey& key, partition::Item& item)>;

  TransactionSpace(const partition::Transaction& transaction, std::string placement, BodyOf body_of)
      : transaction_(transaction), placement_(std::move(placement)), body_of_(std::move(body_of)) {}

  Result<std::unique_ptr<query::ItemView>> open(std::string_view from_placement,
                                                std::string& end) override;

 private:
  const partition::Transaction& transaction_;
  const std::string placement_;
  const BodyOf body_of_;
};

}  // namespace orrery::cluster
