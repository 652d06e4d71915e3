// Splits of partitions, as changes of a container's map. See catalog.h.
//
// Ids and names of the children are given by the intent, so that several partitions of a container
// can be split at the same time, by several nodes: each split replaces one range of whatever map
// there is by then.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "catalog/catalog.h"
#include "catalog/codec.h"

namespace orrery::catalog {
namespace {

using Ranges = std::vector<PartitionRange>;

std::unexpected<Error> no_range(const Container& container, uint32_t range) {
  return fail(Code::not_found,
              fmt::format("container '{}' has no range {}", container.spec.name, range));
}

// Replaces a range by its two halves.
void divide(PartitionMap& map, Ranges::iterator parent, const std::string& cut,
            const IntendedClones& clones, const SplitReason& why) {
  ++map.version;
  map.splits.push_back(
      {.why = why, .parent = parent->id, .left = clones.left, .right = clones.right});
  if (map.splits.size() > PartitionMap::kSplitsMax) map.splits.erase(map.splits.begin());
  PartitionRange left = *parent;
  left.parents.push_back(parent->id);
  if (left.parents.size() > PartitionRange::kParentsMax) left.parents.erase(left.parents.begin());
  PartitionRange right = left;
  left.id = clones.left;
  left.max = cut;
  left.volume_name = clones.left_name;
  right.id = clones.right;
  right.min = cut;
  right.volume_name = clones.right_name;
  *parent = std::move(left);
  map.ranges.insert(parent + 1, std::move(right));
}

IntendedClones next_clones(const Container& container, PartitionMap& map, std::string_view suffix) {
  IntendedClones clones;
  clones.left = map.next_id++;
  clones.right = map.next_id++;
  clones.left_name = fmt::format("c{}-p{}{}", container.number, clones.left, suffix);
  clones.right_name = fmt::format("c{}-p{}{}", container.number, clones.right, suffix);
  return clones;
}

}  // namespace

Result<ContainerPtr> Catalog::replace_map(const Container& before, PartitionMap map,
                                          std::vector<partition::Write> writes) {
  retire(*before.map, &map, writes);
  auto change = [&map](Container& changed) -> Status {
    // Whoever has it divided, by hand or by what it stores, does not want it to shrink.
    if (map.ranges.size() > changed.map->ranges.size()) changed.shrinks = false;
    changed.map = std::make_shared<const PartitionMap>(std::move(map));
    return {};
  };
  return update(before, change, std::move(writes));
}

Result<ContainerPtr> Catalog::split_empty(uint32_t number, uint32_t range, const std::string& cut,
                                          const SplitReason& why) {
  const MutexLock change(change_mutex_);
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  PartitionMap map = *before->map;
  const auto parent = std::ranges::find(map.ranges, range, &PartitionRange::id);
  if (parent == map.ranges.end()) return no_range(*before, range);
  if (has_files(*parent)) {
    return fail(Code::conflict, fmt::format("range {} is not empty any more", range));
  }
  const IntendedClones halves = next_clones(*before, map, "");
  divide(map, parent, cut, halves, why);
  return replace_map(*before, std::move(map), {});
}

Result<IntendedClones> Catalog::intend_split_here(uint32_t number, uint32_t range, uint64_t epoch,
                                                  uint64_t attempt) {
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  const auto parent = std::ranges::find(before->map->ranges, range, &PartitionRange::id);
  if (parent == before->map->ranges.end()) return no_range(*before, range);
  Container after = *before;
  auto map = std::make_shared<PartitionMap>(*before->map);
  IntendedClones clones = next_clones(*before, *map, fmt::format("-e{}-{}", epoch, attempt));
  after.map = std::move(map);
  std::vector<partition::Write> writes;
  for (const std::string& name : {clones.left_name, clones.right_name}) {
    const Removal intended{
        .volume_name = name,
        .clone_of = Removal::Clone{.parent = parent->volume_name, .epoch = epoch}};
    writes.push_back(put(kRemovals, name, encode(intended)));
  }
  // Nobody sees a change by that: the revision stays.
  if (auto stored = store(after, std::move(writes)); !stored) return pass(stored.error());
  return clones;
}

Result<ContainerPtr> Catalog::publish_split_here(uint32_t number, uint32_t range,
                                                 const std::string& cut,
                                                 const IntendedClones& clones,
                                                 const SplitReason& why) {
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  PartitionMap map = *before->map;
  // It was published, and the answer got lost. Other nodes may have split the children since: told
  // that it was not, the splitter would take writes to the parent, and remove the children's files.
  if (map.has_or_had(clones.left)) return before;
  const auto parent = std::ranges::find(map.ranges, range, &PartitionRange::id);
  if (parent == map.ranges.end()) return no_range(*before, range);
  std::vector<partition::Write> writes;
  for (const std::string& name : {clones.left_name, clones.right_name}) {
    const std::optional<Removal> intended = removal(name);
    if (!intended || !intended->clone_of || intended->clone_of->parent != parent->volume_name) {
      return fail(Code::conflict,
                  fmt::format("the split that made {} was given up meanwhile", name));
    }
    writes.push_back(put(kFiles, name, "{}"));
    writes.push_back(remove(kRemovals, name));
  }
  divide(map, parent, cut, clones, why);
  return replace_map(*before, std::move(map), std::move(writes));
}

}  // namespace orrery::catalog
