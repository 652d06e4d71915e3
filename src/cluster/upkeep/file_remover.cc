// See file_remover.h.
#include "cluster/upkeep/file_remover.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"

namespace orrery::cluster {
namespace {

// Whoever drops a container on a full disk needs the space more than the way back.
constexpr double kFreeShareMin = 0.1;
constexpr size_t kPlacesInMessage = 10;

}  // namespace

Status check_catalog_is_there(volume::Volume& volume) {
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

Status FileRemover::check_all_are_known(const std::vector<std::string>& names) const {
  std::unordered_set<std::string> known = {std::string(catalog::kCatalogVolumeName)};
  for (const catalog::ContainerPtr& container : catalog_.all_containers()) {
    for (const auto& range : container->map->ranges) known.insert(range.volume_name);
  }
  for (const catalog::Removal& removal : catalog_.removals()) known.insert(removal.volume_name);
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

bool FileRemover::is_named(const std::string& volume_name) const {
  for (const catalog::ContainerPtr& container : catalog_.all_containers()) {
    for (const auto& range : container->map->ranges) {
      if (range.volume_name == volume_name) return true;
    }
  }
  return false;
}

// What a split or merge made may go when its parents, which the map still names, have all that it
// has. If they have less, it was published, and writes were acknowledged in it, by a catalog newer
// than this one. (One that was merged begins with the larger LSN of both.)
Result<bool> FileRemover::may_clone_go(const catalog::Removal& removal) {
  const std::string& clone = removal.volume_name;
  if (!volume_.exists(clone)) return true;
  auto older = [&](const std::string& parent, std::string_view than) {
    return fail(Code::corrupt,
                fmt::format("the files in {} are recorded as what an unfinished split or merge of "
                            "{} left, but {}: the catalog is older than they are. Nothing was "
                            "removed. Restore {} from a newer copy",
                            volume_.place(clone), volume_.place(parent), than,
                            volume_.place(catalog::kCatalogVolumeName)));
  };
  auto cannot_tell = [&](const Error& error) {
    log::warn("cannot tell whether what a split or merge left may go; it stays",
              {{"name", clone}, {"error", error.message}});
    return false;
  };
  uint64_t parents_lsn = 0;
  for (const auto& of : {removal.clone_of, removal.and_of}) {
    if (!of) continue;
    if (!is_named(of->parent)) return true;
    if (!volume_.exists(of->parent)) return older(of->parent, "that is not there any more");
    // Claiming the parent also ends what a deposed process could still make of it.
    auto lsn = partition::Partition::stored_lsn(shared_, volume_, of->parent);
    if (!lsn) return cannot_tell(lsn.error());
    parents_lsn = std::max(parents_lsn, *lsn);
  }
  auto clone_lsn = partition::Partition::stored_lsn(shared_, volume_, clone);
  if (!clone_lsn) return cannot_tell(clone_lsn.error());
  if (*clone_lsn <= parents_lsn) return true;
  return older(removal.clone_of->parent,
               fmt::format("they have writes up to {} and what they were made of has writes up to "
                           "{}",
                           *clone_lsn, parents_lsn));
}

Status FileRemover::settle() {
  auto names = volume_.list();
  if (!names) return pass(names.error());
  if (auto known = check_all_are_known(*names); !known) return known;
  std::vector<std::string> going;
  for (const catalog::Removal& removal : catalog_.removals()) {
    if (removal.clone_of) {
      auto may_go = may_clone_go(removal);
      if (!may_go) return pass(may_go.error());
      if (!*may_go) continue;
    }
    going.push_back(removal.volume_name);
  }
  // Only now: all or nothing of the above.
  std::vector<std::string> gone;
  for (const std::string& name : going) {
    const bool there = std::ranges::binary_search(*names, name);
    if (auto removed = volume_.remove(name, shared_.clock.now_s()); !removed) {
      log::warn("cannot remove files; the next start tries again",
                {{"name", name}, {"error", removed.error().message}});
      continue;
    }
    gone.push_back(name);
    if (!there) continue;
    log::warn("removed files that a split, a merge or a deletion left when the server ended",
              {{"name", name}, {"kept_s", shared_.limits.removed_files_age_s}});
  }
  forget_removals(gone);
  return {};
}

Status FileRemover::settle_among_nodes() {
  auto names = volume_.list();
  if (!names) return pass(names.error());
  if (auto known = check_all_are_known(*names); !known) return known;
  remove_left_behind();
  return {};
}

void FileRemover::remove_left_behind() {
  std::vector<std::string> gone;
  for (const catalog::Removal& removal : catalog_.removals()) {
    const std::string& name = removal.volume_name;
    if (stop_.is_set()) break;
    if (removal.clone_of && is_named(removal.clone_of->parent)) continue;
    if (volume_.exists(name)) {
      // Whoever has it removes it, when nobody reads it any more.
      if (auto claim = volume_.claim(name); !claim) continue;
      if (auto removed = volume_.remove(name, shared_.clock.now_s()); !removed) {
        log::warn("cannot remove a partition's files; it is tried again",
                  {{"name", name}, {"error", removed.error().message}});
        continue;
      }
      log::info("removed files that a node left", {{"name", name}});
    }
    gone.push_back(name);
  }
  forget_removals(gone);
}

void FileRemover::forget_removals(const std::vector<std::string>& volume_names) {
  if (volume_names.empty()) return;
  Status forgotten = fault::point("removal.moved");
  if (forgotten) forgotten = catalog_.forget_removals(volume_names);
  if (forgotten) return;
  log::warn("cannot note that files were removed; the next start does",
            {{"error", forgotten.error().message}});
}

void FileRemover::retire(std::shared_ptr<partition::Partition> partition,
                         const std::string& volume_name) noexcept {
  persist("retiring a partition", [&] {
    Retired one{.partition = nullptr, .volume_name = volume_name};
    const MutexLock lock(mutex_);
    retired_.reserve(retired_.size() + 1);
    one.partition = std::move(partition);  // only now that nothing can fail any more
    retired_.push_back(std::move(one));
  });
  bell_.ring();
}

void FileRemover::remove_retired() {
  std::vector<Retired> ready;
  {
    MutexLock lock(mutex_);
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
    if (auto removed = volume_.remove(one.volume_name, shared_.clock.now_s()); !removed) {
      log::warn("cannot remove a partition's files; the next start tries again",
                {{"name", one.volume_name}, {"error", removed.error().message}});
      continue;
    }
    gone.push_back(std::move(one.volume_name));
  }
  forget_removals(gone);
}

void FileRemover::delete_old() {
  const int64_t old_s =
      shared_.clock.now_s() - static_cast<int64_t>(shared_.limits.removed_files_age_s);
  while (!stop_.is_set()) {
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
