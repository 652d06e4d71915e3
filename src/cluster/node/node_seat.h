// The engine of a node among others: what coordination asks of it (nodes::Seat), where its faces
// are told to send requests (Placement), and what it answers to the engines of other nodes.
//
// Invariants
//  - A slot that the plan names another node for is closed, and its claim released, before anything
//    else is told of it. Requests that come meanwhile find Code::elsewhere, and are sent there.
//  - After the catalog changed, here or by news, the routings follow (refresh()) before anybody is
//    told that it did.
//
// Threading: any thread; see nodes/seat.h for what may block.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "catalog/catalog.h"
#include "cluster/node/budgets_elsewhere.h"
#include "cluster/node/catalog_caller.h"
#include "cluster/partitions/opener.h"
#include "cluster/placement.h"
#include "cluster/replicas/replicas.h"
#include "cluster/routing_table.h"
#include "cluster/serving_plan.h"
#include "cluster/splitting/split_queue.h"
#include "cluster/stop_signal.h"
#include "cluster/upkeep/file_remover.h"
#include "nodes/seat.h"
#include "partition/partition.h"
#include "peer/link.h"
#include "volume/volume.h"

namespace orrery::cluster {

class NodeSeat final : public nodes::Seat, public Placement, public RemoteSplitter {
 public:
  NodeSeat(ServingPlan& plan, RoutingTable& table, catalog::Catalog& catalog,
           volume::Volume& volume, partition::Shared& shared, Opener& opener, FileRemover& remover,
           Replicas& replicas, CatalogCaller& caller, peer::Link& link, const StopSignal& stop)
      : plan_(plan),
        table_(table),
        catalog_(catalog),
        volume_(volume),
        shared_(shared),
        opener_(opener),
        remover_(remover),
        replicas_(replicas),
        caller_(caller),
        link_(link),
        stop_(stop),
        budgets_elsewhere_(link, shared.clock),
        releaser_("releaser", kReleasers) {}

  // Splits go on from here: the queue is made after this.
  void set_splits(SplitQueue& splits) { splits_ = &splits; }
  void stop();

  // --- nodes::Seat -------------------------------------------------------------------------------
  Result<uint64_t> own_catalog() override;
  void disown_catalog() override { catalog_.disown(); }
  // Of a copy: what its routings have followed. The answer to a change that this node asked for can
  // have brought more, which counts when the next news make them follow.
  uint64_t catalog_lsn() const override {
    return catalog_.is_owner() ? catalog_.lsn() : routed_lsn_.load();
  }
  Result<nodes::News> news(uint64_t since) override;
  Status apply(const nodes::News& news) override;
  std::vector<nodes::RangeFacts> ranges() const override;
  void follow(std::shared_ptr<const nodes::Plan> plan) override;
  bool is_quiet() const override { return releasing_.load() == 0; }
  Result<std::string> owner_incarnation(const std::string& volume_name) override {
    return volume_.owner(volume_name);
  }

  // --- Placement ---------------------------------------------------------------------------------
  std::optional<std::string> address_of(const Slot& slot) const override;
  std::optional<std::string> coordinator_address() const override { return caller_.coordinator(); }
  bool has_node(const std::string& address) const override;
  Status wait_for_catalog(uint64_t lsn, std::chrono::steady_clock::time_point deadline) override;

  ReplicaReader* replicas() const override { return &replicas_; }

  // --- calls between engines ---------------------------------------------------------------------
  Result<SplitReport> split_elsewhere(const Slot& slot, catalog::SplitCause cause) override;
  Result<MergeReport> merge_elsewhere(const Slot& left, const Slot& right) override;
  BudgetsElsewhere& budgets_elsewhere() { return budgets_elsewhere_; }
  // Of the kinds that begin with kEngineCalls.
  void answer(std::string_view kind, std::string_view bytes, peer::Done done);

 private:
  void refresh();
  void refresh_container(uint32_t number) ORRERY_REQUIRES(table_.change_mutex);
  void answer_merge(std::string_view bytes, peer::Done done);
  void answer_split(std::string_view bytes, peer::Done done);
  void answer_pay(std::string_view bytes, peer::Done done);

  static constexpr size_t kReleasers = 4;

  ServingPlan& plan_;
  RoutingTable& table_;
  catalog::Catalog& catalog_;
  volume::Volume& volume_;
  partition::Shared& shared_;
  Opener& opener_;
  FileRemover& remover_;
  Replicas& replicas_;
  CatalogCaller& caller_;
  peer::Link& link_;
  const StopSignal& stop_;
  SplitQueue* splits_ = nullptr;
  BudgetsElsewhere budgets_elsewhere_;

  std::atomic<size_t> releasing_{0};
  std::atomic<uint64_t> routed_lsn_{0};
  Mutex news_mutex_;
  CondVar news_came_;
  WorkerPool releaser_;
};

}  // namespace orrery::cluster
