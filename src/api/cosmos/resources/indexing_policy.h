// The indexing policy of a container: from what a client sends to the engine's rules, and to the
// form that a read returns (with the defaults written out, as the vendor does).
//
// The default policy indexes everything but the etag. `/*` must be among the included or the
// excluded paths as soon as either is given, and no path may be in both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/json.h"
#include "value/terms.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxIndexPaths = 1024;
inline constexpr size_t kMaxCompositeIndexes = 100;
inline constexpr size_t kMaxCompositePaths = 8;

struct VectorIndex {
  std::string path;
  std::string_view type;  // flat, quantizedFlat or diskANN
};

struct IndexingPolicy {
  bool indexed = true;
  std::vector<value::IndexRule> rules;
  std::vector<value::CompositeIndex> composites;
  std::vector<value::IndexPath> spatial;
  std::string json;

  // What other policies of the container must agree with.
  std::vector<VectorIndex> vector_indexes;
  std::vector<std::string> full_text_paths;
  bool all_spatial_indexes_are_boxed = true;  // each has a boundingBox
  bool any_spatial_index_is_boxed = false;
};

// What happens to the member `indexes` of a path (kind, data type, precision), which has no effect
// any more. Only clients of a protocol before 2018-12-31 expect it back.
enum class OldIndexes : uint8_t { dropped, kept };
OldIndexes old_indexes_of(std::string_view protocol_version);

// `policy` is the value of indexingPolicy, or null for the default.
Result<IndexingPolicy> parse_indexing_policy(const value::Node* policy,
                                             OldIndexes old_indexes = OldIndexes::dropped);

}  // namespace orrery::cosmos
