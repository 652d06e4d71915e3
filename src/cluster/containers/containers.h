// Databases and containers: made, changed and removed, within the account's quotas.
//
// Each change is one commit of the catalog, and the routing follows it while the table's
// change_mutex is held: one change at a time, and nobody routes by what was before once it returns.
// A removal is recorded by the same commit that drops the container; its files go when nobody reads
// them any more (ARCHITECTURE.md, "Life of a deletion").
//
// Threading: any thread that may block: all of it waits until it is durable.
#pragma once

#include <cstdint>
#include <optional>

#include "base/limits.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/routing_table.h"
#include "cluster/splitting/split_queue.h"
#include "cluster/upkeep/file_remover.h"
#include "cluster/upkeep/upkeep_bell.h"

namespace orrery::cluster {

class Containers {
 public:
  Containers(catalog::Catalog& catalog, RoutingTable& table, const Limits& limits,
             FileRemover& remover, SplitQueue& splits, UpkeepBell& bell)
      : catalog_(catalog),
        table_(table),
        limits_(limits),
        remover_(remover),
        splits_(splits),
        bell_(bell) {}

  // As the functions of the same names of Engine.
  Result<catalog::DatabasePtr> create_database(catalog::DatabaseName name,
                                               std::optional<catalog::Throughput> throughput);
  Status remove_database(uint32_t number);
  Result<RoutingPtr> create_container(uint32_t database, catalog::ContainerSpec spec,
                                      std::optional<catalog::Throughput> throughput);
  Result<RoutingPtr> replace_container(uint32_t number, catalog::ContainerSpec spec);
  Status remove_container(uint32_t number);
  Status set_container_throughput(uint32_t number, const catalog::Throughput& throughput);
  Status set_database_throughput(uint32_t number, const catalog::Throughput& throughput);

 private:
  // Whether one more container may be in the database, with throughput of its own or without.
  Status check_new(const catalog::Database& database, const catalog::ContainerSpec& spec,
                   bool own_throughput) const;
  // The catalog has dropped it: stops routing to it, and has its files removed.
  void retire(const Routing& routing) noexcept ORRERY_REQUIRES(table_.change_mutex);

  catalog::Catalog& catalog_;
  RoutingTable& table_;
  const Limits& limits_;
  FileRemover& remover_;
  SplitQueue& splits_;
  UpkeepBell& bell_;
};

}  // namespace orrery::cluster
