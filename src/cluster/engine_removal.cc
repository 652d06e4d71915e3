// Which files are whose, and removal of those that are to go.
//
// Files are never removed merely because the catalog does not know them. A catalog that lost its
// newest commits, or was restored from an old backup, does not know files that must be kept. So a
// removal is recorded in the catalog (src/catalog/catalog_removals.cc) before files can exist that
// no map names. At the start, recorded files are removed. Files that neither a map nor a record
// names make the start fail.
//
// Files are removed when nobody uses the partition any more, which keeps them aside; they are
// deleted once they are old enough (limit removed-files-age-s), or earlier, oldest first, while
// little of the disk is free.
//
// Fault points: removal.recorded (after the commit that drops a container or database),
// removal.moved (files are aside, the record is still there).
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/fault.h"
#include "base/log.h"
#include "cluster/engine.h"

namespace orrery::cluster {
namespace {

// Whoever drops a container on a full disk needs the space more than the way back.
constexpr double kFreeShareMin = 0.1;
constexpr size_t kPlacesInMessage = 10;

}  // namespace

// A catalog that is lost must not come back as an empty one.
Status Engine::check_catalog_is_there(volume::Volume& volume) {
  if (volume.exists(catalog::kCatalogVolumeName)) return {};
  auto names = volume.list();
  if (!names) return pass(names.error());
  for (const std::string& name : *names) {
    if (!volume.exists(name)) continue;
    return fail(Code::corrupt,
                fmt::format("the catalog's files are missing, though those of partitions are "
                            "there: they were in {}. Put them back there from a copy",
                            volume.place(catalog::kCatalogVolumeName)));
  }
  return {};
}

Status Engine::check_all_are_known(const std::vector<std::string>& names) const {
  std::unordered_set<std::string> known = {std::string(catalog::kCatalogVolumeName)};
  for (const catalog::ContainerPtr& container : catalog_->all_containers()) {
    for (const auto& range : container->map->ranges) known.insert(range.volume_name);
  }
  for (const catalog::Removal& removal : catalog_->removals()) known.insert(removal.volume_name);
  std::string places;
  size_t unknown = 0;
  for (const std::string& name : names) {
    // A place without files holds nothing that could be lost, nor anything worth removing.
    if (known.contains(name) || !volume_.exists(name)) continue;
    if (++unknown > kPlacesInMessage) continue;
    places += (places.empty() ? "" : ", ") + volume_.place(name);
  }
  if (unknown == 0) return {};
  if (unknown > kPlacesInMessage) places += fmt::format(" and {} more", unknown - kPlacesInMessage);
  return fail(
      Code::corrupt,
      fmt::format("there are files of partitions that the catalog does not know: {}. The catalog "
                  "is older than they are, or they are not of this server. Nothing was removed. "
                  "Restore {} from a copy as new as they are; to do without them, move them away",
                  places, volume_.place(catalog::kCatalogVolumeName)));
}

// A clone may go when its parent, which the map still names, has all that it has. If it has less,
// the split was published, and writes were acknowledged in the clone, by a catalog newer than this
// one.
Status Engine::check_clone(const catalog::Removal& removal, bool& settled) {
  settled = true;
  const std::string& clone = removal.volume_name;
  const std::string& parent = removal.clone_of->parent;
  bool parent_is_named = false;
  for (const catalog::ContainerPtr& container : catalog_->all_containers()) {
    for (const auto& range : container->map->ranges) {
      parent_is_named = parent_is_named || range.volume_name == parent;
    }
  }
  if (!volume_.exists(clone) || !parent_is_named) return {};
  auto older = [&](std::string_view than) {
    return fail(Code::corrupt,
                fmt::format("the files in {} are recorded as what an unfinished split of {} left, "
                            "but {}: the catalog is older than they are. Nothing was removed. "
                            "Restore {} from a newer copy",
                            volume_.place(clone), volume_.place(parent), than,
                            volume_.place(catalog::kCatalogVolumeName)));
  };
  if (!volume_.exists(parent)) return older("that is not there any more");
  // Claiming the parent also ends what a deposed process could still make of it.
  auto parent_lsn = partition::Partition::stored_lsn(*shared_, volume_, parent);
  auto clone_lsn = partition::Partition::stored_lsn(*shared_, volume_, clone);
  if (!parent_lsn || !clone_lsn) {
    const Error& error = parent_lsn ? clone_lsn.error() : parent_lsn.error();
    log::warn("cannot tell whether what a split left may go; it stays",
              {{"name", clone}, {"error", error.message}});
    settled = false;
    return {};
  }
  if (*clone_lsn <= *parent_lsn) return {};
  return older(
      fmt::format("they have writes up to {} and it has writes up to {}", *clone_lsn, *parent_lsn));
}

Status Engine::settle_files() {
  auto names = volume_.list();
  if (!names) return pass(names.error());
  if (auto known = check_all_are_known(*names); !known) return known;
  std::vector<std::string> going;
  for (const catalog::Removal& removal : catalog_->removals()) {
    bool settled = true;
    if (removal.clone_of) {
      if (auto checked = check_clone(removal, settled); !checked) return checked;
    }
    if (settled) going.push_back(removal.volume_name);
  }
  // Only now: all or nothing of the above.
  std::vector<std::string> gone;
  for (const std::string& name : going) {
    const bool there = std::ranges::binary_search(*names, name);
    if (auto removed = volume_.remove(name, clock_.now_s()); !removed) {
      log::warn("cannot remove files; the next start tries again",
                {{"name", name}, {"error", removed.error().message}});
      continue;
    }
    gone.push_back(name);
    if (!there) continue;
    log::warn("removed files that a split or a deletion left when the server ended",
              {{"name", name}, {"kept_s", limits().removed_files_age_s}});
  }
  forget_removals(gone);
  return {};
}

void Engine::forget_removals(const std::vector<std::string>& volume_names) {
  if (volume_names.empty()) return;
  Status forgotten = fault::point("removal.moved");
  if (forgotten) forgotten = catalog_->forget_removals(volume_names);
  if (forgotten) return;
  log::warn("cannot note that files were removed; the next start does",
            {{"error", forgotten.error().message}});
}

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
  if (ready.empty()) return;
  std::vector<std::string> gone;
  for (Retired& one : ready) {
    one.partition.reset();
    if (auto removed = volume_.remove(one.volume_name, clock_.now_s()); !removed) {
      log::warn("cannot remove a partition's files; the next start tries again",
                {{"name", one.volume_name}, {"error", removed.error().message}});
      continue;
    }
    gone.push_back(std::move(one.volume_name));
  }
  forget_removals(gone);
}

void Engine::delete_removed() {
  const int64_t old_s = clock_.now_s() - static_cast<int64_t>(limits().removed_files_age_s);
  while (!stopping_) {
    auto free_share = volume_.free_share();
    const bool nearly_full = !volume_.room() || (free_share && *free_share < kFreeShareMin);
    auto deleted = volume_.delete_removed(nearly_full ? INT64_MAX : old_s);
    if (!deleted) {
      log::warn("cannot delete removed files", {{"error", deleted.error().message}});
    }
    if (!deleted || !*deleted) return;
  }
}

}  // namespace orrery::cluster
