// See unique_index.h.
#include "api/mongo/collections/unique_index.h"

#include <algorithm>
#include <utility>

#include "api/mongo/collections/document_codec.h"
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

std::string unique_condition_of(const IndexSpec& index) {
  const Value filter = condition_of(index);
  return filter.is_object() ? condition_text(filter) : std::string();
}

std::optional<size_t> unique_key_of(const catalog::ContainerSpec& spec, const IndexSpec& index) {
  const auto paths = unique_paths(index);
  const std::string condition = unique_condition_of(index);
  for (size_t i = 0; i < spec.unique_keys.size(); ++i) {
    if (spec.unique_keys[i] == paths && catalog::unique_condition(spec, i) == condition) return i;
  }
  return std::nullopt;
}

void set_unique_keys(catalog::ContainerSpec& spec, const Definition& definition) {
  std::vector<bool> is_wanted(spec.unique_keys.size());
  std::vector<const IndexSpec*> missing;
  for (const IndexSpec& index : definition.indexes) {
    if (!is_unique(index)) continue;
    const auto key = unique_key_of(spec, index);
    if (key) is_wanted[*key] = true;
    if (!key) missing.push_back(&index);
  }
  for (size_t i = 0; i < is_wanted.size(); ++i) {
    auto& key = spec.unique_keys[i];
    if (!is_wanted[i] && !partition::is_retired(key)) key = partition::retired(key);
  }
  for (const IndexSpec* index : missing) {
    if (unique_key_of(spec, *index)) continue;
    spec.unique_keys.push_back(unique_paths(*index));
    const std::string condition = unique_condition_of(*index);
    if (condition.empty()) continue;
    spec.unique_conditions.resize(spec.unique_keys.size());
    spec.unique_conditions.back() = condition;
  }
}

}  // namespace orrery::mongo
