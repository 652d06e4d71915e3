// See indexer.h.
#include "cluster/partitions/indexer.h"

#include "base/log.h"
#include "base/survive.h"
#include "partition/prepared_terms.h"

namespace orrery::cluster {
namespace {

// Of one container before the next one's turn.
constexpr int kStepsAtOnce = 50;
constexpr size_t kExamineMax = 2'000;

bool is_behind(const Routing& routing) {
  if (routing.container->indexed_version < routing.container->index_version) return true;
  for (const auto& slot : routing.slots) {
    auto partition = slot->opened();
    if (partition && !partition->is_indexed(*routing.schema)) return true;
  }
  return false;
}

}  // namespace

void Indexer::index_where_needed() {
  for (const RoutingPtr& routing : table_.all()) {
    const uint32_t number = routing->container->number;
    if (!is_behind(*routing)) continue;
    {
      MutexLock lock(mutex_);
      if (!queued_.insert(number).second) continue;
    }
    index_later(number);
  }
}

void Indexer::index_later(uint32_t number) {
  // Whatever is left is found again by the upkeep.
  OnEnd done([this, number] { done_with(number); });
  pool_.post([this, number, done = std::move(done)]() mutable {
    auto more = stop_.is_set() ? Result<bool>(false) : index_some(number);
    if (more && *more && !stop_.is_set()) {
      done.release();
      return index_later(number);
    }
    if (!more) {
      log::warn("re-indexing a container is held up and will be tried again",
                {{"container", number}, {"error", more.error().message}});
    }
  });
}

void Indexer::done_with(uint32_t number) {
  MutexLock lock(mutex_);
  queued_.erase(number);
}

Result<bool> Indexer::index_some(uint32_t number) {
  const RoutingPtr routing = table_.find(number);
  if (!routing) return false;
  const catalog::Container& container = *routing->container;
  const bool behind = container.indexed_version < container.index_version;
  int steps = 0;
  for (const auto& slot : routing->slots) {
    Result<std::shared_ptr<partition::Partition>> opened =
        behind ? opener_.open_if_there(slot) : slot->opened();
    // Split meanwhile: the newer routing knows where.
    if (!opened && opened.error().code == Code::moved) return true;
    if (!opened) return pass(opened.error());
    if (!*opened) continue;
    for (bool done = false; !done;) {
      if (stop_.is_set() || steps++ == kStepsAtOnce) return true;
      auto step = (*opened)->reindex(routing->schema, kExamineMax);
      if (!step && step.error().code == Code::moved) return true;
      if (!step && step.error().code == Code::conflict) {
        return retire_newest_key(container, step.error().message);
      }
      if (!step) return pass(step.error());
      done = *step;
    }
  }
  if (!behind) return false;
  MutexLock change(table_.change_mutex);
  auto noted = catalog_.note_indexed(number, container.index_version);
  if (!noted) return pass(noted.error());
  table_.rebuild(number);
  log::info("re-indexed a container",
            {{"container", container.spec.name}, {"version", container.index_version}});
  return false;
}

Result<bool> Indexer::retire_newest_key(const catalog::Container& behind, std::string_view why) {
  MutexLock change(table_.change_mutex);
  auto updated =
      catalog_.update_container(behind.number, [&](catalog::Container& container) -> Status {
        auto& keys = container.spec.unique_keys;
        if (container.index_version != behind.index_version || keys.empty() ||
            partition::is_retired(keys.back())) {
          return fail(Code::moved, "the container's unique keys have changed");
        }
        keys.back() = partition::retired(keys.back());
        ++container.index_version;
        return {};
      });
  if (!updated && updated.error().code == Code::moved) return true;
  if (!updated) return pass(updated.error());
  table_.rebuild(behind.number);
  log::warn("a new unique key was given up: items have the same values",
            {{"container", behind.spec.name}, {"error", why}});
  return true;
}

}  // namespace orrery::cluster
