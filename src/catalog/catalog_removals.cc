// Files that are to be removed. See catalog.h.
//
// A removal is durable before files can exist that no map names. For a split, the intent is
// recorded before the clones are made; otherwise the removal is in the commit that takes the range
// out of its map. It is forgotten once the files are gone. So files that neither a map nor a
// removal names do not belong to this catalog, and nobody removes them.
#include <mutex>

#include "catalog/catalog.h"

namespace orrery::catalog {

std::vector<Removal> Catalog::removals() const {
  std::shared_lock lock(lookup_mutex_);
  std::vector<Removal> all;
  all.reserve(tables_.removals.size());
  for (const auto& [name, removal] : tables_.removals) all.push_back(removal);
  return all;
}

std::optional<Removal> Catalog::removal(std::string_view volume_name) const {
  std::shared_lock lock(lookup_mutex_);
  const auto found = tables_.removals.find(volume_name);
  return found == tables_.removals.end() ? std::nullopt : std::optional(found->second);
}

Status Catalog::forget_removals_here(const std::vector<std::string>& volume_names) {
  std::vector<partition::Write> writes;
  for (const std::string& name : volume_names) {
    if (removal(name)) writes.push_back(remove(kRemovals, name));
  }
  return writes.empty() ? Status() : commit(std::move(writes));
}

}  // namespace orrery::catalog
