// Merges of partitions, as changes of a container's map: the reverse of catalog_splits.cc. See
// catalog.h.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "catalog/catalog.h"
#include "catalog/codec.h"

namespace orrery::catalog {
namespace {

using Ranges = std::vector<PartitionRange>;

// The place of the left one, when the two are neighbours in that order.
Result<size_t> find_neighbours(const Container& container, uint32_t left, uint32_t right) {
  const Ranges& ranges = container.map->ranges;
  for (const uint32_t id : {left, right}) {
    if (std::ranges::find(ranges, id, &PartitionRange::id) != ranges.end()) continue;
    return fail(Code::not_found,
                fmt::format("container '{}' has no range {}", container.spec.name, id));
  }
  const auto found = std::ranges::find(ranges, left, &PartitionRange::id);
  const auto next = std::next(found);
  if (next == ranges.end() || next->id != right) {
    return fail(Code::conflict, fmt::format("ranges {} and {} are not neighbours, or not in this "
                                            "order",
                                            left, right));
  }
  return static_cast<size_t>(found - ranges.begin());
}

// Of both, once each, in the order of their ids, which is that of their ages.
std::vector<uint32_t> ancestors_of(const PartitionRange& left, const PartitionRange& right) {
  std::vector<uint32_t> all;
  for (const PartitionRange* parent : {&left, &right}) {
    all.insert(all.end(), parent->parents.begin(), parent->parents.end());
    all.push_back(parent->id);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  if (all.size() > PartitionRange::kParentsMax) {
    all.erase(all.begin(), all.end() - PartitionRange::kParentsMax);
  }
  return all;
}

void unite(PartitionMap& map, size_t at, const IntendedMerge& merged, const MergeReason& why) {
  const PartitionRange left = map.ranges[at];
  const PartitionRange right = map.ranges[at + 1];
  ++map.version;
  map.merges.push_back({.why = why,
                        .left = left.id,
                        .right = right.id,
                        .child = merged.id,
                        .min = left.min,
                        .cut = right.min,
                        .max = right.max});
  if (map.merges.size() > PartitionMap::kSplitsMax) map.merges.erase(map.merges.begin());
  map.ranges[at] = {.id = merged.id,
                    .min = left.min,
                    .max = right.max,
                    .parents = ancestors_of(left, right),
                    .volume_name = merged.name};
  map.ranges.erase(map.ranges.begin() + static_cast<int64_t>(at) + 1);
}

}  // namespace

std::optional<PartitionMap::Bounds> PartitionMap::bounds_of(uint32_t id) const {
  if (const auto range = std::ranges::find(ranges, id, &PartitionRange::id);
      range != ranges.end()) {
    return Bounds{range->min, range->max};
  }
  for (const PastMerge& one : merges) {
    if (one.left == id) return Bounds{one.min, one.cut};
    if (one.right == id) return Bounds{one.cut, one.max};
  }
  // Children have larger ids than their parent, so this ends.
  for (const PastSplit& one : splits) {
    if (one.parent != id || one.left <= id || one.right <= id) continue;
    auto left = bounds_of(one.left);
    auto right = left ? bounds_of(one.right) : std::nullopt;
    if (!right) break;
    return Bounds{std::move(left->min), std::move(right->max)};
  }
  return std::nullopt;
}

bool PartitionMap::has_or_had(uint32_t id) const {
  return std::ranges::any_of(ranges, [id](const PartitionRange& range) {
    return range.id == id || std::ranges::find(range.parents, id) != range.parents.end();
  });
}

Result<ContainerPtr> Catalog::merge_empty(uint32_t number, uint32_t left, uint32_t right,
                                          const MergeReason& why) {
  const MutexLock change(change_mutex_);
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  auto at = find_neighbours(*before, left, right);
  if (!at) return pass(at.error());
  PartitionMap map = *before->map;
  for (const PartitionRange* one : {&map.ranges[*at], &map.ranges[*at + 1]}) {
    if (!has_files(*one)) continue;
    return fail(Code::conflict, fmt::format("range {} is not empty any more", one->id));
  }
  IntendedMerge merged{.id = map.next_id++, .name = {}};
  merged.name = fmt::format("c{}-p{}", number, merged.id);
  unite(map, *at, merged, why);
  return replace_map(*before, std::move(map), {});
}

Result<IntendedMerge> Catalog::intend_merge_here(uint32_t number, const MergedRanges& ranges,
                                                 uint64_t attempt) {
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  auto at = find_neighbours(*before, ranges.left, ranges.right);
  if (!at) return pass(at.error());
  const PartitionRange& left = before->map->ranges[*at];
  const PartitionRange& right = before->map->ranges[*at + 1];
  Container after = *before;
  auto map = std::make_shared<PartitionMap>(*before->map);
  IntendedMerge merged{.id = map->next_id++, .name = {}};
  merged.name = fmt::format("c{}-p{}-e{}-{}", number, merged.id, ranges.left_epoch, attempt);
  after.map = std::move(map);
  const Removal intended{
      .volume_name = merged.name,
      .clone_of = Removal::Clone{.parent = left.volume_name, .epoch = ranges.left_epoch},
      .and_of = Removal::Clone{.parent = right.volume_name, .epoch = ranges.right_epoch}};
  std::vector<partition::Write> writes;
  writes.push_back(put(kRemovals, merged.name, encode(intended)));
  // Nobody sees a change by that: the revision stays.
  if (auto stored = store(after, std::move(writes)); !stored) return pass(stored.error());
  return merged;
}

Result<ContainerPtr> Catalog::publish_merge_here(uint32_t number, uint32_t left, uint32_t right,
                                                 const IntendedMerge& merged,
                                                 const MergeReason& why) {
  const ContainerPtr before = container(number);
  if (!before) return fail(Code::not_found, "the container is not there");
  // It was published, and the answer got lost: as in publish_split_here().
  if (before->map->has_or_had(merged.id)) return before;
  auto at = find_neighbours(*before, left, right);
  if (!at) return pass(at.error());
  PartitionMap map = *before->map;
  const std::optional<Removal> intended = removal(merged.name);
  if (!intended || !intended->clone_of || !intended->and_of ||
      intended->clone_of->parent != map.ranges[*at].volume_name ||
      intended->and_of->parent != map.ranges[*at + 1].volume_name) {
    return fail(Code::conflict,
                fmt::format("the merge that made {} was given up meanwhile", merged.name));
  }
  std::vector<partition::Write> writes;
  writes.push_back(put(kFiles, merged.name, "{}"));
  writes.push_back(remove(kRemovals, merged.name));
  unite(map, *at, merged, why);
  return replace_map(*before, std::move(map), std::move(writes));
}

}  // namespace orrery::catalog
