// See prepared_terms.h.
#include "partition/prepared_terms.h"

#include <algorithm>

#include "base/hash.h"
#include "partition/partition.h"
#include "value/path.h"
#include "value/term_value.h"

namespace orrery::partition {
namespace {

std::string unique_value(const value::Node& item, const std::vector<value::Path>& paths,
                         value::ValueOrder order) {
  std::string out;
  value::Node missing;
  missing.type = value::Type::null;
  for (const value::Path& path : paths) {
    if (path.steps.empty()) continue;  // of a retired key
    const value::Node* node = value::find(item, path);
    if (node == nullptr || node->type == value::Type::undefined) node = &missing;
    const size_t at = out.size();
    value::append_term_value(out, *node, order);
    // Of these a term has nothing, or a hash of a kind that another value can be made to have.
    const bool is_list = node->type == value::Type::array || node->type == value::Type::object;
    if (is_list || value::is_cut_term_value(std::string_view(out).substr(at))) {
      const auto digest = sha256(is_list ? node->raw : node->text);
      out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
    }
  }
  return out;
}

}  // namespace

UniqueValues unique_values(const value::Node& item, const Schema& schema) {
  UniqueValues values(schema.unique_keys.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const value::Condition* const condition =
        i < schema.unique_conditions.size() ? schema.unique_conditions[i].get() : nullptr;
    if (condition != nullptr && !condition->holds(item)) continue;
    values[i] = unique_value(item, schema.unique_keys[i], schema.index.definition().order);
  }
  return values;
}

std::vector<value::Path> retired(const std::vector<value::Path>& unique_key) {
  std::vector<value::Path> paths = {value::Path()};
  paths.insert(paths.end(), unique_key.begin(), unique_key.end());
  return paths;
}

bool is_retired(const std::vector<value::Path>& unique_key) {
  return !unique_key.empty() && unique_key.front().steps.empty();
}

std::shared_ptr<const PreparedTerms> PreparedTerms::make(const value::Node& body,
                                                         const Schema& schema,
                                                         const Finisher* finisher) {
  if (!schema.indexed && schema.unique_keys.empty()) return nullptr;
  const auto added =
      finisher == nullptr ? std::span<const std::string_view>() : finisher->added_names();
  // A condition may be on the members that come.
  if (!added.empty() && !schema.unique_conditions.empty()) return nullptr;
  for (const auto& paths : schema.unique_keys) {
    for (const value::Path& path : paths) {
      if (path.steps.empty()) continue;
      if (std::ranges::find(added, path.steps.front().name) != added.end()) return nullptr;
    }
  }
  auto made = std::make_shared<PreparedTerms>();
  made->index_version = schema.index_version;
  if (schema.indexed) {
    auto draft = TermDraft::make(body, schema.index, added, kPreparedTermsMax);
    if (!draft) return nullptr;
    made->draft = std::move(*draft);
  }
  made->unique_values = partition::unique_values(body, schema);
  return made;
}

}  // namespace orrery::partition
