// Re-indexing: when a container's index rules have changed, its items are given the terms of the
// new ones in the background, partition by partition. What happens inside a partition is told in
// src/partition/reindex.cc; here is found which partitions are behind.
//
// The catalog has the index version that all partitions of a container have reached, so a start
// need not open any to find out. Until the last partition is done, a crash or a split costs only
// looking at some items again. Open partitions are also asked themselves: a delayed write may have
// brought older rules to a partition that did not exist when the others were done.
#include "base/log.h"
#include "base/survive.h"
#include "cluster/engine.h"

namespace orrery::cluster {
namespace {

// Of one container before the next one's turn.
constexpr int kStepsAtOnce = 50;
constexpr size_t kExamineMax = 2'000;

}  // namespace

bool Engine::needs_reindexing(const Routing& routing) const {
  if (routing.container->indexed_version < routing.container->index_version) return true;
  for (const auto& slot : routing.slots) {
    auto partition = slot->opened();
    if (partition && !partition->is_indexed(*routing.schema)) return true;
  }
  return false;
}

void Engine::reindex_where_needed() {
  for (const RoutingPtr& routing : table_.all()) {
    const uint32_t number = routing->container->number;
    if (!needs_reindexing(*routing)) continue;
    {
      MutexLock lock(reindexing_mutex_);
      if (!reindexing_.insert(number).second) continue;
    }
    reindex_later(number);
  }
}

void Engine::reindex_later(uint32_t number) {
  // Whatever is left is found again by the upkeep.
  OnEnd done([this, number] { reindex_done(number); });
  indexer_.post([this, number, done = std::move(done)]() mutable {
    auto more = stopping_ ? Result<bool>(false) : reindex_some(number);
    if (more && *more && !stopping_) {
      done.release();
      return reindex_later(number);
    }
    if (!more) {
      log::warn("re-indexing a container is held up and will be tried again",
                {{"container", number}, {"error", more.error().message}});
    }
  });
}

void Engine::reindex_done(uint32_t number) {
  MutexLock lock(reindexing_mutex_);
  reindexing_.erase(number);
}

Result<bool> Engine::reindex_some(uint32_t number) {
  const RoutingPtr routing = find(number);
  if (!routing) return false;
  const catalog::Container& container = *routing->container;
  const bool behind = container.indexed_version < container.index_version;
  int steps = 0;
  for (const auto& slot : routing->slots) {
    Result<std::shared_ptr<partition::Partition>> opened =
        behind ? open_if_there(slot) : slot->opened();
    // Split meanwhile: the newer routing knows where.
    if (!opened && opened.error().code == Code::moved) return true;
    if (!opened) return pass(opened.error());
    if (!*opened) continue;
    for (bool done = false; !done;) {
      if (stopping_ || steps++ == kStepsAtOnce) return true;
      auto step = (*opened)->reindex(routing->schema, kExamineMax);
      if (!step && step.error().code == Code::moved) return true;
      if (!step) return pass(step.error());
      done = *step;
    }
  }
  if (!behind) return false;
  MutexLock change(table_.change_mutex);
  auto noted = catalog_->note_indexed(number, container.index_version);
  if (!noted) return pass(noted.error());
  table_.rebuild(number);
  log::info("re-indexed a container",
            {{"container", container.spec.name}, {"version", container.index_version}});
  return false;
}

}  // namespace orrery::cluster
