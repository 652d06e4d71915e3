// Where partitions and the catalog are, as this node knows it: what forwarding needs to be told by
// the engine of a node among others. A server alone has none.
//
// Threading: any thread. Nothing but wait_for_catalog() blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace orrery::cluster {

class ReplicaReader;
struct Slot;

class Placement {
 public:
  virtual ~Placement() = default;

  // The address (HOST:PORT between nodes) of the node that is to serve the slot, by the newest plan
  // here. Nothing: this node is. Empty: nobody is named yet (wait and ask again).
  virtual std::optional<std::string> address_of(const Slot& slot) const = 0;
  // Of the catalog's owner. Nothing: this node is. Empty: it is not known now.
  virtual std::optional<std::string> coordinator_address() const = 0;

  // Whether the node at this address is one of the cluster's, by the newest plan here. One whose
  // lease is over is none.
  virtual bool has_node(const std::string& /*address*/) const { return true; }

  // The read replicas of this node; null: it can have none.
  virtual ReplicaReader* replicas() const { return nullptr; }

  // As of which LSN this node's copy of the catalog is.
  virtual uint64_t catalog_lsn() const = 0;
  // Waits until the copy is as of `lsn` at least. Code::overloaded when it is not by `deadline`.
  virtual Status wait_for_catalog(uint64_t lsn, std::chrono::steady_clock::time_point deadline) = 0;
};

}  // namespace orrery::cluster
