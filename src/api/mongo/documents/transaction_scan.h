// The documents of one logical partition as a transaction sees them, with those that it has written
// itself, or as a snapshot has them, in the order of _id. As Scan (scan.h) otherwise. There is no
// index over what is about to be written, so it reads all of the partition, or of a range of _id.
//
// Threading: one thread at a time, that which has the transaction if it is of one. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/transactions/pinned_reads.h"
#include "cluster/routing.h"
#include "partition/partition.h"

namespace orrery::mongo {

class TransactionScan {
 public:
  // `range`: of one placement key. `is_natural`: few documents come as they were made.
  TransactionScan(std::shared_ptr<PinnedReads> pinned, cluster::RoutingPtr routing,
                  std::string placement, const ScanRange& range, bool is_natural);

  Answer<std::optional<std::string_view>> next();
  const partition::ItemKey& key() const { return page_.items[at_].first; }
  uint64_t items_read() const { return items_; }
  uint64_t bytes_read() const { return bytes_; }
  const cluster::RoutingPtr& routing() const { return routing_; }

 private:
  Answer<void> read_page();
  Answer<void> read_first_page();

  const std::shared_ptr<PinnedReads> pinned_;
  const cluster::RoutingPtr routing_;
  const std::string placement_;
  const bool is_natural_;
  std::optional<std::string> from_;   // the row that it begins at
  std::optional<std::string> to_;     // and the one that it ends before
  std::optional<std::string> after_;  // the row after which the next page begins
  partition::Page page_{.items = {}, .more = true};
  size_t at_ = SIZE_MAX;  // before the first
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;
  bool is_begun_ = false;
};

}  // namespace orrery::mongo
