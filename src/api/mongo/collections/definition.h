// What the face keeps of a collection in its container's definition: the options that it was made
// with, its indexes, its shard key. It is one BSON document, in base64, in a JSON object:
//   {"bson": "…"} of {uuid, options: {…}, indexes: [{v, key, name, …}, …], shardKey: {…}}
// The index on _id is always there and not in the list. One by which documents are to expire has
// `expiryPending: true` until all have a date to expire by.
//
// Immutable; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "catalog/model.h"
#include "cluster/routing.h"
#include "value/path.h"
#include "value/value.h"

namespace orrery::mongo {

struct IndexSpec {
  std::string name;
  value::Value key;   // {a: 1, b: -1}
  value::Value spec;  // all of it, as listIndexes shows it
};

// The fields that a 2dsphere index has the places of: dotted paths.
std::vector<std::string> places_of(const IndexSpec& index);

// Which documents an index is of, as a filter: those that have one of its fields, if it is sparse;
// those that its own filter matches, if it is partial. Undefined: all.
value::Value condition_of(const IndexSpec& index);

struct Definition {
  std::string uuid;      // 16 bytes
  value::Value options;  // an object
  std::vector<IndexSpec> indexes;
  value::Value shard_key;  // an object, or undefined
  std::string placement;   // of all documents, when there is no shard key
  // Of all 2dsphere indexes: what documents have there must be places. Filled in by
  // read_definition().
  std::vector<std::string> places;

  bool is_sharded() const { return shard_key.is_object() && shard_key.size() > 0; }
  // Dotted paths.
  std::vector<std::string> shard_paths() const;
  const IndexSpec* index_of_name(std::string_view name) const;
  // The index by whose date documents expire, and after how long; null: there is none.
  const IndexSpec* expiring_index() const;
  static std::optional<int64_t> expire_after_s(const IndexSpec& index);
  // Whether documents are still being told by when they expire: until then none does.
  static bool is_expiry_pending(const IndexSpec& index);
  std::string to_face_json() const;
};

// Decoded once for each state of a container.
const Definition& definition_of(const cluster::Routing& routing);
Definition read_definition(const catalog::ContainerSpec& spec);

// {_id: 1} as listIndexes shows it.
IndexSpec id_index();
// "a.b" as a path of the engine's.
value::Path path_of(std::string_view dotted);

}  // namespace orrery::mongo
