// Which partitions have files. See catalog.h.
//
// A note is written after a partition's files are durable and before its first write is
// acknowledged. It is deleted in the commit that removes its range from the map. So a note without
// files means data loss. Files without a note have no acknowledged writes, unless an earlier
// version of the program, which had no notes, made them.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/codec.h"

namespace orrery::catalog {
namespace {

bool has_range(const PartitionMap& map, uint32_t id) {
  return std::ranges::find(map.ranges, id, &PartitionRange::id) != map.ranges.end();
}

}  // namespace

void Catalog::retire(const PartitionMap& map, const PartitionMap* next,
                     std::vector<partition::Write>& writes) const {
  for (const PartitionRange& range : map.ranges) {
    if (next != nullptr && has_range(*next, range.id)) continue;
    if (has_files(range)) writes.push_back(remove(kFiles, range.volume_name));
    // Also without a note: files may be there that nothing was acknowledged in.
    writes.push_back(
        put(kRemovals, range.volume_name, encode(Removal{.volume_name = range.volume_name})));
  }
}

bool Catalog::has_files(const PartitionRange& range) const {
  std::shared_lock lock(lookup_mutex_);
  return tables_.files.contains(range.volume_name);
}

Result<CatalogExport> Catalog::begin_export() {
  const MutexLock change(change_mutex_);
  if (auto checked = check_owner(); !checked) return pass(checked.error());
  auto files = partition_->begin_export();
  if (!files) return pass(files.error());
  CatalogExport made{.files = std::move(*files), .ranges = {}};
  for (const ContainerPtr& one : all_containers()) {
    for (const PartitionRange& range : one->map->ranges) {
      made.ranges.push_back({.container = one->number,
                             .range = range.id,
                             .volume_name = range.volume_name,
                             .has_files = has_files(range),
                             .index_version = one->index_version,
                             .indexed_version = one->indexed_version});
    }
  }
  return made;
}

Status Catalog::note_opened_here(uint32_t number, const PartitionRange& range, uint64_t epoch) {
  const ContainerPtr owner = container(number);
  if (!owner || !has_range(*owner->map, range.id)) {
    return fail(Code::moved, "the partition is gone");
  }
  std::vector<partition::Write> writes;
  if (!has_files(range)) writes.push_back(put(kFiles, range.volume_name, "{}"));
  // What a split or merge of an earlier epoch was to publish: it cannot any more.
  for (Removal& one : removals()) {
    const auto is_over = [&](const std::optional<Removal::Clone>& of) {
      return of && of->parent == range.volume_name && of->epoch < epoch;
    };
    if (!is_over(one.clone_of) && !is_over(one.and_of)) continue;
    one.clone_of.reset();
    one.and_of.reset();
    writes.push_back(put(kRemovals, one.volume_name, encode(one)));
  }
  return writes.empty() ? Status() : commit(std::move(writes));
}

}  // namespace orrery::catalog
