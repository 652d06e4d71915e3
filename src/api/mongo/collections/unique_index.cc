// See unique_index.h.
#include "api/mongo/collections/unique_index.h"

#include <algorithm>
#include <utility>

#include "partition/prepared_terms.h"

namespace orrery::mongo {

using value::Value;

bool is_unique(const IndexSpec& index) {
  const Value unique = index.spec.find("unique");
  return unique.is_true() || (unique.is_number() && unique.number() != 0);
}

std::vector<value::Path> unique_paths(const IndexSpec& index) {
  std::vector<value::Path> paths;
  for (const Value::Member& member : index.key.members()) paths.push_back(path_of(member.name));
  return paths;
}

std::optional<size_t> unique_key_of(const catalog::ContainerSpec& spec, const IndexSpec& index) {
  const auto found = std::ranges::find(spec.unique_keys, unique_paths(index));
  if (found == spec.unique_keys.end()) return std::nullopt;
  return static_cast<size_t>(found - spec.unique_keys.begin());
}

void set_unique_keys(catalog::ContainerSpec& spec, const Definition& definition) {
  std::vector<std::vector<value::Path>> wanted;
  for (const IndexSpec& index : definition.indexes) {
    if (is_unique(index)) wanted.push_back(unique_paths(index));
  }
  for (auto& key : spec.unique_keys) {
    if (partition::is_retired(key)) continue;
    if (std::ranges::find(wanted, key) == wanted.end()) key = partition::retired(key);
  }
  for (auto& key : wanted) {
    const bool is_there = std::ranges::find(spec.unique_keys, key) != spec.unique_keys.end();
    if (!is_there) spec.unique_keys.push_back(std::move(key));
  }
}

}  // namespace orrery::mongo
