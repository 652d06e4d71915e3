// Files that are to go: when nobody uses a partition any more its files are removed, which keeps
// them aside; they are deleted once they are old enough (limit removed-files-age-s), or earlier,
// oldest first, while little of the disk is free.
#include <algorithm>

#include "base/log.h"
#include "cluster/engine.h"

namespace orrery::cluster {
namespace {

// Whoever drops a container on a full disk needs the space more than the way back.
constexpr double kFreeShareMin = 0.1;

}  // namespace

void Engine::retire(std::shared_ptr<partition::Partition> partition, std::string volume_name) {
  MutexLock lock(upkeep_mutex_);
  retired_.push_back({std::move(partition), std::move(volume_name)});
  upkeep_wake_.notify_all();
}

void Engine::remove_retired() {
  std::vector<Retired> ready;
  {
    MutexLock lock(upkeep_mutex_);
    auto in_use = [](const Retired& one) {
      return one.partition != nullptr && one.partition.use_count() > 1;
    };
    auto split = std::ranges::partition(retired_, in_use);
    ready.assign(std::make_move_iterator(split.begin()), std::make_move_iterator(split.end()));
    retired_.erase(split.begin(), split.end());
  }
  for (Retired& one : ready) {
    one.partition.reset();
    if (auto removed = volume_.remove(one.volume_name, clock_.now_s()); !removed) {
      log::warn("cannot remove a partition's files; the next start tries again",
                {{"name", one.volume_name}, {"error", removed.error().message}});
    }
  }
}

void Engine::delete_removed() {
  const int64_t old_s = clock_.now_s() - static_cast<int64_t>(limits().removed_files_age_s);
  while (!stopping_) {
    auto free_share = volume_.free_share();
    const bool nearly_full = free_share && *free_share < kFreeShareMin;
    auto deleted = volume_.delete_removed(nearly_full ? INT64_MAX : old_s);
    if (!deleted) {
      log::warn("cannot delete removed files", {{"error", deleted.error().message}});
    }
    if (!deleted || !*deleted) return;
  }
}

}  // namespace orrery::cluster
