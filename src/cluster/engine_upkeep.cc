// Background work of the engine, once a second:
//  - removes files of dropped partitions that are no longer in use;
//  - collects expired and purged items;
//  - finds partitions whose index is behind the rules;
//  - truncates history beyond its retention time (less often);
//  - returns free memory to the operating system;
//  - releases the pooled snapshots of views;
//  - flushes tombstones on a nearly full disk.
#include <algorithm>
#include <chrono>

#include "base/heap.h"
#include "base/log.h"
#include "base/survive.h"
#include "cluster/engine.h"

namespace orrery::cluster {
namespace {

constexpr size_t kExpiryExamineMax = 10'000;
constexpr int kRoundsBetweenForgetting = 10;
constexpr int kRoundsBetweenGivingBack = 5;

}  // namespace

void Engine::wake_upkeep() {
  MutexLock lock(upkeep_mutex_);
  upkeep_wake_.notify_all();
}

void Engine::upkeep_loop() {
  UnusedMemory unused;
  for (int round = 1;; ++round) {
    {
      MutexLock lock(upkeep_mutex_);
      if (stopping_) break;
      upkeep_wake_.wait_for(upkeep_mutex_, std::chrono::seconds(1));
      if (stopping_) break;
    }
    survive("upkeep", [&] {
      remove_retired();
      delete_removed();
      collect_expired();
      collect_purged();
      reindex_where_needed();
      if (round % kRoundsBetweenForgetting == 0) forget_history();
      if (round % kRoundsBetweenGivingBack == 0) unused.give_back();
      release_readings();
      if (!volume_.room()) flush_removals();
    });
  }
  remove_retired();
}

void Engine::collect_expired() {
  for (const RoutingPtr& routing : table_.all()) {
    if (!routing->schema->default_life_ms) continue;
    for (const auto& slot : routing->slots) {
      auto partition = slot->opened();
      if (!partition) continue;
      // Requests go first: only what they left of the budget is used.
      const double left = routing->budget(*slot).left(clock_.steady_us());
      auto collected = partition->collect_expired(
          routing->schema, *routing->prices, kExpiryExamineMax, left,
          [routing, slot](double charge) { Budgets::pay(*routing, *slot, charge); });
      if (!collected) {
        log::warn("cannot collect expired items", {{"error", collected.error().message}});
      }
    }
  }
}

// Unlike expired items they do not wait until requests leave something of the budget: they have a
// share of it, which others may use while there is nothing to purge.
void Engine::collect_purged() {
  std::vector<std::pair<RoutingPtr, std::shared_ptr<Slot>>> pending;
  for (const RoutingPtr& routing : table_.all()) {
    for (const auto& slot : routing->slots) {
      const auto partition = slot->opened();
      if (partition && partition->purges_pending() > 0) pending.emplace_back(routing, slot);
    }
  }
  if (pending.empty()) {
    purge_shares_.clear();
    return;
  }
  const int64_t now_us = clock_.steady_us();
  for (const auto& [routing, slot] : pending) {
    const auto partition = slot->opened();
    if (!partition) continue;
    slot->note_use(now_us);  // it is not closed before it is done
    const std::shared_ptr<TokenBucket> share = purge_shares_.of(routing->budget_ptr(*slot), now_us);
    const double left = share->left(now_us);
    if (left <= 0) continue;
    auto collected = partition->collect_purged(routing->schema, *routing->prices, kExpiryExamineMax,
                                               left, [routing, slot, share](double charge) {
                                                 share->pay(charge);
                                                 Budgets::pay(*routing, *slot, charge);
                                                 slot->counters.purge_charge.fetch_add(
                                                     charge, std::memory_order_relaxed);
                                               });
    if (!collected) {
      log::warn("cannot delete the items of a partition key",
                {{"error", collected.error().message}});
      continue;
    }
    if (collected->items > 0) {
      slot->counters.purged_items.fetch_add(collected->items, std::memory_order_relaxed);
    }
    if (collected->purges > 0) {
      log::info("all items of partition keys are deleted",
                {{"container", routing->container->spec.name},
                 {"range", slot->range.id},
                 {"keys", collected->purges}});
    }
  }
}

// Of containers that keep none any more, all of it goes.
void Engine::forget_history() {
  for (const RoutingPtr& routing : table_.all()) {
    const int64_t kept_s = routing->schema->history_s;
    const int64_t before_s = kept_s == 0 ? INT64_MAX : clock_.now_s() - kept_s;
    for (const auto& slot : routing->slots) {
      auto partition = slot->opened();
      if (!partition) continue;
      if (auto forgotten = partition->forget_history(before_s); !forgotten) {
        log::warn("cannot drop old history", {{"error", forgotten.error().message}});
      }
    }
  }
}

void Engine::release_readings() {
  each_open([](const Routing&, const Slot&, const partition::Partition& partition) {
    partition.release_readings();
  });
}

// Only while the disk is nearly full: removals reach the tables by themselves when there are many.
void Engine::flush_removals() {
  each_open([](const Routing&, const Slot&, const partition::Partition& partition) {
    partition.flush_removals();
  });
}

}  // namespace orrery::cluster
