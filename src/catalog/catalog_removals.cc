// Files that are to be removed. See catalog.h.
//
// A removal is durable before files can exist that no map names. For a split, the intent is
// recorded before the clones are made; otherwise the removal is in the commit that takes the range
// out of its map. It is forgotten once the files are gone. So files that neither a map nor a
// removal names do not belong to this catalog, and nobody removes them.
#include <mutex>

#include "catalog/catalog.h"
#include "catalog/codec.h"

namespace orrery::catalog {

std::vector<Removal> Catalog::removals() const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<Removal> all;
  all.reserve(removals_.size());
  for (const auto& [name, removal] : removals_) all.push_back(removal);
  return all;
}

bool Catalog::has_removal(std::string_view volume_name) const {
  std::shared_lock lock(lookup_mutex_);
  return removals_.contains(volume_name);
}

void Catalog::insert(std::vector<Removal> removals) {
  std::unique_lock lock(lookup_mutex_);
  for (Removal& removal : removals) {
    std::string name = removal.volume_name;
    removals_.insert_or_assign(std::move(name), std::move(removal));
  }
}

void Catalog::erase_removals(const std::vector<std::string>& volume_names) {
  std::unique_lock lock(lookup_mutex_);
  for (const std::string& name : volume_names) removals_.erase(name);
}

partition::Write Catalog::put(const Removal& removal) const {
  partition::Write write = put(kRemovals, 0, encode(removal));
  write.row = removal.volume_name;
  return write;
}

partition::Write Catalog::remove_removal(std::string_view volume_name) const {
  partition::Write write = remove(kRemovals, 0);
  write.row = volume_name;
  return write;
}

Status Catalog::intend_split(const PartitionRange& parent, uint64_t epoch,
                             const std::vector<std::string>& clones) {
  MutexLock change(change_mutex_);
  std::vector<Removal> intended;
  std::vector<partition::Write> writes;
  for (const std::string& name : clones) {
    intended.push_back({.volume_name = name,
                        .clone_of = Removal::Clone{.parent = parent.volume_name, .epoch = epoch}});
    writes.push_back(put(intended.back()));
  }
  if (auto committed = commit(std::move(writes)); !committed) return committed;
  insert(std::move(intended));
  return {};
}

Status Catalog::forget_removals(const std::vector<std::string>& volume_names) {
  MutexLock change(change_mutex_);
  std::vector<partition::Write> writes;
  for (const std::string& name : volume_names) {
    if (has_removal(name)) writes.push_back(remove_removal(name));
  }
  if (writes.empty()) return {};
  if (auto committed = commit(std::move(writes)); !committed) return committed;
  erase_removals(volume_names);
  return {};
}

}  // namespace orrery::catalog
