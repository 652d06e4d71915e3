// See filter_fields.h.
#include "api/mongo/match/filter_fields.h"

#include <algorithm>

#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

bool add_fields(const Value& filter, std::vector<std::string>& names, int depth) {
  if (depth > kMaxNesting) return false;
  for (const auto& [name, operand] : filter.members()) {
    if (!name.starts_with('$')) {
      add_field(name, names);
      continue;
    }
    if (name == "$comment") continue;
    if (name != "$and" && name != "$or" && name != "$nor") return false;
    for (const Value& clause : operand.elements()) {
      if (!add_fields(clause, names, depth + 1)) return false;
    }
  }
  return true;
}

}  // namespace

void add_field(std::string_view path, std::vector<std::string>& names) {
  const std::string_view first = path.substr(0, path.find('.'));
  if (std::ranges::find(names, first) == names.end()) names.emplace_back(first);
}

bool add_filter_fields(const Value& filter, std::vector<std::string>& names) {
  return add_fields(filter, names, 0);
}

}  // namespace orrery::mongo
