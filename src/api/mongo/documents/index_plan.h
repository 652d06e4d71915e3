// Which part of an index a filter needs, and which sorts the index gives.
//
// The container's index has one entry for each document and index: the values of all its fields, in
// their order (value/composite.h), null where one is missing. So the documents of a filter that
// fixes the first fields and bounds the next one lie together, in the order of the fields behind.
// That holds where no document has an array on a path of these fields: MongoDB's index has an entry
// for each element then. Whoever reads looks for arrays first (array_terms), and leaves the index
// if there are any.
//
// Pure; any thread may call.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/collections/definition.h"
#include "api/mongo/match/sort.h"
#include "catalog/model.h"
#include "value/composite.h"
#include "value/value.h"

namespace orrery::mongo {

using TermRange = std::pair<std::string, std::string>;  // [from, to)

struct IndexPlan {
  const IndexSpec* index = nullptr;  // belongs to the definition
  std::vector<std::string> paths;    // of its fields
  std::vector<bool> descending;      // likewise
  std::vector<TermRange> ranges;     // of entries, ascending and apart; none: nothing matches
  size_t bounded = 0;                // how many of the first fields the filter bounds
  size_t constant = 0;               // how many of those to one value each
};

// The order of an index, as the container's index has it. Nothing: it has none, as for geometry and
// wildcards.
std::optional<value::CompositeIndex> composite_of(const IndexSpec& index);
// Of all indexes of a collection, without repetitions.
std::vector<value::CompositeIndex> composites_of(const Definition& definition);

// One for each index whose order the container has. `only`: of this index and no other.
std::vector<IndexPlan> index_plans(const Definition& definition, const catalog::ContainerSpec& spec,
                                   const value::Value& filter, const IndexSpec* only);

// Whether the entries of a plan are in the order of a sort: false, or true when from the last one
// to the first. Nothing: neither. `ties_by_id`: entries of equal values are in the order of _id.
std::optional<bool> direction_for(const IndexPlan& plan, const Sort& sort, bool ties_by_id);

// Where entries lie if a document has an array on one of the first `fields` paths of a plan.
std::vector<TermRange> array_terms(const IndexPlan& plan, size_t fields);

// An index that leaves more than this many of so many documents is no help.
uint64_t worthwhile(uint64_t items);

// What a wildcard index is of: all paths below this one, which may be empty. Nothing: it is none,
// or one that leaves paths out or has other fields, which is not used.
std::optional<std::string> wildcard_prefix(const IndexSpec& index);
// The paths that a filter names, of those that the container's index may have below a prefix.
std::vector<std::string> paths_below(const std::string& prefix, const value::Value& filter);

// The paths of the places that the container's index has of the indexes of a collection.
std::vector<value::IndexPath> spatial_paths_of(const Definition& definition);
// Whether it has those of a field.
bool has_places(const catalog::ContainerSpec& spec, std::string_view field);

// A path with and without an array behind each of its steps; behind the last one if `ends`.
std::vector<value::Path> with_arrays(const value::Path& path, bool ends);
// A field of an index whose values the container's index has: not too deep, and without numbers in
// its path, which may be positions in arrays.
bool is_indexable(const value::Value::Member& field);

}  // namespace orrery::mongo
