// Property paths, as containers name them: /department, /properties/name, /"department name",
// and with array elements and a tail, as index rules do: /tags/[]/?, /address/*, /*.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/json.h"

namespace orrery::value {

struct Path {
  // Property names; an array step is the empty name with `array` set.
  struct Step {
    std::string name;
    bool array = false;
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;
  bool operator==(const Path&) const = default;
};

// A path that names a property: no wildcard, no array step. `/a/b`, `/"a b"`.
Result<Path> parse_property_path(std::string_view text);
std::string to_string(const Path& path);

// The node at a property path, or null when it is not there (undefined).
const Node* find(const Node& root, const Path& path);

// An index rule's path: steps and what it covers.
enum class Tail : uint8_t { value, subtree };  // `/?` and `/*`
struct IndexPath {
  Path path;
  Tail tail = Tail::subtree;
  bool operator==(const IndexPath&) const = default;
};
std::string to_string(const IndexPath& path);
Result<IndexPath> parse_index_path(std::string_view text);

}  // namespace orrery::value
