// See snapshot_store.h.
#include "api/mongo/transactions/snapshot_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/mongo/call.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/handler_context.h"
#include "value/placement.h"

namespace orrery::mongo {
namespace {

constexpr std::chrono::milliseconds kForgetEvery{500};
constexpr size_t kNoWrites = 0;  // bytes that a view may stage

std::unexpected<Error> unavailable(std::string_view why) {
  return refuse(kSnapshotUnavailable,
                fmt::format("{}: read again with a snapshot of now, without atClusterTime", why));
}

}  // namespace

Answer<std::shared_ptr<const partition::Transaction>> Snapshot::reads(
    const cluster::RoutingPtr& routing, const std::string& /*placement*/) {
  if (const auto error = ended()) return pass(*error);
  MutexLock lock(mutex_);
  for (const Part& part : parts_) {
    if (part.container == routing->container->number) return part.transaction;
  }
  return unavailable(
      fmt::format("the snapshot does not have {}.{}: it was made since, or written "
                  "to as the snapshot was taken, or is beyond its limits",
                  routing->database->name, routing->container->spec.name));
}

Answer<std::optional<partition::Item>> Snapshot::read(const cluster::RoutingPtr& routing,
                                                      const partition::ItemKey& key) {
  auto view = reads(routing, key.placement);
  if (!view) return pass(std::move(view.error()));
  auto item = (*view)->read(key.placement, key.row);
  if (!item) return read_error(item.error());
  return std::move(*item);
}

Answer<void> Snapshot::check_name(std::string_view database, std::string_view collection,
                                  const cluster::RoutingPtr& routing) const {
  if (database != database_) {
    return unavailable(
        fmt::format("the snapshot is of the database {}, and has none of {}", database_, database));
  }
  const auto found = numbers_.find(collection);
  const bool was_there = found != numbers_.end();
  const bool is_same =
      routing ? was_there && found->second == routing->container->number : !was_there;
  if (is_same) return {};
  return unavailable(fmt::format("{}.{} was made, renamed or dropped since the snapshot was taken",
                                 database, collection));
}

std::unexpected<Error> Snapshot::read_error(const orrery::Error& error) const {
  if (error.code != Code::moved && error.code != Code::retry) return pass(engine_error(error));
  return unavailable("the partition was moved or opened again since the snapshot was taken");
}

std::optional<Error> Snapshot::ended() const {
  MutexLock lock(mutex_);
  if (!is_dropped_) return std::nullopt;
  return unavailable("the snapshot is too old").error();
}

void Snapshot::drop() {
  std::vector<Part> parts;  // goes without the lock
  MutexLock lock(mutex_);
  is_dropped_ = true;
  parts.swap(parts_);
}

struct SnapshotStore::Candidate {
  cluster::RoutingPtr routing;
  std::shared_ptr<const partition::Transaction> view = nullptr;
};

bool SnapshotStore::has_changed(const Candidate& one) const {
  const std::string& placement = definition_of(*one.routing).placement;
  auto now =
      engine_.open_view(one.routing, placement, value::placement_min(), value::placement_max(), {});
  return !now || now->receipt.lsn != one.view->lsn();
}

Answer<std::vector<Snapshot::Part>> SnapshotStore::open_views(std::vector<Candidate> others,
                                                              const cluster::RoutingPtr& wanted) {
  const auto begin = [this](const cluster::RoutingPtr& routing) {
    return engine_.begin_transaction(routing, definition_of(*routing).placement, {}, kNoWrites);
  };
  std::vector<Snapshot::Part> parts;
  for (int round = 0; round < kRounds; ++round) {
    for (Candidate& one : others) {
      if (one.view) continue;
      if (auto begun = begin(one.routing)) one.view = std::move(begun->transaction);
    }
    parts.clear();
    // Last: what was not written to from its view until now is as it was at this moment.
    for (int64_t left_ms = kThrottledWaitMs; wanted != nullptr;) {
      auto begun = begin(wanted);
      if (begun) {
        parts.push_back({wanted->container->number, std::move(begun->transaction)});
        break;
      }
      if (!wait_for_throughput(begun.error(), left_ms)) return pass(engine_error(begun.error()));
    }
    bool is_whole = true;
    for (Candidate& one : others) {
      if (one.view && has_changed(one)) one.view = nullptr;
      if (one.view) parts.push_back({one.routing->container->number, one.view});
      is_whole = is_whole && one.view;
    }
    if (is_whole) break;
  }
  return parts;
}

Answer<std::shared_ptr<Snapshot>> SnapshotStore::take(std::string_view database,
                                                      std::string_view collection) {
  std::map<std::string, uint32_t, std::less<>> numbers;
  std::vector<Candidate> others;
  cluster::RoutingPtr wanted;
  if (const auto found = engine_.catalog().database({kFaceName, database})) {
    for (const catalog::ContainerPtr& container : engine_.catalog().containers(found->number)) {
      numbers.emplace(container->spec.name, container->number);
      const cluster::RoutingPtr routing = engine_.find(container->number);
      if (!routing) continue;
      const bool is_wanted = container->spec.name == collection;
      if (definition_of(*routing).is_sharded()) {
        if (!is_wanted) continue;
        return refuse(kNotImplemented,
                      fmt::format("the read concern snapshot outside a transaction is not "
                                  "implemented for sharded collections, as {}.{} is one",
                                  database, collection));
      }
      if (is_wanted) {
        wanted = routing;
      } else if (others.size() + 1 < kCollectionsMax) {
        others.push_back({routing});
      }
    }
  }
  auto parts = open_views(std::move(others), wanted);
  if (!parts) return pass(std::move(parts.error()));
  std::vector<std::shared_ptr<Snapshot>> old;  // dropped without the lock
  std::shared_ptr<Snapshot> made;
  {
    MutexLock lock(mutex_);
    if (is_stopped_) return unavailable("the server stops");
    last_time_ = std::max(last_time_ + 1, cluster_time(clock_.now_ms()));
    made = std::make_shared<Snapshot>(last_time_, std::string(database), std::move(numbers),
                                      *std::move(parts));
    const int64_t now_us = clock_.steady_us();
    old = take_old(now_us);
    if (kept_.size() >= kSnapshotsMax) {
      old.push_back(std::move(kept_.begin()->second.snapshot));
      kept_.erase(kept_.begin());
      ++counts_.evicted;
    }
    kept_.emplace(last_time_, Kept{made, now_us + kLifetimeS * 1'000'000});
    ++counts_.taken;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  wake_.notify_one();
  for (const auto& one : old) one->drop();
  return made;
}

std::shared_ptr<Snapshot> SnapshotStore::find(uint64_t time) {
  sweep();
  MutexLock lock(mutex_);
  const auto found = kept_.find(time);
  return found == kept_.end() ? nullptr : found->second.snapshot;
}

std::vector<std::shared_ptr<Snapshot>> SnapshotStore::take_old(int64_t now_us) {
  std::vector<std::shared_ptr<Snapshot>> old;
  while (!kept_.empty() && kept_.begin()->second.until_us <= now_us) {
    old.push_back(std::move(kept_.begin()->second.snapshot));
    kept_.erase(kept_.begin());
  }
  return old;
}

void SnapshotStore::sweep() {
  std::vector<std::shared_ptr<Snapshot>> old;
  {
    MutexLock lock(mutex_);
    old = take_old(clock_.steady_us());
  }
  for (const auto& one : old) one->drop();
}

SnapshotStore::Counts SnapshotStore::counts() const {
  MutexLock lock(mutex_);
  Counts counts = counts_;
  counts.open = static_cast<int64_t>(kept_.size());
  return counts;
}

void SnapshotStore::stop() {
  std::vector<std::shared_ptr<Snapshot>> all;
  {
    MutexLock lock(mutex_);
    is_stopped_ = true;
    all = take_old(INT64_MAX);
  }
  wake_.notify_one();
  for (const auto& one : all) one->drop();
  if (thread_.joinable()) thread_.join();
}

void SnapshotStore::run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (is_stopped_) return;
      if (kept_.empty()) {
        wake_.wait(mutex_);
      } else {
        wake_.wait_for(mutex_, kForgetEvery);
      }
    }
    sweep();
  }
}

}  // namespace orrery::mongo
