// The smaller policies of a container, each from what a client sends to the form that is kept and
// returned. Every function takes the policy's value (never null) and gives Code::invalid with the
// member, its value and the advice when something is wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/bind/bind.h"
#include "value/json.h"
#include "value/path.h"
#include "value/placement.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxUniqueKeys = 10;
inline constexpr size_t kMaxUniqueKeyPaths = 16;  // over all unique keys of a container
inline constexpr size_t kMaxComputedProperties = 20;
inline constexpr size_t kMaxVectorEmbeddings = 100;
inline constexpr int64_t kMaxVectorDimensions = 4096;
inline constexpr int64_t kMaxFlatVectorDimensions = 505;

struct UniqueKeyPolicy {
  std::vector<std::vector<value::Path>> keys;
  std::string json;
};
Result<UniqueKeyPolicy> parse_unique_key_policy(const value::Node& policy);

struct VectorEmbedding {
  std::string path;
  int64_t dimensions = 0;
};
struct VectorEmbeddingPolicy {
  std::vector<VectorEmbedding> embeddings;
  std::string json;
};
Result<VectorEmbeddingPolicy> parse_vector_embedding_policy(const value::Node& policy);

struct FullTextPolicy {
  std::vector<std::string> paths;
  std::string json;
};
Result<FullTextPolicy> parse_full_text_policy(const value::Node& policy);

// Each gives the JSON to keep.
Result<std::string> parse_conflict_resolution_policy(const value::Node& policy);
std::string default_conflict_resolution_policy();
Result<std::string> parse_computed_properties(const value::Node& properties);
Result<query::Query> parse_computed_property(std::string_view text);
// Those of a container, from what is kept of its definition: an object's members.
Result<query::ComputedProperties> computed_properties(std::string_view definition_json);
Result<query::VectorPaths> vector_paths(std::string_view definition_json);

// The one algorithm of client-side encryption.
inline constexpr std::string_view kEncryptionAlgorithm = "AEAD_AES_256_CBC_HMAC_SHA256";
struct ClientEncryptionPolicy {
  std::vector<std::string> key_ids;
  std::string json;
};
// `key` is the container's partition key: its encrypted paths must be encrypted deterministically.
Result<ClientEncryptionPolicy> parse_client_encryption_policy(const value::Node& policy,
                                                              const value::KeyDefinition& key);
// Of a container, from what is kept of its definition: an object's members.
Result<std::vector<std::string>> client_encryption_keys(std::string_view definition_json);

// For how long the change feed has all versions and deletes.
struct ChangeFeedPolicy {
  int64_t retention_minutes = 0;
  std::string json;
};
Result<ChangeFeedPolicy> parse_change_feed_policy(const value::Node& policy);

}  // namespace orrery::cosmos
