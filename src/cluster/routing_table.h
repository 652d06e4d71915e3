// The routings of all containers of this node, and how they are made from the catalog.
//
// Invariants
//  - A routing that is installed says what the catalog says: whoever changes a container or its map
//    holds `change_mutex` from before the catalog's commit until the new routing is installed.
//  - A range keeps its slot from one routing to the next for as long as it is in the map.
//  - The containers that share a database's throughput have one bucket, which is the database's.
//
// Threading: lookups from any thread; they wait for no change. What changes the table says so.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "cluster/engine_options.h"
#include "cluster/routing.h"
#include "cluster/serving_plan.h"

namespace orrery::cluster {

// How often one request is routed again.
inline constexpr int kRouteAttempts = 16;
// The errors of a request that was routed again: once too often, and to what is there no more.
Error keeps_moving();
Error container_is_gone();
// Of one that another node has to answer.
Error is_elsewhere();

class RoutingTable {
 public:
  RoutingTable(const catalog::Catalog& catalog, const Clock& clock, const EngineOptions& options,
               const ServingPlan& plan)
      : catalog_(catalog), clock_(clock), options_(options), plan_(plan) {}

  // Null when it is not there.
  RoutingPtr find(catalog::DatabaseName database, std::string_view container) const;
  RoutingPtr find(uint32_t container) const;
  std::vector<RoutingPtr> all() const;
  // What is open now, without opening anything.
  template <class Visit>
  void each_open(const Visit& visit) const;
  // Does a job that takes a routing and gives a Result, again with a newer routing each time that
  // it ends with Code::moved.
  template <class Job>
  auto follow(const RoutingPtr& routing, const Job& job) const -> decltype(job(*routing));

  // One change to containers and maps at a time. Taken before all other locks of the engine.
  Mutex change_mutex;

  // What follows a commit of the catalog: a container was made, its record has changed, it is gone.
  // When memory runs out they try until there is some: nobody may go on by what was before.
  RoutingPtr add(const catalog::ContainerPtr& container) noexcept ORRERY_REQUIRES(change_mutex);
  void rebuild(uint32_t container) noexcept ORRERY_REQUIRES(change_mutex);
  void remove(const Routing& routing) noexcept ORRERY_REQUIRES(change_mutex);
  // A change in two steps. make() gives a routing by the container's record, with the slots of
  // `before` for the ranges that stay.
  RoutingPtr make(const catalog::ContainerPtr& container, const Routing* before)
      ORRERY_REQUIRES(change_mutex);
  void install(const RoutingPtr& routing) ORRERY_REQUIRES(change_mutex);

  void set_database_rate(uint32_t database, double units_per_s) ORRERY_REQUIRES(change_mutex);
  void remove_database(uint32_t database) ORRERY_REQUIRES(change_mutex);

 private:
  std::shared_ptr<const partition::Schema> make_schema(const catalog::Container& container) const;
  std::shared_ptr<Slot> make_slot(const catalog::Container& container,
                                  const catalog::PartitionRange& range, double units_per_s) const;
  std::shared_ptr<TokenBucket> database_budget(const catalog::Database& database);

  const catalog::Catalog& catalog_;
  const Clock& clock_;
  const EngineOptions& options_;
  const ServingPlan& plan_;

  mutable std::shared_mutex mutex_;  // of what follows
  std::unordered_map<std::string, RoutingPtr> by_name_;
  std::unordered_map<uint32_t, RoutingPtr> by_number_;
  std::unordered_map<uint32_t, std::shared_ptr<TokenBucket>> database_budgets_;
};

template <class Visit>
void RoutingTable::each_open(const Visit& visit) const {
  for (const RoutingPtr& routing : all()) {
    for (const auto& slot : routing->slots) {
      if (auto partition = slot->opened()) visit(*routing, *slot, *partition);
    }
  }
}

template <class Job>
auto RoutingTable::follow(const RoutingPtr& routing, const Job& job) const
    -> decltype(job(*routing)) {
  RoutingPtr newer;
  for (int attempt = 0; attempt < kRouteAttempts; ++attempt) {
    auto result = job(newer ? *newer : *routing);
    if (result || result.error().code != Code::moved) return result;
    newer = find(routing->container->number);
    if (!newer) return pass(container_is_gone());
  }
  return pass(keeps_moving());
}

}  // namespace orrery::cluster
