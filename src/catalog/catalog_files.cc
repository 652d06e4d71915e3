// Which partitions have files. See catalog.h.
//
// A note is made after a partition's files are durable and before its first write is acknowledged,
// and goes in the same commit as the range that it is of. So a note without files is a loss, and
// files without a note hold nothing that was acknowledged, unless they were written before there
// were notes. Notes are read when a partition is opened, and not kept in memory.
#include <algorithm>

#include "catalog/catalog.h"

namespace orrery::catalog {
namespace {

constexpr std::string_view kFiles = "files";

const PartitionRange* find_range(const PartitionMap& map, uint32_t id) {
  auto found = std::ranges::find(map.ranges, id, &PartitionRange::id);
  return found == map.ranges.end() ? nullptr : &*found;
}

}  // namespace

Result<bool> Catalog::has_files(const PartitionRange& range) const {
  auto note = partition_->read(kFiles, range.volume_name);
  if (!note) return pass(note.error());
  return note->has_value();
}

Status Catalog::note_files(uint32_t number, const PartitionRange& range) {
  MutexLock serial(change_mutex_);
  const ContainerPtr owner = container(number);
  if (!owner || find_range(*owner->map, range.id) == nullptr) return {};
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

Status Catalog::remove_file_notes(const PartitionMap& map, const PartitionMap* next,
                                  std::vector<partition::Write>& writes) const {
  for (const PartitionRange& range : map.ranges) {
    if (next != nullptr && find_range(*next, range.id) != nullptr) continue;
    auto noted = has_files(range);
    if (!noted) return pass(noted.error());
    if (*noted) writes.push_back(file_note(partition::Verb::remove, range));
  }
  return {};
}

Result<ContainerPtr> Catalog::replace_map(uint32_t number, PartitionMap map, NewRanges have) {
  MutexLock serial(change_mutex_);
  ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  std::vector<partition::Write> writes;
  if (auto removed = remove_file_notes(*before->map, &map, writes); !removed) {
    return pass(removed.error());
  }
  for (const PartitionRange& range : map.ranges) {
    if (have == NewRanges::with_files && find_range(*before->map, range.id) == nullptr) {
      writes.push_back(file_note(partition::Verb::upsert, range));
    }
  }
  auto change = [&map](Container& changed) -> Status {
    changed.map = std::make_shared<const PartitionMap>(std::move(map));
    return {};
  };
  return update(*before, change, std::move(writes));
}

}  // namespace orrery::catalog
