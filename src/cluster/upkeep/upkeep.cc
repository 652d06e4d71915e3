// See upkeep.h.
#include "cluster/upkeep/upkeep.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/heap.h"
#include "base/log.h"
#include "base/survive.h"
#include "cluster/budgets/budgets.h"

namespace orrery::cluster {
namespace {

constexpr size_t kExpiryExamineMax = 10'000;
constexpr int kRoundsBetweenForgetting = 10;
constexpr int kRoundsBetweenGivingBack = 5;

}  // namespace

void Upkeep::loop() {
  UnusedMemory unused;
  for (int round = 1; !stop_.is_set(); ++round) {
    bell_.wait(std::chrono::seconds(1));
    if (stop_.is_set()) break;
    survive("upkeep", [&] {
      remove_files(round);
      collect_expired();
      collect_purged();
      indexer_.index_where_needed();
      if (round % kRoundsBetweenForgetting == 0) forget_history();
      if (round % kRoundsBetweenGivingBack == 0) unused.give_back();
      release_readings();
      exports_.end_idle();
      splits_.shrink_where_idle();
      if (!volume_.room()) flush_removals();
    });
  }
  remover_.remove_retired();
}

// What is nobody's any more is the affair of the catalog's owner.
void Upkeep::remove_files(int round) {
  remover_.remove_retired();
  if (!catalog_.is_owner()) return;
  remover_.delete_old();
  if (is_node_ && round % kRoundsBetweenForgetting == 0) remover_.remove_left_behind();
}

void Upkeep::collect_expired() {
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
void Upkeep::collect_purged() {
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
  for (const auto& [routing, slot] : pending) collect_purged(routing, slot);
}

void Upkeep::collect_purged(const RoutingPtr& routing, const std::shared_ptr<Slot>& slot) {
  const auto partition = slot->opened();
  if (!partition) return;
  const int64_t now_us = clock_.steady_us();
  slot->note_use(now_us);  // it is not closed before it is done
  const std::shared_ptr<TokenBucket> share = purge_shares_.of(routing->budget_ptr(*slot), now_us);
  const double left = share->left(now_us);
  if (left <= 0) return;
  auto collected = partition->collect_purged(routing->schema, *routing->prices, kExpiryExamineMax,
                                             left, [routing, slot, share](double charge) {
                                               share->pay(charge);
                                               Budgets::pay(*routing, *slot, charge);
                                               slot->counters.purge_charge.fetch_add(
                                                   charge, std::memory_order_relaxed);
                                             });
  if (!collected) {
    log::warn("cannot delete the items of a partition key", {{"error", collected.error().message}});
    return;
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

// Of containers that keep none any more, all of it goes.
void Upkeep::forget_history() {
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

void Upkeep::release_readings() {
  table_.each_open([](const Routing&, const Slot&, const partition::Partition& partition) {
    partition.release_readings();
  });
}

// Only while the disk is nearly full: removals reach the tables by themselves when there are many.
void Upkeep::flush_removals() {
  table_.each_open([](const Routing&, const Slot&, const partition::Partition& partition) {
    partition.flush_removals();
  });
}

}  // namespace orrery::cluster
