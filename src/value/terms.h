// Index terms: the keys under which the index finds an item. An item has
//  - one term for each indexed scalar;
//  - one for each array and object below the root, so that the index can answer "is it defined" and
//    "is it an array" (the root is always there and has none);
//  - one for its shape;
//  - one for each composite index;
//  - several for each GeoJSON value with a spatial index; in the typed order for each place, which
//    is on the sphere (geometry.h).
//
//   term   = path value | 04 shape (shape.h) | 05 composite (composite.h) |
//            06 path cell (spatial.h)
//   path   = for each step: a property name as ordered bytes after a 02 byte, or 03 for "an
//            element of an array"; then 01 (so a path sorts before the paths that continue it)
//   value  = as in term_value.h, by the definition's order
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "value/composite.h"
#include "value/json.h"
#include "value/path.h"
#include "value/term_value.h"

namespace orrery::value {

struct IndexRule {
  IndexPath path;
  bool include = true;
  bool operator==(const IndexRule&) const = default;
};

// Which paths are indexed. The most precise rule wins: the longest path, and of two paths of the
// same length `/?` before `/*`. Paths in `always` (the partition key) and composite and spatial
// indexes do not depend on the rules.
struct IndexDefinition {
  std::vector<IndexRule> rules = {};
  std::vector<Path> always = {};
  std::vector<CompositeIndex> composites = {};
  std::vector<IndexPath> spatial = {};
  ValueOrder order = ValueOrder::json;
  bool operator==(const IndexDefinition&) const = default;
};

// A definition, ready to be applied to items.
class IndexPolicy {
 public:
  IndexPolicy();  // indexes nothing
  explicit IndexPolicy(IndexDefinition definition);
  static IndexPolicy everything();

  // Whether a value at this path, when an item has one, has a term.
  bool covers(const Path& path) const;
  bool covers_member(std::string_view name) const;  // of the item itself
  // Whether a GeoJSON value at this path, when an item has one, has spatial terms.
  bool covers_spatially(const Path& path) const;
  const IndexDefinition& definition() const;
  // Whether items have a shape term: when the rules include any path. Otherwise only the paths that
  // every item has are indexed, and shapes would tell nothing.
  bool has_shapes() const;

  // Calls `emit` with every term of the item; the view is valid during the call only.
  // Terms of one item may repeat (two equal elements of an array).
  void each_term(const Node& item, const std::function<void(std::string_view)>& emit) const;
  // The same without the terms of composite indexes, which the caller adds (CompositeTerms). Stops
  // when `emit` returns false, and then returns false.
  bool each_path_term(const Node& item, const std::function<bool(std::string_view)>& emit) const;
  std::string_view composite_prefix(size_t composite) const;

 private:
  struct Trie;
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// One term's path, by hand: for readers of the index. Its value: term_value.h.
std::string term_path(const Path& path);
std::string term_path_of_member(std::string_view name);

// How many bytes at the front of `key` are one term; an error (Code::corrupt) when they are none.
Result<size_t> term_size(std::string_view key);

}  // namespace orrery::value
