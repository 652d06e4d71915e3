// Unique keys, conflict resolution, computed properties, and the vector, full-text and change-feed
// policies: each is checked and written out with its defaults. See container_policies.h; encryption
// is in client_encryption_policy.cc.
#include "api/cosmos/resources/container_policies.h"

#include <algorithm>
#include <array>

#include "api/cosmos/resources/definition_fields.h"
#include "base/bytes.h"
#include "query/parse/parser.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr size_t kMaxFullTextPaths = 1024;
constexpr size_t kMaxComputedQueryBytes = 64 * 1024;

constexpr std::array<std::string_view, 7> kSystemNames = {"id",    "_rid",         "_ts", "_self",
                                                          "_etag", "_attachments", "_lsn"};

// What the query of a computed property may not have; it is worked out item by item.
constexpr std::array<std::string_view, 8> kForbiddenWords = {
    "WHERE", "JOIN", "GROUP", "ORDER", "TOP", "DISTINCT", "OFFSET", "LIMIT"};

bool is_name_start(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// The bare words of a query: neither in strings nor after a dot.
std::vector<std::string_view> bare_words(std::string_view query) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < query.size();) {
    const char c = query[i];
    if (c == '"' || c == '\'') {
      const size_t open = i++;
      while (i < query.size() && query[i] != query[open]) i += query[i] == '\\' ? 2 : 1;
      ++i;
    } else if (is_name_start(c)) {
      const size_t start = i;
      while (i < query.size() &&
             (is_name_start(query[i]) || (query[i] >= '0' && query[i] <= '9'))) {
        ++i;
      }
      if (start == 0 || query[start - 1] != '.') words.push_back(query.substr(start, i - start));
    } else {
      ++i;
    }
  }
  return words;
}

Result<value::Path> property_path(const Node& text, std::string_view where) {
  if (text.type != Type::string) {
    return bad_field(where, text, "give the path of a property like /name.");
  }
  auto path = value::parse_property_path(text.text);
  if (!path) {
    return bad_field(
        where, text,
        "give the path of a property like /name or /address/city, without wildcards. (" +
            path.error().message + ")");
  }
  return path;
}

// A language and a country, or Windows' number of them: en-US, 1033.
bool is_language(std::string_view text) {
  if (text.size() == 4 || text.size() == 5) {
    if (std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return true;
  }
  auto letter = [](char c, char first) { return c >= first && c < first + 26; };
  return text.size() == 5 && text[2] == '-' && letter(text[0], 'a') && letter(text[1], 'a') &&
         letter(text[3], 'A') && letter(text[4], 'A');
}

}  // namespace

Result<UniqueKeyPolicy> parse_unique_key_policy(const Node& policy) {
  constexpr std::string_view kWhere = "uniqueKeyPolicy";
  UniqueKeyPolicy out;
  if (policy.type != Type::object) return bad_field(kWhere, policy, "give an object.");
  auto keys = optional_member(policy, kWhere, "uniqueKeys", Type::array);
  if (!keys) return pass(keys.error());
  const Node* const array = *keys;
  const std::string where = join(kWhere, "uniqueKeys");
  if (array != nullptr && array->count > kMaxUniqueKeys) {
    return bad_field(where, *array,
                     "a container has at most " + std::to_string(kMaxUniqueKeys) + " unique keys.");
  }
  out.json = "{\"uniqueKeys\":[";
  size_t paths_in_all = 0;
  for (const Node* key = array != nullptr ? array->first : nullptr; key != nullptr;
       key = key->next) {
    const std::string here = element(where, out.keys.size());
    if (key->type != Type::object) {
      return bad_field(here, *key, "give an object like {\"paths\":[\"/email\"]}.");
    }
    auto paths = required_member(*key, here, "paths", Type::array);
    if (!paths) return pass(paths.error());
    const std::string paths_where = join(here, "paths");
    if ((*paths)->count == 0) return bad_field(paths_where, **paths, "give at least one path.");
    paths_in_all += (*paths)->count;
    if (paths_in_all > kMaxUniqueKeyPaths) {
      return bad_field(paths_where, **paths,
                       "the unique keys of a container have at most " +
                           std::to_string(kMaxUniqueKeyPaths) + " paths together.");
    }
    std::vector<value::Path> read;
    for (const Node* text = (*paths)->first; text != nullptr; text = text->next) {
      auto path = property_path(*text, element(paths_where, read.size()));
      if (!path) return pass(path.error());
      if (std::ranges::find(read, *path) != read.end()) {
        return bad_field(element(paths_where, read.size()), *text,
                         "the path is in this unique key twice.");
      }
      read.push_back(std::move(*path));
    }
    if (std::ranges::find(out.keys, read) != out.keys.end()) {
      return bad_field(here, *key, "the same unique key is in the policy twice.");
    }
    if (!out.keys.empty()) out.json += ',';
    out.json += "{\"paths\":" + std::string((*paths)->raw) + "}";
    out.keys.push_back(std::move(read));
  }
  out.json += "]}";
  return out;
}

std::string default_conflict_resolution_policy() {
  return R"({"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""})";
}

Result<std::string> parse_conflict_resolution_policy(const Node& policy) {
  constexpr std::string_view kWhere = "conflictResolutionPolicy";
  if (policy.type != Type::object) return bad_field(kWhere, policy, "give an object.");
  auto mode = choice_member(policy, kWhere, "mode", {"LastWriterWins", "Custom"}, "LastWriterWins");
  if (!mode) return pass(mode.error());
  auto path = optional_member(policy, kWhere, "conflictResolutionPath", Type::string);
  if (!path) return pass(path.error());
  auto procedure = optional_member(policy, kWhere, "conflictResolutionProcedure", Type::string);
  if (!procedure) return pass(procedure.error());
  const std::string_view path_text = *path != nullptr ? (*path)->text : std::string_view();
  const std::string_view procedure_text =
      *procedure != nullptr ? (*procedure)->text : std::string_view();
  const bool last_writer = *mode == "LastWriterWins";
  if (last_writer && !procedure_text.empty()) {
    return bad_field(join(kWhere, "conflictResolutionProcedure"), **procedure,
                     "only the mode Custom calls a procedure; leave it out.");
  }
  if (!last_writer && !path_text.empty()) {
    return bad_field(join(kWhere, "conflictResolutionPath"), **path,
                     "only the mode LastWriterWins compares a path; leave it out.");
  }
  if (last_writer && !path_text.empty()) {
    auto checked = property_path(**path, join(kWhere, "conflictResolutionPath"));
    if (!checked) return pass(checked.error());
  }
  std::string json = "{";
  append_member(json, "mode", quoted(*mode));
  append_member(json, "conflictResolutionPath",
                quoted(last_writer && path_text.empty() ? "/_ts" : path_text));
  append_member(json, "conflictResolutionProcedure", quoted(procedure_text));
  json += '}';
  return json;
}

Result<std::string> parse_computed_properties(const Node& properties) {
  constexpr std::string_view kWhere = "computedProperties";
  if (properties.type != Type::array) return bad_field(kWhere, properties, "give an array.");
  if (properties.count > kMaxComputedProperties) {
    return bad_field(kWhere, properties,
                     "a container has at most " + std::to_string(kMaxComputedProperties) +
                         " computed properties.");
  }
  std::vector<std::string_view> names;
  for (const Node* entry = properties.first; entry != nullptr; entry = entry->next) {
    const std::string here = element(kWhere, names.size());
    if (entry->type != Type::object) {
      return bad_field(here, *entry, "give an object with a name and a query.");
    }
    auto name = required_member(*entry, here, "name", Type::string);
    if (!name) return pass(name.error());
    const std::string_view text = (*name)->text;
    if (text.empty() || text.find('/') != std::string_view::npos) {
      return bad_field(join(here, "name"), **name,
                       "give the name of a property at the top of the item.");
    }
    if (std::ranges::find(kSystemNames, text) != kSystemNames.end()) {
      return bad_field(join(here, "name"), **name,
                       "the system sets that property; take another name.");
    }
    if (std::ranges::find(names, text) != names.end()) {
      return bad_field(join(here, "name"), **name, "two computed properties have that name.");
    }
    names.push_back(text);

    auto query = required_member(*entry, here, "query", Type::string);
    if (!query) return pass(query.error());
    const std::string query_where = join(here, "query");
    if ((*query)->text.size() > kMaxComputedQueryBytes) {
      return bad_field(query_where, **query, "the query is too long.");
    }
    const std::vector<std::string_view> words = bare_words((*query)->text);
    const bool selects_value = words.size() >= 2 && equals_ignore_case(words[0], "SELECT") &&
                               equals_ignore_case(words[1], "VALUE");
    const bool has_from = std::ranges::any_of(
        words, [](std::string_view word) { return equals_ignore_case(word, "FROM"); });
    if (!selects_value || !has_from) {
      return bad_field(query_where, **query, "write it like SELECT VALUE LOWER(c.name) FROM c.");
    }
    for (const std::string_view forbidden : kForbiddenWords) {
      for (const std::string_view word : words) {
        if (equals_ignore_case(word, forbidden)) {
          return bad_field(query_where, **query,
                           "a computed property cannot use " + std::string(forbidden) + ".");
        }
      }
    }
    if (auto parsed = parse_computed_property((*query)->text); !parsed) {
      return bad_field(query_where, **query, parsed.error().message);
    }
  }
  return std::string(properties.raw);
}

Result<query::Query> parse_computed_property(std::string_view text) {
  auto parsed = query::parse_query(text);
  if (!parsed) return fail(Code::invalid, parsed.error().message);
  const bool of_items = parsed->from && !parsed->from->iterates &&
                        parsed->from->collection->kind == query::ExprKind::identifier;
  if (!of_items || parsed->select.kind != query::Select::Kind::value) {
    return fail(Code::invalid, "write it like SELECT VALUE LOWER(c.name) FROM c.");
  }
  if (auto bound = query::bind_query(*parsed, {}); !bound) {
    return fail(Code::invalid, bound.error().message);
  }
  return std::move(*parsed);
}

Result<query::ComputedProperties> computed_properties(std::string_view definition_json) {
  query::ComputedProperties all;
  // Most containers have none, and every query asks.
  if (definition_json.find("\"computedProperties\"") == std::string_view::npos) return all;
  auto definition = value::JsonDocument::parse('{' + std::string(definition_json) + '}');
  if (!definition) return pass(definition.error());
  const Node* list = definition->root().find("computedProperties");
  for (const Node* one = list != nullptr ? list->first : nullptr; one != nullptr; one = one->next) {
    const Node* name = one->find("name");
    const Node* text = one->find("query");
    if (name == nullptr || text == nullptr) continue;
    auto parsed = parse_computed_property(text->text);
    if (!parsed) return pass(parsed.error());
    all.emplace(name->text, std::move(*parsed));
  }
  return all;
}

Result<query::VectorPaths> vector_paths(std::string_view definition_json) {
  query::VectorPaths all;
  // Most containers have none, and every query asks.
  if (definition_json.find("\"vectorEmbeddings\"") == std::string_view::npos) return all;
  auto definition = value::JsonDocument::parse('{' + std::string(definition_json) + '}');
  if (!definition) return pass(definition.error());
  const Node* policy = definition->root().find("vectorEmbeddingPolicy");
  const Node* list = policy != nullptr ? policy->find("vectorEmbeddings") : nullptr;
  for (const Node* one = list != nullptr ? list->first : nullptr; one != nullptr; one = one->next) {
    const Node* path = one->find("path");
    const Node* name = one->find("distanceFunction");
    if (path == nullptr || name == nullptr) continue;
    auto parsed = value::parse_property_path(path->text);
    if (!parsed) return pass(parsed.error());
    const auto metric = query::parse_vector_metric(name->text);
    all.push_back({std::move(*parsed), metric.value_or(query::VectorMetric::cosine)});
  }
  return all;
}

Result<VectorEmbeddingPolicy> parse_vector_embedding_policy(const Node& policy) {
  constexpr std::string_view kWhere = "vectorEmbeddingPolicy";
  VectorEmbeddingPolicy out;
  if (policy.type != Type::object) return bad_field(kWhere, policy, "give an object.");
  auto array = optional_member(policy, kWhere, "vectorEmbeddings", Type::array);
  if (!array) return pass(array.error());
  const std::string where = join(kWhere, "vectorEmbeddings");
  out.json = "{\"vectorEmbeddings\":[";
  const Node* const list = *array;
  if (list != nullptr && list->count > kMaxVectorEmbeddings) {
    return bad_field(where, *list, "at most " + std::to_string(kMaxVectorEmbeddings) + ".");
  }
  for (const Node* entry = list != nullptr ? list->first : nullptr; entry != nullptr;
       entry = entry->next) {
    const std::string here = element(where, out.embeddings.size());
    if (entry->type != Type::object) return bad_field(here, *entry, "give an object.");
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    auto path = property_path(**text, join(here, "path"));
    if (!path) return pass(path.error());
    auto type =
        choice_member(*entry, here, "dataType", {"float32", "float16", "uint8", "int8"}, "float32");
    if (!type) return pass(type.error());
    auto dimensions = integer_member(*entry, here, "dimensions", 1, kMaxVectorDimensions);
    if (!dimensions) return pass(dimensions.error());
    if (!*dimensions) {
      return missing_field(join(here, "dimensions"), "give the length of the vectors.");
    }
    auto distance = choice_member(*entry, here, "distanceFunction",
                                  {"cosine", "dotproduct", "euclidean"}, "cosine");
    if (!distance) return pass(distance.error());
    for (const VectorEmbedding& other : out.embeddings) {
      if (other.path == (*text)->text) {
        return bad_field(join(here, "path"), **text, "the path is in the policy twice.");
      }
    }
    if (!out.embeddings.empty()) out.json += ',';
    out.json += '{';
    append_member(out.json, "path", (*text)->raw);
    append_member(out.json, "dataType", quoted(*type));
    append_member(out.json, "dimensions", std::to_string(**dimensions));
    append_member(out.json, "distanceFunction", quoted(*distance));
    out.json += '}';
    out.embeddings.push_back({.path = std::string((*text)->text), .dimensions = **dimensions});
  }
  out.json += "]}";
  return out;
}

Result<FullTextPolicy> parse_full_text_policy(const Node& policy) {
  constexpr std::string_view kWhere = "fullTextPolicy";
  constexpr std::string_view kAdvice = "give a language like en-US or 1033.";
  FullTextPolicy out;
  if (policy.type != Type::object) return bad_field(kWhere, policy, "give an object.");
  auto language = optional_member(policy, kWhere, "defaultLanguage", Type::string);
  if (!language) return pass(language.error());
  if (*language != nullptr && !is_language((*language)->text)) {
    return bad_field(join(kWhere, "defaultLanguage"), **language, kAdvice);
  }
  auto array = optional_member(policy, kWhere, "fullTextPaths", Type::array);
  if (!array) return pass(array.error());
  const Node* const list = *array;
  const std::string where = join(kWhere, "fullTextPaths");
  for (const Node* entry = list != nullptr ? list->first : nullptr; entry != nullptr;
       entry = entry->next) {
    const std::string here = element(where, out.paths.size());
    if (out.paths.size() == kMaxFullTextPaths) return bad_field(where, *list, "too many paths.");
    if (entry->type != Type::object) return bad_field(here, *entry, "give an object.");
    auto text = required_member(*entry, here, "path", Type::string);
    if (!text) return pass(text.error());
    auto path = property_path(**text, join(here, "path"));
    if (!path) return pass(path.error());
    auto own = optional_member(*entry, here, "language", Type::string);
    if (!own) return pass(own.error());
    if (*own != nullptr && !is_language((*own)->text)) {
      return bad_field(join(here, "language"), **own, kAdvice);
    }
    if (std::ranges::find(out.paths, (*text)->text) != out.paths.end()) {
      return bad_field(join(here, "path"), **text, "the path is in the policy twice.");
    }
    out.paths.emplace_back((*text)->text);
  }
  out.json = policy.raw;
  return out;
}

Result<ChangeFeedPolicy> parse_change_feed_policy(const Node& policy) {
  constexpr std::string_view kWhere = "changeFeedPolicy";
  constexpr int64_t kMaxMinutes = 30LL * 24 * 60;
  if (policy.type != Type::object) return bad_field(kWhere, policy, "give an object.");
  auto minutes = integer_member(policy, kWhere, "retentionDuration", 0, kMaxMinutes);
  if (!minutes) return pass(minutes.error());
  return ChangeFeedPolicy{minutes->value_or(0), std::string(policy.raw)};
}

}  // namespace orrery::cosmos
