// Reads a definition member by member and writes out the defaults: see container_definition.h. Also
// says what a replacement may not change.
#include "api/cosmos/resources/container_definition.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/resources/container_policies.h"
#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/resources/indexing_policy.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

struct KeyPolicy {
  value::KeyDefinition key;
  std::string json;
};

// Where a key path has a character that only a name in quotes may have; its size when it has none.
size_t first_bad_character(std::string_view path) {
  char quote = '\0';
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (quote != '\0') {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if ((c == '"' || c == '\'') && i > 0 && path[i - 1] == '/') {
      quote = c;
    } else {
      const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$' ||
                        (i > 0 && c == '/') || static_cast<unsigned char>(c) >= 0x80;
      if (i == 0 ? c != '/' : !good) return i;
    }
  }
  return path.size();
}

// Begins and ends with words of the vendor's that clients look for.
std::unexpected<Error> bad_key_path(std::string_view where, const Node& path,
                                    std::string_view reason) {
  const size_t at = std::min(first_bad_character(path.text), path.text.size());
  return bad_field(
      where, path,
      "The partition key component definition path '" + std::string(path.text.substr(0, 256)) +
          "' could not be accepted, failed near position '" + std::to_string(at) +
          "'. Partition key paths must contain only valid characters and not contain a trailing "
          "slash or wildcard character. Give the path of one property, like /city, /address/city "
          "or /\"home city\". (" +
          std::string(reason) + ")");
}

// A number, or its name as the Java SDK sends it: "V2".
Result<std::optional<int64_t>> parse_key_version(const Node& policy, std::string_view where) {
  const Node* version = policy.find("version");
  if (version != nullptr && version->type == Type::string) {
    auto name = choice_member(policy, where, "version", {"V1", "V2"}, "");
    if (!name) return pass(name.error());
    return *name == "V1" ? 1 : 2;
  }
  return integer_member(policy, where, "version", 1, 2);
}

Result<KeyPolicy> parse_partition_key(const Node* policy) {
  constexpr std::string_view kWhere = "partitionKey";
  KeyPolicy out;
  if (policy == nullptr) {
    out.json = kFixedKey;
    return out;
  }
  auto system_key = optional_member(*policy, kWhere, "systemKey", Type::boolean);
  if (!system_key) return pass(system_key.error());
  if (*system_key != nullptr && (*system_key)->boolean) {
    out.json = kFixedKey;
    return out;
  }
  auto paths = required_member(*policy, kWhere, "paths", Type::array);
  if (!paths) return pass(paths.error());
  auto kind = choice_member(*policy, kWhere, "kind", {"Hash", "MultiHash", "Range"}, "Hash");
  if (!kind) return pass(kind.error());
  auto version = parse_key_version(*policy, kWhere);
  if (!version) return pass(version.error());

  const bool several = *kind == "MultiHash";
  const size_t most = several ? value::kMaxKeyLevels : 1;
  const std::string where = join(kWhere, "paths");
  if ((*paths)->count == 0) {
    return bad_field(where, **paths, "give the path of the property to partition by, like /city.");
  }
  if ((*paths)->count > most) {
    return bad_field(where, **paths,
                     several ? "a hierarchical key has at most 3 paths."
                             : "a key of kind Hash has one path; use kind MultiHash for several.");
  }
  const int64_t used_version = version->value_or(several ? 2 : 1);
  if (several && used_version != 2) {
    return bad_field(join(kWhere, "version"), *policy->find("version"),
                     "a key of kind MultiHash needs version 2.");
  }
  for (const Node* text = (*paths)->first; text != nullptr; text = text->next) {
    const std::string here = element(where, out.key.paths.size());
    if (text->type != Type::string) return bad_field(here, *text, "give a path like /city.");
    auto path = value::parse_property_path(text->text);
    if (!path) return bad_key_path(here, *text, path.error().message);
    if (first_bad_character(text->text) < text->text.size()) {
      return bad_key_path(here, *text, "put a name with other characters in double quotes");
    }
    if (std::ranges::find(out.key.paths, *path) != out.key.paths.end()) {
      return bad_field(here, *text, "the path is in the key twice.");
    }
    out.key.paths.push_back(std::move(*path));
  }
  out.key.placement = several             ? value::Placement::multi_hash
                      : used_version == 2 ? value::Placement::hash_v2
                                          : value::Placement::hash_v1;
  out.json = "{";
  append_member(out.json, "paths", (*paths)->raw);
  append_member(out.json, "kind", quoted(several ? "MultiHash" : "Hash"));
  append_member(out.json, "version", std::to_string(used_version));
  out.json += '}';
  return out;
}

// A vector or full-text index is only possible on what the container's policies describe, and the
// shape of spatial indexes depends on the geometry.
Status check_agreement(const IndexingPolicy& indexing, const VectorEmbeddingPolicy& vectors,
                       const FullTextPolicy& texts, bool geometry) {
  for (const VectorIndex& index : indexing.vector_indexes) {
    const auto embedding =
        std::ranges::find(vectors.embeddings, index.path, &VectorEmbedding::path);
    if (embedding == vectors.embeddings.end()) {
      return fail(Code::invalid, "indexingPolicy.vectorIndexes: " + index.path +
                                     " not matching in Embedding's path: describe the vector in "
                                     "vectorEmbeddingPolicy first.");
    }
    if (index.type == "flat" && embedding->dimensions > kMaxFlatVectorDimensions) {
      return fail(Code::invalid,
                  "indexingPolicy.vectorIndexes has a flat index on " + index.path + " with " +
                      std::to_string(embedding->dimensions) + " dimensions: flat takes at most " +
                      std::to_string(kMaxFlatVectorDimensions) + "; use quantizedFlat or diskANN.");
    }
  }
  for (const std::string& path : indexing.full_text_paths) {
    if (std::ranges::find(texts.paths, path) == texts.paths.end()) {
      return fail(Code::invalid, "indexingPolicy.fullTextIndexes names " + path +
                                     ", which fullTextPolicy does not: add it to fullTextPaths.");
    }
  }
  if (geometry && !indexing.spatial.empty() && !indexing.all_spatial_indexes_are_boxed) {
    return fail(Code::invalid,
                "indexingPolicy.spatialIndexes: with geospatialConfig.type Geometry, each spatial "
                "index needs a boundingBox {xmin, ymin, xmax, ymax}.");
  }
  if (!geometry && indexing.any_spatial_index_is_boxed) {
    return fail(Code::invalid,
                "indexingPolicy.spatialIndexes: a boundingBox needs geospatialConfig.type "
                "Geometry; leave it out for Geography.");
  }
  return {};
}

Result<std::optional<int32_t>> parse_default_ttl(const Node& root) {
  const Node* member = root.find("defaultTtl");
  if (member == nullptr) return std::nullopt;
  auto ttl = integer_member(root, "", "defaultTtl", -1, std::numeric_limits<int32_t>::max());
  if (!ttl) return pass(ttl.error());
  if (!*ttl || **ttl == 0) {
    return bad_field("defaultTtl", *member,
                     "give seconds, or -1 for items that live until deleted unless they have a ttl "
                     "of their own; leave it out to switch expiry off.");
  }
  return static_cast<int32_t>(**ttl);
}

// The member as an object or an array of whatever shape; null when it is absent.
const Node* given(const Node& root, std::string_view name) {
  const Node* member = root.find(name);
  return member == nullptr || member->type == Type::null ? nullptr : member;
}

enum class Geometry : uint8_t { earth, plane };

// The members that are kept for the clients and mean nothing to the engine, but for the geometry of
// spatial values. Appends to `json`.
Result<Geometry> parse_kept_members(const Node& root, const IndexingPolicy& indexing,
                                    const value::KeyDefinition& key, std::string& json) {
  std::string conflicts = default_conflict_resolution_policy();
  if (const Node* policy = given(root, "conflictResolutionPolicy")) {
    auto text = parse_conflict_resolution_policy(*policy);
    if (!text) return pass(text.error());
    conflicts = std::move(*text);
  }
  append_member(json, "conflictResolutionPolicy", conflicts);

  auto geo = optional_member(root, "", "geospatialConfig", Type::object);
  if (!geo) return pass(geo.error());
  std::string_view geo_type = "Geography";
  if (*geo != nullptr) {
    auto type =
        choice_member(**geo, "geospatialConfig", "type", {"Geography", "Geometry"}, "Geography");
    if (!type) return pass(type.error());
    geo_type = *type;
  }
  append_member(json, "geospatialConfig", "{\"type\":" + quoted(geo_type) + "}");

  VectorEmbeddingPolicy vectors;
  if (const Node* policy = given(root, "vectorEmbeddingPolicy")) {
    auto parsed = parse_vector_embedding_policy(*policy);
    if (!parsed) return pass(parsed.error());
    vectors = std::move(*parsed);
    append_member(json, "vectorEmbeddingPolicy", vectors.json);
  }
  FullTextPolicy texts;
  if (const Node* policy = given(root, "fullTextPolicy")) {
    auto parsed = parse_full_text_policy(*policy);
    if (!parsed) return pass(parsed.error());
    texts = std::move(*parsed);
    append_member(json, "fullTextPolicy", texts.json);
  }
  const Geometry geometry = geo_type == "Geometry" ? Geometry::plane : Geometry::earth;
  if (auto agreed = check_agreement(indexing, vectors, texts, geometry == Geometry::plane);
      !agreed) {
    return pass(agreed.error());
  }

  if (const Node* properties = given(root, "computedProperties")) {
    auto text = parse_computed_properties(*properties);
    if (!text) return pass(text.error());
    append_member(json, "computedProperties", *text);
  }
  if (const Node* policy = given(root, "clientEncryptionPolicy")) {
    auto encryption = parse_client_encryption_policy(*policy, key);
    if (!encryption) return pass(encryption.error());
    append_member(json, "clientEncryptionPolicy", encryption->json);
  }
  auto analytical =
      integer_member(root, "", "analyticalStorageTtl", -1, std::numeric_limits<int32_t>::max());
  if (!analytical) return pass(analytical.error());
  if (*analytical) append_member(json, "analyticalStorageTtl", std::to_string(**analytical));
  return geometry;
}

// A kept member of a stored definition, as text; empty when it has none.
std::string kept(const JsonDocument& document, std::string_view name) {
  const Node* member = document.root().find(name);
  return member == nullptr ? std::string() : std::string(member->raw);
}

}  // namespace

Status check_resource_name(std::string_view name) {
  size_t characters = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) ++characters;
    if (c == '/' || c == '\\' || c == '#' || c == '?' || byte < 0x20 || byte == 0x7F) {
      return fail(Code::invalid, "The id " + quoted(name.substr(0, 300)) +
                                     " has a character that names cannot have: leave out /, \\, #, "
                                     "? and control characters.");
    }
  }
  if (characters == 0 || characters > kMaxNameCharacters) {
    return fail(Code::invalid, "The id has " + std::to_string(characters) +
                                   " characters: give 1 to " + std::to_string(kMaxNameCharacters) +
                                   ".");
  }
  if (name.ends_with(' ')) {
    return fail(Code::invalid,
                "The id " + quoted(name.substr(0, 300)) + " ends with a space: take it off.");
  }
  return {};
}

Result<std::string> parse_name(const Node& root) {
  auto id = required_member(root, "", "id", Type::string);
  if (!id) return pass(id.error());
  if (auto checked = check_resource_name((*id)->text); !checked) return pass(checked.error());
  return std::string((*id)->text);
}

Result<std::string> parse_database_definition(std::string_view body) {
  const auto document = JsonDocument::parse(body);
  auto root = checked_root(document);
  if (!root) return pass(root.error());
  return parse_name(**root);
}

namespace {

// What is indexed, and what is not, whatever the policy says: requests find items by key, id and
// resource id; links are never searched for.
void index_system_properties(catalog::ContainerSpec& spec) {
  spec.always_indexed = spec.key.paths;
  for (const char* name : {"id", "_rid", "_ts"}) {
    value::Path path{.steps = {{.name = name}}};
    if (std::ranges::find(spec.always_indexed, path) == spec.always_indexed.end()) {
      spec.always_indexed.push_back(std::move(path));
    }
  }
  for (const char* name : {"_self", "_attachments"}) {
    spec.index_rules.push_back(
        {.path = {.path = {.steps = {{.name = name}}}, .tail = value::Tail::value},
         .include = false});
  }
}

}  // namespace

Result<catalog::ContainerSpec> parse_container_definition(std::string_view body,
                                                          std::string_view protocol_version) {
  const auto document = JsonDocument::parse(body);
  auto checked = checked_root(document);
  if (!checked) return pass(checked.error());
  const Node& root = **checked;

  catalog::ContainerSpec spec;
  auto name = parse_name(root);
  if (!name) return pass(name.error());
  spec.name = std::move(*name);
  if (given(root, "materializedViewDefinition") != nullptr) {
    return fail(Code::unsupported,
                "materializedViewDefinition: materialized views are not supported. Create the "
                "container without it.");
  }

  auto indexing =
      parse_indexing_policy(given(root, "indexingPolicy"), old_indexes_of(protocol_version));
  if (!indexing) return pass(indexing.error());
  append_member(spec.face_json, "indexingPolicy", indexing->json);
  spec.indexed = indexing->indexed;
  spec.index_rules = std::move(indexing->rules);

  auto key_policy = optional_member(root, "", "partitionKey", Type::object);
  if (!key_policy) return pass(key_policy.error());
  auto key = parse_partition_key(*key_policy);
  if (!key) return pass(key.error());
  append_member(spec.face_json, "partitionKey", key->json);
  spec.key = std::move(key->key);

  auto ttl = parse_default_ttl(root);
  if (!ttl) return pass(ttl.error());
  if (*ttl) spec.default_life_ms = lifetime_of(*ttl).ms;
  if (*ttl) append_member(spec.face_json, "defaultTtl", std::to_string(**ttl));

  if (const Node* policy = given(root, "uniqueKeyPolicy")) {
    auto unique = parse_unique_key_policy(*policy);
    if (!unique) return pass(unique.error());
    append_member(spec.face_json, "uniqueKeyPolicy", unique->json);
    spec.unique_keys = std::move(unique->keys);
  }
  if (const Node* policy = given(root, "changeFeedPolicy")) {
    auto feed = parse_change_feed_policy(*policy);
    if (!feed) return pass(feed.error());
    append_member(spec.face_json, "changeFeedPolicy", feed->json);
    spec.history_s = feed->retention_minutes * 60;
  }
  auto geometry = parse_kept_members(root, *indexing, spec.key, spec.face_json);
  if (!geometry) return pass(geometry.error());
  spec.composite_indexes = std::move(indexing->composites);
  // Cells are of the Earth's surface; on a plane, queries look at the items themselves.
  if (*geometry == Geometry::earth) spec.spatial_indexes = std::move(indexing->spatial);
  index_system_properties(spec);
  return spec;
}

Status check_replacement(const catalog::ContainerSpec& old, const catalog::ContainerSpec& updated) {
  auto fixed = [](std::string_view what, std::string_view was, std::string_view is) {
    return fail(Code::invalid, std::string(what) + " of a container cannot be changed: it is " +
                                   std::string(was) + ", and the replacement says " +
                                   std::string(is) +
                                   ". Send it as it was read, or create a new container.");
  };
  if (old.name != updated.name) return fixed("The id", quoted(old.name), quoted(updated.name));

  const auto before = JsonDocument::parse("{" + old.face_json + "}");
  const auto after = JsonDocument::parse("{" + updated.face_json + "}");
  if (!before || !after) {
    return fail(Code::corrupt,
                "The stored definition of container " + quoted(old.name) + " cannot be read.");
  }
  auto changed = [&](std::string_view what, std::string_view member) {
    const std::string was = kept(*before, member);
    const std::string is = kept(*after, member);
    return fixed(what, was.empty() ? "not set" : was, is.empty() ? "nothing" : is);
  };
  if (old.key != updated.key) return changed("The partition key", "partitionKey");
  if (old.unique_keys != updated.unique_keys)
    return changed("The uniqueKeyPolicy", "uniqueKeyPolicy");
  if (kept(*before, "conflictResolutionPolicy") != kept(*after, "conflictResolutionPolicy")) {
    return changed("The conflictResolutionPolicy", "conflictResolutionPolicy");
  }
  // What is there was encrypted by the policy that it was written under.
  if (kept(*before, "clientEncryptionPolicy") != kept(*after, "clientEncryptionPolicy")) {
    return fail(Code::invalid,
                "'clientEncryptionPolicy' cannot be changed as part of collection replace "
                "operation. Send it as it was read, or create a new container.");
  }
  if (const Node* policy = before->root().find("vectorEmbeddingPolicy")) {
    const Node* list = policy->find("vectorEmbeddings");
    const Node* new_policy = after->root().find("vectorEmbeddingPolicy");
    const Node* new_list = new_policy == nullptr ? nullptr : new_policy->find("vectorEmbeddings");
    for (const Node* entry = list == nullptr ? nullptr : list->first; entry != nullptr;
         entry = entry->next) {
      bool found = false;
      for (const Node* other = new_list == nullptr ? nullptr : new_list->first; other != nullptr;
           other = other->next) {
        found = found || other->raw == entry->raw;
      }
      if (!found) return changed("The vectorEmbeddingPolicy", "vectorEmbeddingPolicy");
    }
  }
  return {};
}

}  // namespace orrery::cosmos
