// See sort_key.h.
#include "api/mongo/expression/sort_key.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/expression/expression.h"

namespace orrery::mongo {
namespace {

constexpr size_t kMaxParts = 32;

// All values at the path, arrays on the way and at its end taken apart.
void gather(const Value& from, const std::vector<std::string>& steps, size_t at,
            std::vector<Value>& found) {
  if (at == steps.size()) {
    if (!from.is_array()) {
      found.push_back(from.is_undefined() ? Value::make_null() : from);
      return;
    }
    for (const Value& element : from.elements()) found.push_back(element);
    // An empty array is before null.
    if (from.size() == 0) found.emplace_back();
    return;
  }
  if (from.is_object()) return gather(from.find(steps[at]), steps, at + 1, found);
  if (!from.is_array()) {
    found.push_back(Value::make_null());
    return;
  }
  const std::string& step = steps[at];
  if (!step.empty() && std::ranges::all_of(step, [](char c) { return c >= '0' && c <= '9'; }) &&
      step.size() < 9) {
    const Value element = from.at(static_cast<size_t>(std::stoul(step)));
    if (!element.is_undefined()) gather(element, steps, at + 1, found);
  }
  for (const Value& element : from.elements()) {
    if (element.is_object()) gather(element, steps, at, found);
  }
  if (found.empty()) found.push_back(Value::make_null());
}

}  // namespace

Answer<SortKey> SortKey::parse(const Value& spec) {
  if (!spec.is_object()) {
    return refuse(15973, fmt::format("the $sort key specification must be an object, not {}",
                                     type_name(spec)));
  }
  if (spec.size() == 0) return refuse(15976, "$sort stage must have at least one sort key");
  if (spec.size() > kMaxParts) {
    return refuse(13103, fmt::format("a sort may have {} keys at most", kMaxParts));
  }
  SortKey key;
  for (const auto& [path, direction] : spec.members()) {
    if (direction.is_object()) {
      return refuse(17312, fmt::format("$meta is the only expression supported by $sort right now: "
                                       "{}",
                                       shown(direction)));
    }
    const auto number = exact_integer(direction);
    if (!direction.is_number()) {
      return refuse(
          15974, fmt::format("Illegal key in $sort specification: {}: {}", path, shown(direction)));
    }
    if (!number || (*number != 1 && *number != -1)) {
      return refuse(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
    }
    auto steps = parse_path(path);
    if (!steps) return pass(std::move(steps.error()));
    key.parts_.push_back(
        {.path = std::string(path), .steps = std::move(*steps), .is_descending = *number < 0});
  }
  return key;
}

std::vector<Value> SortKey::of(const Value& document, const Collation* collation) const {
  std::vector<Value> key;
  key.reserve(parts_.size());
  std::vector<Value> found;
  for (const Part& part : parts_) {
    // The usual case: a scalar of the document itself.
    if (part.steps.size() == 1) {
      Value value = document.find(part.steps[0]);
      if (!value.is_array()) {
        key.push_back(value.is_undefined() ? Value::make_null() : std::move(value));
        continue;
      }
    }
    found.clear();
    gather(document, part.steps, 0, found);
    const auto less = [&](const Value& a, const Value& b) {
      return mongo::compare(a, b, collation) < 0;
    };
    key.push_back(part.is_descending ? *std::ranges::max_element(found, less)
                                     : *std::ranges::min_element(found, less));
  }
  return key;
}

std::strong_ordering SortKey::compare(const std::vector<Value>& a, const std::vector<Value>& b,
                                      const Collation* collation) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto order = mongo::compare(a[i], b[i], collation);
    if (order != 0) return parts_[i].is_descending ? 0 <=> order : order;
  }
  return std::strong_ordering::equal;
}

}  // namespace orrery::mongo
