// Reads of collections as of moments that stay: what a transaction, or a snapshot, sees of them.
//
// Threading: as its kind says. What blocks says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "cluster/routing.h"
#include "partition/transaction.h"

namespace orrery::mongo {

class PinnedReads {
 public:
  virtual ~PinnedReads() = default;

  // What is seen of a logical partition. Blocks.
  virtual Answer<std::shared_ptr<const partition::Transaction>> reads(
      const cluster::RoutingPtr& routing, const std::string& placement) = 0;
  virtual Answer<std::optional<partition::Item>> read(const cluster::RoutingPtr& routing,
                                                      const partition::ItemKey& key) = 0;
  // Whether a name stands for the collection that it stood for at that moment. `routing`: what it
  // stands for now; null: nothing.
  virtual Answer<void> check_name(std::string_view database, std::string_view collection,
                                  const cluster::RoutingPtr& routing) const = 0;
  // What an error of a read is told as.
  virtual std::unexpected<Error> read_error(const orrery::Error& error) const = 0;
  // What is told of reads once it has ended; nothing: it has not.
  virtual std::optional<Error> ended() const = 0;
};

}  // namespace orrery::mongo
