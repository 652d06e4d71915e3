// What the catalog knows: databases, containers, their throughput, and which physical partition
// owns which range of placement keys. Plain values; the objects handed out are immutable snapshots.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "value/path.h"
#include "value/placement.h"
#include "value/terms.h"

namespace orrery::catalog {

// Units a second, of what operations cost by the prices of a face. Autoscale moves between a tenth
// of `units` and `units`.
struct Throughput {
  uint32_t units = 400;
  bool autoscale = false;
  // By how many percent the maximum is to grow by itself. Kept for clients, and not acted upon.
  std::optional<uint32_t> increment_percent = {};
  bool operator==(const Throughput&) const = default;
};

// One physical partition of a container. `id` is never used twice within a container.
struct PartitionRange {
  // Splits and merges in turn make ever more ancestors.
  static constexpr size_t kParentsMax = 1'000;

  uint32_t id = 0;
  std::string min;  // placement keys, [min, max)
  std::string max;
  std::vector<uint32_t> parents;  // all ancestors, oldest first; the newest kParentsMax
  std::string volume_name;        // its name in the volume
};

// Why a partition was split.
enum class SplitCause : uint8_t {
  asked,       // by somebody
  storage,     // it was full
  throughput,  // the container was given more than its partitions can serve
  load,        // the same where keys are in order: this one was asked most
};

inline constexpr SplitCause kSplitCauses[] = {SplitCause::asked, SplitCause::storage,
                                              SplitCause::throughput, SplitCause::load};
constexpr std::string_view to_text(SplitCause cause) {
  switch (cause) {
    case SplitCause::asked:
      return "asked";
    case SplitCause::storage:
      return "storage";
    case SplitCause::throughput:
      return "throughput";
    case SplitCause::load:
      break;
  }
  return "load";
}

// When and why a range was split.
struct SplitReason {
  int64_t at_s = 0;
  SplitCause cause = SplitCause::asked;
};
struct PastSplit {
  SplitReason why;
  uint32_t parent = 0;
  uint32_t left = 0;
  uint32_t right = 0;
};

// Why two partitions were merged.
enum class MergeCause : uint8_t {
  asked,       // by somebody
  throughput,  // the container was given less than its partitions can serve
};
constexpr std::string_view to_text(MergeCause cause) {
  return cause == MergeCause::asked ? "asked" : "throughput";
}
struct MergeReason {
  int64_t at_s = 0;
  MergeCause cause = MergeCause::asked;
};
struct PastMerge {
  MergeReason why;
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t child = 0;
  std::string min;  // of the left one
  std::string cut;  // between the two
  std::string max;  // of the right one
};

// Ranges in order, without gap or overlap, from placement_min() to placement_max().
struct PartitionMap {
  static constexpr size_t kSplitsMax = 128;

  uint64_t version = 1;  // grows with every change of this container's map
  uint32_t next_id = 0;
  std::vector<PartitionRange> ranges;
  std::vector<PastSplit> splits;  // the newest kSplitsMax, the oldest first
  std::vector<PastMerge> merges;  // the same

  // What a range has, or had while it was there. Nothing: there was none, or too long ago to know.
  struct Bounds {
    std::string min;
    std::string max;
  };
  std::optional<Bounds> bounds_of(uint32_t id) const;
  // Whether it has this range, or had it and has what came of it.
  bool has_or_had(uint32_t id) const;
};

// What a face decides about a container. `face_json` is the face's own: kept, not interpreted.
struct ContainerSpec {
  std::string name;
  value::KeyDefinition key;
  std::string encoding;  // of items' bodies: the name of a codec (value/codec.h); empty: JSON
  value::ValueOrder value_order = value::ValueOrder::json;  // of the index; never changes
  bool indexed = true;  // false: nothing but the system's own terms
  std::vector<value::IndexRule> index_rules;
  std::optional<int64_t> default_life_ms;   // of its items: as in partition::Schema
  int64_t history_s = 0;                    // how long every write is kept; 0: not at all
  std::vector<value::Path> always_indexed;  // whatever the rules say: the key, the id, …
  std::vector<value::CompositeIndex> composite_indexes;
  std::vector<value::IndexPath> spatial_indexes;
  std::vector<std::vector<value::Path>> unique_keys;
  // Of which items each of those is: conditions of the encoding's codec. Empty, or missing at the
  // end: of all.
  std::vector<std::string> unique_conditions;
  std::string face_json;
};

inline std::string_view unique_condition(const ContainerSpec& spec, size_t key) {
  return key < spec.unique_conditions.size() ? std::string_view(spec.unique_conditions[key])
                                             : std::string_view();
}

// What is indexed, all in all.
inline value::IndexDefinition index_definition(const ContainerSpec& spec) {
  value::IndexDefinition definition;
  definition.order = spec.value_order;
  definition.always = spec.always_indexed;
  if (spec.indexed) {
    definition.rules = spec.index_rules;
    definition.composites = spec.composite_indexes;
    definition.spatial = spec.spatial_indexes;
  }
  return definition;
}

// Each face has names of its own: a database `shop` of one and a database `shop` of another are
// two. The face's name is kept, not interpreted.
struct DatabaseName {
  std::string_view face;
  std::string_view name;
};

struct Database {
  uint32_t number = 0;  // unique in the account; never used twice
  std::string face;
  std::string name;       // unique among those of its face
  int64_t changed_s = 0;  // Unix time
  uint64_t revision = 0;  // the LSN of the catalog that made it what it is
  std::optional<Throughput>
      throughput;  // set: shared by the containers that have none of their own
};

struct Container {
  uint32_t database = 0;
  uint32_t number = 0;  // unique in the account; never used twice
  ContainerSpec spec;
  uint32_t index_version = 1;    // grows when index_definition(spec) changes
  uint32_t indexed_version = 1;  // all partitions have the terms of this one at least
  int64_t changed_s = 0;
  uint64_t revision = 0;                 // the LSN of the catalog that made it what it is
  std::optional<Throughput> throughput;  // unset: the database's
  std::shared_ptr<const PartitionMap> map;
  bool shrinks = false;  // its throughput was lowered: partitions are merged when they are idle
};

// Files of a partition that are to be removed, by their name in the volume, which no map names.
struct Removal {
  std::string volume_name;
  // Set while a split or merge of this parent at this epoch may still be making the files. They are
  // removed unless it publishes them.
  struct Clone {
    std::string parent;  // its name in the volume
    uint64_t epoch = 0;
    bool operator==(const Clone&) const = default;
  };
  std::optional<Clone> clone_of = {};
  std::optional<Clone> and_of = {};  // of a merge: its right parent, beside the left one above
};

// A small named document that belongs to a database, a container, or another resource: a user, a
// script. What it means is the face's affair: `kind` is a number that the face chose, `body` is
// kept and not interpreted.
struct Resource {
  uint32_t number =
      0;  // unique in the account, among databases and containers too; never used twice
  uint32_t parent = 0;  // the number of the database, container or resource that it belongs to
  uint8_t kind = 0;
  std::string name;  // unique among those of its kind and parent
  int64_t changed_s = 0;
  uint64_t revision = 0;  // the LSN of the catalog that made it what it is
  std::string body;
};

}  // namespace orrery::catalog
