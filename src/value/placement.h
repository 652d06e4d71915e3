// Where an item belongs: from the values of its partition key to a placement key, an opaque byte
// string that sorts. Ranges of placement keys are what physical partitions own.
//
// Hash placement begins with the effective key: a hash that clients of a face may compute by
// themselves, so it is theirs byte for byte:
//   hash_v2     Murmur3 x64-128 (seed 0) over type-tagged components, reversed, top two bits clear
//   hash_v1     Murmur3 x86-32 as a number, followed by the encoded components, texts cut
//   multi_hash  one hash_v2 a level, concatenated: a prefix of the levels is a range
// The key's identity follows (value/key_identity.h; for hash_v1 its digest), because effective keys
// can collide. So every partition key has its own placement key, and colliding ones are adjacent. A
// container without paths has one key, and no identity. Range placement keeps the order of the
// values themselves. It has no collisions and no identity.
//
// Boundaries of ranges, and all that clients see, are effective keys. So a boundary never separates
// keys that collide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/json.h"
#include "value/path.h"

namespace orrery::value {

struct KeyPart {
  Type type = Type::undefined;  // undefined, null, boolean, number or string
  bool boolean = false;
  double number = 0;
  std::string text;
  bool operator==(const KeyPart&) const = default;
};
using PartitionKey = std::vector<KeyPart>;

enum class Placement : uint8_t { hash_v1, hash_v2, multi_hash, range };

struct KeyDefinition {
  Placement placement = Placement::hash_v2;
  std::vector<Path> paths;  // empty: a fixed container, whose items all share the key None
  bool operator==(const KeyDefinition&) const = default;
};

inline constexpr size_t kMaxKeyLevels = 3;

// The values at the definition's paths. A missing value is `undefined`, and so is an object; an
// array is an error, since it cannot be a key.
Result<PartitionKey> extract_key(const Node& item, const KeyDefinition& definition);

// The placement key of a whole key (as many parts as there are paths; one undefined part, or none,
// for a fixed container).
std::string place(const KeyDefinition& definition, const PartitionKey& key);

// Filters placement keys by their identity: of the keys whose hashes match a prefix of levels,
// keeps those whose levels match too.
struct LevelFilter {
  size_t identity_at = 0;  // where in a placement key the identity begins
  std::string levels;      // what it begins with; empty: anything
  bool has(std::string_view placement) const {
    return levels.empty() ||
           placement.substr(std::min(identity_at, placement.size())).starts_with(levels);
  }
  bool operator==(const LevelFilter&) const = default;
};

// The items of some keys: those with placement keys in [min, max) that pass `only`.
struct KeyScope {
  std::string min;
  std::string max;
  LevelFilter only;
};

// The scope of a whole key (one logical partition) or, for multi_hash and range, of a prefix of its
// levels. Only a prefix of a multi_hash key needs the filter: other prefixes with the same hash
// share its range.
KeyScope place_prefix(const KeyDefinition& definition, const PartitionKey& prefix);

// The effective key in a placement key, which is all of it for range placement.
std::string_view effective_key(const KeyDefinition& definition, std::string_view placement);

// The whole space [min, max) and its division into `count` even ranges (their inner boundaries, so
// count - 1 of them). Range placement cannot be divided in advance and gives none.
std::string_view placement_min();  // ""
std::string_view placement_max();  // one byte FF
std::vector<std::string> divide_evenly(Placement placement, uint32_t count);
// A boundary in the middle of [min, max) of a hash space, or empty when there is none.
std::string middle_of(Placement placement, std::string_view min, std::string_view max);

// For people and for error messages: ["Redmond",5].
std::string to_json(const PartitionKey& key);

}  // namespace orrery::value
