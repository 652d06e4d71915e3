// Which partitions have files. See catalog.h.
//
// A note is written after a partition's files are durable and before its first write is
// acknowledged. It is deleted in the commit that removes its range from the map. So a note without
// files means data loss. Files without a note have no acknowledged writes, unless an earlier
// version of the program, which had no notes, made them. Notes are read when a partition is opened,
// and not kept in memory.
#include <fmt/format.h>

#include <algorithm>

#include "catalog/catalog.h"

namespace orrery::catalog {
namespace {

constexpr std::string_view kFiles = "files";

bool has_range(const PartitionMap& map, uint32_t id) {
  return std::ranges::find(map.ranges, id, &PartitionRange::id) != map.ranges.end();
}

}  // namespace

Result<std::vector<Removal>> Catalog::retire(const PartitionMap& map, const PartitionMap* next,
                                             std::vector<partition::Write>& writes) const {
  std::vector<Removal> removals;
  for (const PartitionRange& range : map.ranges) {
    if (next != nullptr && has_range(*next, range.id)) continue;
    auto noted = has_files(range);
    if (!noted) return pass(noted.error());
    if (*noted) writes.push_back(file_note(partition::Verb::remove, range));
    // Also without a note: files may be there that nothing was acknowledged in.
    removals.push_back({.volume_name = range.volume_name, .clone_of = {}});
    writes.push_back(put(removals.back()));
  }
  return removals;
}

Result<bool> Catalog::has_files(const PartitionRange& range) const {
  auto note = partition_->read(kFiles, range.volume_name);
  if (!note) return pass(note.error());
  return note->has_value();
}

Status Catalog::note_files(uint32_t number, const PartitionRange& range) {
  MutexLock serial(change_mutex_);
  const ContainerPtr owner = container(number);
  if (!owner || !has_range(*owner->map, range.id)) return {};
  std::vector<partition::Write> writes;
  writes.push_back(file_note(partition::Verb::upsert, range));
  return commit(std::move(writes));
}

partition::Write Catalog::file_note(partition::Verb verb, const PartitionRange& range) const {
  partition::Write write = put(kFiles, 0, verb == partition::Verb::remove ? "" : "{}");
  write.verb = verb;
  write.row = range.volume_name;
  return write;
}

Result<ContainerPtr> Catalog::replace_map(uint32_t number, PartitionMap map, NewRanges have) {
  MutexLock serial(change_mutex_);
  ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  std::vector<partition::Write> writes;
  auto removals = retire(*before->map, &map, writes);
  if (!removals) return pass(removals.error());
  std::vector<std::string> published;
  for (const PartitionRange& range : map.ranges) {
    if (have == NewRanges::without_files || has_range(*before->map, range.id)) continue;
    if (!has_removal(range.volume_name)) {
      return fail(Code::conflict,
                  fmt::format("the split that made {} was given up meanwhile", range.volume_name));
    }
    writes.push_back(file_note(partition::Verb::upsert, range));
    writes.push_back(remove_removal(range.volume_name));
    published.push_back(range.volume_name);
  }
  auto change = [&map](Container& changed) -> Status {
    changed.map = std::make_shared<const PartitionMap>(std::move(map));
    return {};
  };
  auto updated = update(*before, change, std::move(writes));
  if (!updated) return updated;
  insert(std::move(*removals));
  erase_removals(published);
  return updated;
}

}  // namespace orrery::catalog
