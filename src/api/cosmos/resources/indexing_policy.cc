// Checks the paths of a policy against one another and turns them into the engine's rules: see
// indexing_policy.h.
#include "api/cosmos/resources/indexing_policy.h"

#include <algorithm>

#include "api/cosmos/resources/definition_fields.h"
#include "value/path.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr std::string_view kIndexingPolicy = "indexingPolicy";
constexpr std::string_view kEverything = "/*";
constexpr std::string_view kEtag = "/\"_etag\"/?";
constexpr std::string_view kPathAdvice = "give a path like /name/?, /address/*, /tags/[]/? or /*.";

struct PathList {
  std::vector<value::IndexPath> paths;
  std::vector<std::string> json;  // each as an object
};

Status check_old_indexes(const Node& entry, std::string_view where) {
  auto indexes = optional_member(entry, where, "indexes", Type::array);
  if (!indexes) return pass(indexes.error());
  if (*indexes == nullptr) return {};
  size_t at = 0;
  for (const Node* index = (*indexes)->first; index != nullptr; index = index->next) {
    const std::string here = element(join(where, "indexes"), at++);
    if (index->type != Type::object) return bad_field(here, *index, "give an object.");
    auto kind = choice_member(*index, here, "kind", {"Hash", "Range", "Spatial"}, "Range");
    if (!kind) return pass(kind.error());
    auto type = choice_member(
        *index, here, "dataType",
        {"Number", "String", "Point", "Polygon", "LineString", "MultiPolygon"}, "String");
    if (!type) return pass(type.error());
    auto precision = integer_member(*index, here, "precision", -1, 100);
    if (!precision) return pass(precision.error());
  }
  return {};
}

// Older clients name the whole item "/", which is "/*".
Result<value::IndexPath> parse_rule_path(std::string_view text) {
  return value::parse_index_path(text == "/" ? kEverything : text);
}

Result<PathList> read_paths(const Node& policy, std::string_view name, OldIndexes old_indexes) {
  PathList list;
  auto array = optional_member(policy, kIndexingPolicy, name, Type::array);
  if (!array) return pass(array.error());
  if (*array == nullptr) return list;
  const std::string where = join(kIndexingPolicy, name);
  if ((*array)->count > kMaxIndexPaths) {
    return bad_field(where, **array, "at most " + std::to_string(kMaxIndexPaths) + " paths.");
  }
  for (const Node* entry = (*array)->first; entry != nullptr; entry = entry->next) {
    const std::string here = element(where, list.paths.size());
    if (entry->type != Type::object) {
      return bad_field(here, *entry, "give an object like {\"path\":\"/*\"}.");
    }
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    auto path = parse_rule_path((*text)->text);
    if (!path) {
      return bad_field(join(here, "path"), **text,
                       std::string(kPathAdvice) + " (" + path.error().message + ")");
    }
    if (std::ranges::find(list.paths, *path) != list.paths.end()) {
      return bad_field(join(here, "path"), **text, "the path is in the list twice; give it once.");
    }
    std::string json = "{";
    append_member(json, "path", (*text)->raw);
    if (auto checked = check_old_indexes(*entry, here); !checked) return pass(checked.error());
    const Node* indexes = entry->find("indexes");
    if (old_indexes == OldIndexes::kept && indexes != nullptr && indexes->type == Type::array) {
      append_member(json, "indexes", indexes->raw);
    }
    json += '}';
    list.paths.push_back(std::move(*path));
    list.json.push_back(std::move(json));
  }
  return list;
}

bool covers_everything(const PathList& list) {
  return std::ranges::any_of(list.paths, [](const value::IndexPath& path) {
    return path.path.steps.empty() && path.tail == value::Tail::subtree;
  });
}

bool names_etag(const PathList& list) {
  return std::ranges::any_of(list.paths, [](const value::IndexPath& path) {
    return path.path.steps.size() == 1 && path.path.steps[0].name == "_etag";
  });
}

std::string array_of(const std::vector<std::string>& elements) {
  std::string json = "[";
  for (const std::string& text : elements) {
    if (json.size() > 1) json += ',';
    json += text;
  }
  json += ']';
  return json;
}

Status add_everything(PathList& list) {
  auto path = value::parse_index_path(kEverything);
  if (!path) return pass(path.error());
  list.paths.push_back(std::move(*path));
  list.json.push_back("{\"path\":" + quoted(kEverything) + "}");
  return {};
}

Status add_etag(PathList& list) {
  auto path = value::parse_index_path(kEtag);
  if (!path) return pass(path.error());
  list.paths.push_back(std::move(*path));
  list.json.push_back("{\"path\":" + quoted(kEtag) + "}");
  return {};
}

// Each path once, a sort order for each, 2 to 8 of them.
Result<std::string> read_composite(const Node& index, std::string_view where, IndexingPolicy& out) {
  if (index.type != Type::array) return bad_field(where, index, "give an array of paths.");
  if (index.count < 2 || index.count > kMaxCompositePaths) {
    return bad_field(
        where, index,
        "a composite index has 2 to " + std::to_string(kMaxCompositePaths) + " paths.");
  }
  value::CompositeIndex composite;
  std::vector<std::string> json;
  for (const Node* entry = index.first; entry != nullptr; entry = entry->next) {
    const std::string here = element(where, json.size());
    if (entry->type != Type::object) {
      return bad_field(here, *entry, "give an object like {\"path\":\"/name\"}.");
    }
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    auto path = value::parse_property_path((*text)->text);
    if (!path) {
      return bad_field(join(here, "path"), **text,
                       "give the path of a property like /name, without /? or /*.");
    }
    if (std::ranges::find(composite.parts, *path, &value::CompositeIndex::Part::path) !=
        composite.parts.end()) {
      return bad_field(join(here, "path"), **text, "the path is in the index twice.");
    }
    auto order = choice_member(*entry, here, "order", {"ascending", "descending"}, "ascending");
    if (!order) return pass(order.error());
    composite.parts.push_back({.path = std::move(*path), .descending = *order == "descending"});
    json.push_back("{\"path\":" + std::string((*text)->raw) + ",\"order\":" + quoted(*order) + "}");
  }
  // One that is given twice is kept for the clients, and indexed once.
  if (std::ranges::find(out.composites, composite) == out.composites.end()) {
    out.composites.push_back(std::move(composite));
  }
  return array_of(json);
}

Result<std::string> read_composites(const Node& policy, IndexingPolicy& out) {
  auto array = optional_member(policy, kIndexingPolicy, "compositeIndexes", Type::array);
  if (!array) return pass(array.error());
  if (*array == nullptr) return std::string();
  const std::string where = join(kIndexingPolicy, "compositeIndexes");
  if ((*array)->count > kMaxCompositeIndexes) {
    return bad_field(where, **array,
                     "at most " + std::to_string(kMaxCompositeIndexes) + " composite indexes.");
  }
  std::vector<std::string> json;
  for (const Node* index = (*array)->first; index != nullptr; index = index->next) {
    auto text = read_composite(*index, element(where, json.size()), out);
    if (!text) return pass(text.error());
    json.push_back(std::move(*text));
  }
  return array_of(json);
}

Status check_box(const Node& box, std::string_view where) {
  double corners[4] = {};
  size_t at = 0;
  for (const std::string_view name : {"xmin", "ymin", "xmax", "ymax"}) {
    auto corner = required_member(box, where, name, Type::number);
    if (!corner) return pass(corner.error());
    corners[at++] = (*corner)->number;
  }
  if (corners[0] >= corners[2] || corners[1] >= corners[3]) {
    return bad_field(where, box, "xmin must be below xmax, and ymin below ymax.");
  }
  return {};
}

Result<std::string> read_spatial(const Node& policy, IndexingPolicy& out) {
  auto array = optional_member(policy, kIndexingPolicy, "spatialIndexes", Type::array);
  if (!array) return pass(array.error());
  if (*array == nullptr) return std::string();
  const std::string where = join(kIndexingPolicy, "spatialIndexes");
  if ((*array)->count > kMaxIndexPaths) return bad_field(where, **array, "too many.");
  size_t at = 0;
  for (const Node* entry = (*array)->first; entry != nullptr; entry = entry->next) {
    const std::string here = element(where, at++);
    if (entry->type != Type::object) return bad_field(here, *entry, "give an object.");
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    auto path = value::parse_index_path((*text)->text);
    if (!path) return bad_field(join(here, "path"), **text, "give a path like /location/*.");
    auto types = optional_member(*entry, here, "types", Type::array);
    if (!types) return pass(types.error());
    if (*types != nullptr) {
      for (const Node* type = (*types)->first; type != nullptr; type = type->next) {
        if (type->type != Type::string ||
            (type->text != "Point" && type->text != "Polygon" && type->text != "LineString" &&
             type->text != "MultiPolygon")) {
          return bad_field(join(here, "types"), *type,
                           "use Point, LineString, Polygon, MultiPolygon.");
        }
      }
    }
    auto box = optional_member(*entry, here, "boundingBox", Type::object);
    if (!box) return pass(box.error());
    if (*box != nullptr) {
      if (auto checked = check_box(**box, join(here, "boundingBox")); !checked) {
        return pass(checked.error());
      }
    }
    if (std::ranges::find(out.spatial, *path) == out.spatial.end()) {
      out.spatial.push_back(std::move(*path));
    }
    out.all_spatial_indexes_are_boxed = out.all_spatial_indexes_are_boxed && *box != nullptr;
    out.any_spatial_index_is_boxed = out.any_spatial_index_is_boxed || *box != nullptr;
  }
  return std::string((*array)->raw);
}

Result<std::string> read_vector(const Node& policy, IndexingPolicy& out) {
  auto array = optional_member(policy, kIndexingPolicy, "vectorIndexes", Type::array);
  if (!array) return pass(array.error());
  if (*array == nullptr) return std::string();
  const std::string where = join(kIndexingPolicy, "vectorIndexes");
  if ((*array)->count > kMaxIndexPaths) return bad_field(where, **array, "too many.");
  for (const Node* entry = (*array)->first; entry != nullptr; entry = entry->next) {
    const std::string here = element(where, out.vector_indexes.size());
    if (entry->type != Type::object) return bad_field(here, *entry, "give an object.");
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    if (!value::parse_property_path((*text)->text)) {
      return bad_field(join(here, "path"), **text, "give the path of a property like /vector.");
    }
    auto type = choice_member(*entry, here, "type", {"flat", "quantizedFlat", "diskANN"}, "");
    if (!type) return pass(type.error());
    auto bytes = integer_member(*entry, here, "quantizationByteSize", 1, 512);
    if (!bytes) return pass(bytes.error());
    if (*bytes && *type == "flat") {
      return bad_field(join(here, "quantizationByteSize"), *entry->find("quantizationByteSize"),
                       "a flat index is not quantized; leave it out.");
    }
    auto candidates = integer_member(*entry, here, "indexingSearchListSize", 25, 500);
    if (!candidates) return pass(candidates.error());
    if (*candidates && *type != "diskANN") {
      return bad_field(join(here, "indexingSearchListSize"), *entry->find("indexingSearchListSize"),
                       "only a diskANN index has it; leave it out.");
    }
    for (const VectorIndex& other : out.vector_indexes) {
      if (other.path == (*text)->text) {
        return bad_field(join(here, "path"), **text, "the path has a vector index already.");
      }
    }
    out.vector_indexes.push_back({.path = std::string((*text)->text), .type = *type});
  }
  return std::string((*array)->raw);
}

Result<std::string> read_full_text(const Node& policy, IndexingPolicy& out) {
  auto array = optional_member(policy, kIndexingPolicy, "fullTextIndexes", Type::array);
  if (!array) return pass(array.error());
  if (*array == nullptr) return std::string();
  const std::string where = join(kIndexingPolicy, "fullTextIndexes");
  if ((*array)->count > kMaxIndexPaths) return bad_field(where, **array, "too many.");
  for (const Node* entry = (*array)->first; entry != nullptr; entry = entry->next) {
    const std::string here = element(where, out.full_text_paths.size());
    if (entry->type != Type::object) return bad_field(here, *entry, "give an object.");
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    if (!value::parse_property_path((*text)->text)) {
      return bad_field(join(here, "path"), **text, "give the path of a property like /text.");
    }
    if (std::ranges::find(out.full_text_paths, (*text)->text) != out.full_text_paths.end()) {
      return bad_field(join(here, "path"), **text, "the path has a full-text index already.");
    }
    out.full_text_paths.emplace_back((*text)->text);
  }
  return std::string((*array)->raw);
}

Status check_lists(const Node& policy, const PathList& included, const PathList& excluded) {
  const bool in = covers_everything(included);
  const bool out = covers_everything(excluded);
  if (!in && !out) {
    return bad_field(
        kIndexingPolicy, policy,
        "the path /* must be among includedPaths or excludedPaths: include it to index "
        "everything else, exclude it to index nothing else.");
  }
  for (size_t i = 0; i < included.paths.size(); ++i) {
    if (std::ranges::find(excluded.paths, included.paths[i]) != excluded.paths.end()) {
      return fail(Code::invalid,
                  "indexingPolicy has " + included.json[i] +
                      " both in includedPaths and in excludedPaths: leave it in one.");
    }
  }
  return {};
}

// Fills in what the lists leave out, and checks them.
Status complete_lists(const Node& policy, PathList& included, PathList& excluded) {
  if (included.paths.empty() && excluded.paths.empty()) {
    if (auto added = add_everything(included); !added) return added;
  }
  if (auto checked = check_lists(policy, included, excluded); !checked) return checked;
  if (names_etag(included) || names_etag(excluded)) return {};
  return add_etag(excluded);
}

// The indexes of other kinds than paths; those that are there are named in the JSON.
Status add_special_indexes(const Node& policy, IndexingPolicy& out) {
  struct Kind {
    std::string_view name;
    Result<std::string> (*read)(const Node& policy, IndexingPolicy& out);
  };
  for (const Kind& kind :
       {Kind{"compositeIndexes", read_composites}, Kind{"spatialIndexes", read_spatial},
        Kind{"vectorIndexes", read_vector}, Kind{"fullTextIndexes", read_full_text}}) {
    auto json = kind.read(policy, out);
    if (!json) return pass(json.error());
    if (!json->empty()) append_member(out.json, kind.name, *json);
  }
  return {};
}

}  // namespace

OldIndexes old_indexes_of(std::string_view protocol_version) {
  const bool old = !protocol_version.empty() && protocol_version < "2018-12-31";
  return old ? OldIndexes::kept : OldIndexes::dropped;
}

Result<IndexingPolicy> parse_indexing_policy(const Node* policy, OldIndexes old_indexes) {
  IndexingPolicy out;
  Node empty;
  empty.type = Type::object;
  empty.raw = "{}";
  const Node& from = policy != nullptr ? *policy : empty;
  if (from.type != Type::object) return bad_field(kIndexingPolicy, from, "give an object.");

  auto mode = choice_member(from, kIndexingPolicy, "indexingMode", {"consistent", "lazy", "none"},
                            "consistent");
  if (!mode) return pass(mode.error());
  auto automatic = optional_member(from, kIndexingPolicy, "automatic", Type::boolean);
  if (!automatic) return pass(automatic.error());
  auto included = read_paths(from, "includedPaths", old_indexes);
  if (!included) return pass(included.error());
  auto excluded = read_paths(from, "excludedPaths", old_indexes);
  if (!excluded) return pass(excluded.error());

  out.indexed = *mode != "none";
  if (out.indexed) {
    if (auto completed = complete_lists(from, *included, *excluded); !completed) {
      return pass(completed.error());
    }
  } else {
    *included = {};
    *excluded = {};
  }

  out.json = "{";
  append_member(out.json, "indexingMode", quoted(*mode));
  const bool by_itself = out.indexed && (*automatic == nullptr || (*automatic)->boolean);
  append_member(out.json, "automatic", by_itself ? "true" : "false");
  append_member(out.json, "includedPaths", array_of(included->json));
  append_member(out.json, "excludedPaths", array_of(excluded->json));
  if (auto added = add_special_indexes(from, out); !added) return pass(added.error());
  out.json += '}';

  for (value::IndexPath& path : included->paths) {
    out.rules.push_back({.path = std::move(path), .include = true});
  }
  for (value::IndexPath& path : excluded->paths) {
    out.rules.push_back({.path = std::move(path), .include = false});
  }
  return out;
}

}  // namespace orrery::cosmos
