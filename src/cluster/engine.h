// The engine of a server, or of one node among several: the interface of the faces to data, by
// container and placement key. It routes operations to partitions, enforces throughput budgets, and
// splits partitions that are full or must serve more throughput.
//
// Threading: any thread. If the partition is open, reads complete inline and writes on a writer's
// thread. Otherwise the partition is opened on a thread of the engine's, and the operation
// continues there. Operations on databases and containers block until durable: call them on a
// thread that may block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "cluster/engine_options.h"
#include "cluster/placement.h"
#include "cluster/replies.h"
#include "cluster/routing.h"
#include "nodes/seat.h"
#include "partition/note.h"
#include "partition/partition.h"
#include "peer/link.h"
#include "volume/volume.h"

namespace orrery::cluster {

class CatalogCaller;

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(volume::Volume& volume, const Clock& clock,
                                              const EngineOptions& options);
  // Finishes what was queued; splits and trims that have not begun are left to the next start.
  ~Engine();

  // --- among other nodes (EngineOptions::node): null in a server alone --------------------------
  nodes::Seat* seat();
  Placement* placement();
  const Placement* placement() const;
  // Where the catalog's owner is, as coordination knows it: nothing when this node is it.
  void set_coordinator(std::function<std::optional<std::string>()> address);
  // Called after each change of the catalog that this node makes as its owner. It must not block.
  // Set before there is one.
  void set_on_catalog_change(std::function<void()> told);
  // Waits until every node has the catalog as of this LSN, after a change that must not be missed
  // by any: something was dropped, or a right taken away. Set before there is one.
  void set_barrier(std::function<Status(uint64_t lsn)> everyone_has);
  // Answers a call of another node's engine: of the kinds that begin with `engine.`.
  void answer(std::string_view kind, std::string_view bytes, peer::Done done);

  const Limits& limits() const { return options_.limits; }
  const catalog::Catalog& catalog() const { return *catalog_; }
  // Of the account: how many other nodes can answer reads of a partition. They follow when they
  // hear of it. Blocks.
  Status set_read_replicas(uint32_t count);

  // --- containers, by name and by number -------------------------------------------------------
  RoutingPtr find(catalog::DatabaseName database, std::string_view container) const;
  RoutingPtr find(uint32_t container) const;

  Result<catalog::DatabasePtr> create_database(catalog::DatabaseName name,
                                               std::optional<catalog::Throughput> throughput);
  Status remove_database(uint32_t number);
  Result<RoutingPtr> create_container(uint32_t database, catalog::ContainerSpec spec,
                                      std::optional<catalog::Throughput> throughput);
  // Replaces what may change: index rules, TTL, and what the face keeps. Items are given the terms
  // of new rules in the background: status() tells how far that is.
  Result<RoutingPtr> replace_container(uint32_t number, catalog::ContainerSpec spec);
  Status remove_container(uint32_t number);
  // Splits follow by themselves; see is_scaling.
  Status set_container_throughput(uint32_t number, const catalog::Throughput& throughput);
  Status set_database_throughput(uint32_t number, const catalog::Throughput& throughput);
  // Whether partitions are still being split towards the throughput that was set.
  bool is_scaling(uint32_t container) const;

  // --- resources of databases and containers that only the face understands --------------------
  // As in the catalog, within the account's quotas. `most` limits the number of this kind for this
  // parent. `check` may refuse; it is atomic with the change: no other change to resources or
  // containers happens in between.
  using ResourceCheck = std::function<Status()>;
  Result<catalog::ResourcePtr> create_resource(uint8_t kind, uint32_t parent, std::string_view name,
                                               std::string body, uint64_t most,
                                               const ResourceCheck& check = {});
  Result<catalog::ResourcePtr> replace_resource(uint32_t number, std::string_view name,
                                                std::string body,
                                                std::optional<uint64_t> if_revision,
                                                const ResourceCheck& check = {});
  Status remove_resource(uint32_t number, std::optional<uint64_t> if_revision);

  // --- items -----------------------------------------------------------------------------------
  // All writes of one transaction have the same placement key.
  void write(RoutingPtr routing, std::vector<partition::Write> transaction,
             std::move_only_function<void(WriteReply)> done, ReadTerms reads = {});
  // Reads of stronger consistency cost a multiple: `charge_factor`. When the partition is open, it
  // is read here, and may wait for files.
  void read(RoutingPtr routing, std::string placement, std::string row, const LsnDemand& demand,
            std::move_only_function<void(Result<ReadReply>)> done, double charge_factor = 1);
  // The same at once, from memory: nothing when it would have to wait for files.
  std::optional<Result<ReadReply>> read_in_memory(const Routing& routing,
                                                  std::string_view placement, std::string_view row,
                                                  const LsnDemand& demand, double charge_factor);
  // One page of the items in [min, max) after `after`. Reads one partition at most; a page may be
  // short, and is the last one when `page.more` is false. Blocks.
  Result<FeedReply> feed(const RoutingPtr& routing, std::string_view min, std::string_view max,
                         const partition::ItemKey* after, size_t items_max, const LsnDemand& demand,
                         double charge_factor = 1);
  // A view of the part of [min, max) in the partition that owns `placement`. It does no admission
  // and no charging: a query is admitted once and pays at its end. Blocks. With Reach::memory it
  // fails with Code::would_wait instead.
  Result<ViewReply> open_view(const RoutingPtr& routing, std::string_view placement,
                              std::string_view min, std::string_view max, const LsnDemand& demand,
                              partition::Reach reach = partition::Reach::files);
  // Begins a transaction over the items of one placement key. It ends with write_and_wait(), which
  // fails with Code::retry when an item that it wrote has changed since. What it read is for the
  // caller to pay. Both block.
  Result<TransactionReply> begin_transaction(const RoutingPtr& routing, std::string_view placement,
                                             const LsnDemand& demand, size_t bytes_max);
  WriteReply write_and_wait(RoutingPtr routing, std::vector<partition::Write> transaction);
  // One page of what changed in [min, max), which must lie in one partition (Code::moved when it
  // does not, as after a split). Code::invalid when the position is not one of this range. Blocks.
  Result<ChangesReply> changes(RoutingPtr routing, std::string_view min, std::string_view max,
                               const ChangesFrom& from, size_t items_max, const LsnDemand& demand,
                               double charge_factor = 1);
  // The same of every write, from a position (or from now) on. Code::invalid also when the
  // container keeps no history, or it does not go back that far. Blocks.
  Result<HistoryReply> history(RoutingPtr routing, std::string_view min, std::string_view max,
                               const ChangesFrom& from, size_t items_max, const LsnDemand& demand,
                               double charge_factor = 1);
  // Admits a query. Returns how long it would have had to wait (Throttling::report), or
  // Code::throttled. A query may be tried more than once, so a query over budget is counted when it
  // pays.
  Result<uint32_t> admit_query(const RoutingPtr& routing, std::string_view placement);
  void pay_for_query(const RoutingPtr& routing, std::string_view placement, double charge,
                     uint32_t would_throttle_ms = 0);
  // After a query or a script has read all that it answers with: whether that is the newest.
  // Code::overloaded when another process may have taken partitions over.
  Status check_current() const;
  // The notes that writes have left under an owner and a number (partition/note.h). Blocks.
  Result<std::vector<partition::KeptNote>> notes(const RoutingPtr& routing, std::string_view owner,
                                                 uint64_t number);
  // The item with this index term. Blocks.
  Result<std::optional<partition::ItemKey>> find_by_term(const RoutingPtr& routing,
                                                         std::string_view term);

  // --- partitions ------------------------------------------------------------------------------
  // Splits one partition after the splits that wait: Code::overloaded when too many do.
  using SplitRequest = cluster::SplitRequest;
  static constexpr size_t kSplitsWaitingMax = cluster::kSplitsWaitingMax;
  void split_later(SplitRequest request, std::move_only_function<void(Result<SplitReport>)> done);
  // The same, and waits for it.
  Result<SplitReport> split(uint32_t container, std::optional<uint32_t> range);
  // The same for a merge: Code::conflict when they are no neighbours, too large together, at
  // different nodes, or have indexes that one partition cannot have.
  void merge_later(MergeRequest request, std::move_only_function<void(Result<MergeReport>)> done);
  Result<MergeReport> merge(uint32_t container, uint32_t first, uint32_t second);
  // Opens partitions that have files, to tell. One that cannot be opened is told of by status(),
  // and left out by largest(). Blocks.
  Result<std::vector<PartitionStatus>> status(uint32_t container);
  Result<std::vector<partition::Partition::LogicalPartition>> largest(uint32_t container,
                                                                      size_t count);
  // For backups: answers a request of exporting/export_messages.h. Blocks.
  Result<std::string> export_files(std::string_view request);
  // For metrics: jobs that exceptions ended, by pool.
  std::vector<std::pair<std::string_view, uint64_t>> failed_jobs() const;
  // For metrics: what is open now, without opening anything.
  void each_open(const std::function<void(const Routing&, const Slot&,
                                          const partition::Partition&)>& visit) const;

 private:
  Engine(volume::Volume& volume, const Clock& clock, const EngineOptions& options,
         std::unique_ptr<partition::Shared> shared, std::unique_ptr<CatalogCaller> caller,
         std::unique_ptr<catalog::Catalog> catalog);
  // What came of a change, once every node has it.
  Status known_to_all(Status changed) const;
  static Result<std::unique_ptr<Engine>> open_node(volume::Volume& volume, const Clock& clock,
                                                   const EngineOptions& options);

  const EngineOptions options_;
  const std::unique_ptr<partition::Shared> shared_;
  const std::unique_ptr<CatalogCaller> caller_;  // null: a server alone
  std::function<Status(uint64_t)> everyone_has_;
  const std::unique_ptr<catalog::Catalog> catalog_;
  struct Parts;  // engine_parts.h
  const std::unique_ptr<Parts> parts_;
};

}  // namespace orrery::cluster
