// $jsonSchema: draft 4 as MongoDB has it, with bsonType. A schema is a list of checks, all of which
// a value has to pass; a keyword for values of one type passes all others.
#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/regex.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;
using Check = std::function<bool(const Value& value, MatchState& state)>;

struct Schema {
  std::vector<Check> checks;

  bool accepts(const Value& value, MatchState& state) const {
    return std::ranges::all_of(
        checks, [&](const Check& check) { return state.go_on() && check(value, state); });
  }
};

Answer<SchemaPtr> parse_schema(const Value& spec, int depth);

// What the parser of a keyword sees: the operand, and the whole schema for its neighbours.
struct Keyword {
  std::string_view name;
  const Value& operand;
  const Value& schema;
  int depth;

  std::unexpected<Error> wrong(int32_t code, std::string_view what) const {
    return refuse(code, fmt::format("$jsonSchema keyword '{}' {}", name, what));
  }
};

Answer<int64_t> parse_count(const Keyword& keyword) {
  if (!keyword.operand.is_number()) return keyword.wrong(kTypeMismatch, "must be a number");
  const std::optional<int64_t> count = exact_integer(keyword.operand);
  if (!count.has_value()) return keyword.wrong(kFailedToParse, "must be an integer");
  if (*count < 0) return keyword.wrong(kFailedToParse, "must be a non-negative number");
  return *count;
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

// --- types

Check of_types(std::vector<BsonType> types) {
  return [types = std::move(types)](const Value& value, MatchState&) {
    return std::ranges::find(types, bson_type(value)) != types.end();
  };
}

Answer<Check> parse_bson_type(const Keyword& keyword) {
  const Value& operand = keyword.operand;
  if (!operand.is_string() && !operand.is_array()) {
    return keyword.wrong(kTypeMismatch, "must be either a string or an array of strings");
  }
  for (const Value& one : operand.elements()) {
    if (!one.is_string()) return keyword.wrong(kTypeMismatch, "array elements must be strings");
  }
  if (!keyword.schema.find("type").is_undefined()) {
    return refuse(kFailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'");
  }
  Answer<std::vector<BsonType>> types = parse_types(operand);
  if (!types) return pass(std::move(types.error()));
  return of_types(*std::move(types));
}

Answer<Check> parse_type(const Keyword& keyword) {
  static constexpr std::array<std::pair<std::string_view, BsonType>, 5> kNames = {{
      {"object", BsonType::object},
      {"array", BsonType::array},
      {"boolean", BsonType::boolean},
      {"string", BsonType::string},
      {"null", BsonType::null},
  }};
  std::vector<BsonType> types;
  const auto add = [&](const Value& one) -> Answer<void> {
    if (!one.is_string()) {
      return keyword.wrong(kTypeMismatch, "must be either a string or an array of strings");
    }
    if (one.text() == "number") {
      types.insert(types.end(),
                   {BsonType::real, BsonType::int32, BsonType::int64, BsonType::decimal});
      return {};
    }
    if (one.text() == "integer") {
      return refuse(kFailedToParse, "$jsonSchema type 'integer' is not currently supported.");
    }
    const auto* const found =
        std::ranges::find(kNames, one.text(), &std::pair<std::string_view, BsonType>::first);
    if (found == kNames.end()) {
      return refuse(kBadValue, fmt::format("Unknown type name alias: {}", one.text()));
    }
    types.push_back(found->second);
    return {};
  };
  if (!keyword.operand.is_array()) {
    if (const Answer<void> added = add(keyword.operand); !added) return pass(added.error());
  }
  for (const Value& one : keyword.operand.elements()) {
    if (const Answer<void> added = add(one); !added) return pass(added.error());
  }
  return of_types(std::move(types));
}

Answer<Check> parse_enum(const Keyword& keyword) {
  if (!keyword.operand.is_array()) return keyword.wrong(kTypeMismatch, "must be an array");
  if (keyword.operand.size() == 0) return keyword.wrong(kFailedToParse, "cannot be an empty array");
  auto values = std::make_shared<std::unordered_set<Value, ValueHash, ValueEqual>>();
  for (const Value& value : keyword.operand.elements()) {
    if (!values->insert(value).second) {
      return keyword.wrong(kFailedToParse, "array cannot contain duplicate values");
    }
  }
  return [values](const Value& value, MatchState&) { return values->contains(value); };
}

// --- numbers

template <bool kIsMaximum>
Answer<Check> parse_limit(const Keyword& keyword) {
  if (!keyword.operand.is_number()) return keyword.wrong(kTypeMismatch, "must be a number");
  const Value exclusive = keyword.schema.find(kIsMaximum ? "exclusiveMaximum" : "exclusiveMinimum");
  return [limit = keyword.operand, is_exclusive = exclusive.is_true()](const Value& value,
                                                                       MatchState&) {
    if (!value.is_number()) return true;
    const std::strong_ordering order = compare(value, limit, nullptr);
    if (order == 0) return !is_exclusive;
    return kIsMaximum ? order < 0 : order > 0;
  };
}

template <bool kIsMaximum>
Answer<Check> parse_exclusive(const Keyword& keyword) {
  if (!keyword.operand.is_bool()) return keyword.wrong(kTypeMismatch, "must be a boolean");
  if (keyword.schema.find(kIsMaximum ? "maximum" : "minimum").is_undefined()) {
    return keyword.wrong(kFailedToParse, "needs the limit that it excludes");
  }
  return Check();
}

Answer<Check> parse_multiple_of(const Keyword& keyword) {
  if (!keyword.operand.is_number()) return keyword.wrong(kTypeMismatch, "must be a number");
  if (compare(keyword.operand, make_int32(0), nullptr) <= 0) {
    return keyword.wrong(kFailedToParse, "must have a positive value");
  }
  return [divisor = keyword.operand](const Value& value, MatchState&) {
    if (!value.is_number()) return true;
    const Answer<Value> rest = mod(value, divisor);
    return rest && compare(*rest, make_int32(0), nullptr) == 0;
  };
}

// --- strings

template <bool kIsMaximum>
Answer<Check> parse_length(const Keyword& keyword) {
  const Answer<int64_t> count = parse_count(keyword);
  if (!count) return pass(count.error());
  return [limit = static_cast<size_t>(*count)](const Value& value, MatchState&) {
    if (!value.is_string()) return true;
    const size_t length = code_points(value.text());
    return kIsMaximum ? length <= limit : length >= limit;
  };
}

Answer<Check> parse_pattern(const Keyword& keyword) {
  if (!keyword.operand.is_string()) return keyword.wrong(kTypeMismatch, "must be a string");
  Answer<Regex> regex = Regex::compile(keyword.operand.text(), "");
  if (!regex) return pass(std::move(regex.error()));
  return [regex = *std::move(regex)](const Value& value, MatchState& state) {
    if (!value.is_string()) return true;
    const Answer<bool> found = regex.matches(value.text());
    if (!found) state.fail(found.error());
    return found && *found;
  };
}

// --- arrays

template <bool kIsMaximum>
Answer<Check> parse_items_count(const Keyword& keyword) {
  const Answer<int64_t> count = parse_count(keyword);
  if (!count) return pass(count.error());
  return [limit = static_cast<size_t>(*count)](const Value& value, MatchState&) {
    return !value.is_array() || (kIsMaximum ? value.size() <= limit : value.size() >= limit);
  };
}

Answer<Check> parse_unique_items(const Keyword& keyword) {
  if (!keyword.operand.is_bool()) return keyword.wrong(kTypeMismatch, "must be a boolean");
  if (keyword.operand.is_false()) return Check();
  return [](const Value& value, MatchState& state) {
    std::unordered_set<Value, ValueHash, ValueEqual> seen;
    for (const Value& element : value.elements()) {
      if (!state.go_on() || !seen.insert(element).second) return false;
    }
    return true;
  };
}

Answer<Check> parse_items(const Keyword& keyword) {
  if (keyword.operand.is_object()) {
    Answer<SchemaPtr> schema = parse_schema(keyword.operand, keyword.depth);
    if (!schema) return pass(std::move(schema.error()));
    return [schema = *std::move(schema)](const Value& value, MatchState& state) {
      for (const Value& element : value.elements()) {
        if (!schema->accepts(element, state)) return false;
      }
      return true;
    };
  }
  if (!keyword.operand.is_array())
    return keyword.wrong(kTypeMismatch, "must be an array or an object");
  std::vector<SchemaPtr> schemas;
  for (const Value& one : keyword.operand.elements()) {
    Answer<SchemaPtr> schema = parse_schema(one, keyword.depth);
    if (!schema) return pass(std::move(schema.error()));
    schemas.push_back(*std::move(schema));
  }
  return [schemas = std::move(schemas)](const Value& value, MatchState& state) {
    size_t i = 0;
    for (const Value& element : value.elements()) {
      if (i == schemas.size()) break;
      if (!schemas[i++]->accepts(element, state)) return false;
    }
    return true;
  };
}

Answer<Check> parse_additional_items(const Keyword& keyword) {
  if (!keyword.operand.is_bool() && !keyword.operand.is_object()) {
    return keyword.wrong(kTypeMismatch, "must be either an object or a boolean");
  }
  const Value items = keyword.schema.find("items");
  SchemaPtr schema;
  if (keyword.operand.is_object()) {
    Answer<SchemaPtr> parsed = parse_schema(keyword.operand, keyword.depth);
    if (!parsed) return pass(std::move(parsed.error()));
    schema = *std::move(parsed);
  }
  if (!items.is_array() || keyword.operand.is_true()) return Check();
  return [first = items.size(), schema](const Value& value, MatchState& state) {
    for (size_t i = first; value.is_array() && i < value.size(); ++i) {
      if (schema == nullptr || !schema->accepts(value.at(i), state)) return false;
    }
    return true;
  };
}

// --- objects

template <bool kIsMaximum>
Answer<Check> parse_properties_count(const Keyword& keyword) {
  const Answer<int64_t> count = parse_count(keyword);
  if (!count) return pass(count.error());
  return [limit = static_cast<size_t>(*count)](const Value& value, MatchState&) {
    return !value.is_object() || (kIsMaximum ? value.size() <= limit : value.size() >= limit);
  };
}

Answer<std::vector<std::string>> parse_names(const Keyword& keyword, const Value& names) {
  if (!names.is_array()) return keyword.wrong(kTypeMismatch, "must be an array");
  if (names.size() == 0) return keyword.wrong(kFailedToParse, "cannot be an empty array");
  std::vector<std::string> result;
  for (const Value& name : names.elements()) {
    if (!name.is_string()) return keyword.wrong(kTypeMismatch, "must be an array of strings");
    if (std::ranges::find(result, name.text()) != result.end()) {
      return keyword.wrong(kFailedToParse, "array cannot contain duplicate values");
    }
    result.emplace_back(name.text());
  }
  return result;
}

bool has_all(const Value& object, const std::vector<std::string>& names) {
  return std::ranges::all_of(
      names, [&](const std::string& name) { return !object.find(name).is_undefined(); });
}

Answer<Check> parse_required(const Keyword& keyword) {
  Answer<std::vector<std::string>> names = parse_names(keyword, keyword.operand);
  if (!names) return pass(std::move(names.error()));
  return [names = *std::move(names)](const Value& value, MatchState&) {
    return !value.is_object() || has_all(value, names);
  };
}

Answer<Check> parse_properties(const Keyword& keyword) {
  if (!keyword.operand.is_object()) return keyword.wrong(kTypeMismatch, "must be an object");
  std::vector<std::pair<std::string, SchemaPtr>> properties;
  for (const auto& [name, spec] : keyword.operand.members()) {
    Answer<SchemaPtr> schema = parse_schema(spec, keyword.depth);
    if (!schema) return pass(std::move(schema.error()));
    properties.emplace_back(name, *std::move(schema));
  }
  return [properties = std::move(properties)](const Value& value, MatchState& state) {
    if (!value.is_object()) return true;
    return std::ranges::all_of(properties, [&](const auto& property) {
      const Value member = value.find(property.first);
      return member.is_undefined() || property.second->accepts(member, state);
    });
  };
}

using Patterns = std::vector<std::pair<Regex, SchemaPtr>>;

Answer<Patterns> parse_patterns(const Value& spec, int depth) {
  Patterns patterns;
  for (const auto& [pattern, member] : spec.members()) {
    Answer<Regex> regex = Regex::compile(pattern, "");
    if (!regex) return pass(std::move(regex.error()));
    Answer<SchemaPtr> schema = parse_schema(member, depth);
    if (!schema) return pass(std::move(schema.error()));
    patterns.emplace_back(*std::move(regex), *std::move(schema));
  }
  return patterns;
}

Answer<Check> parse_pattern_properties(const Keyword& keyword) {
  if (!keyword.operand.is_object()) return keyword.wrong(kTypeMismatch, "must be an object");
  Answer<Patterns> patterns = parse_patterns(keyword.operand, keyword.depth);
  if (!patterns) return pass(std::move(patterns.error()));
  return [patterns = *std::move(patterns)](const Value& value, MatchState& state) {
    for (const auto& [name, member] : value.members()) {
      for (const auto& [regex, schema] : patterns) {
        const Answer<bool> found = regex.matches(name);
        if (!found) state.fail(found.error());
        if (found && *found && !schema->accepts(member, state)) return false;
      }
    }
    return true;
  };
}

Answer<Check> parse_additional_properties(const Keyword& keyword) {
  if (!keyword.operand.is_bool() && !keyword.operand.is_object()) {
    return keyword.wrong(kTypeMismatch, "must be an object or a boolean");
  }
  if (keyword.operand.is_true()) return Check();
  SchemaPtr schema;
  if (keyword.operand.is_object()) {
    Answer<SchemaPtr> parsed = parse_schema(keyword.operand, keyword.depth);
    if (!parsed) return pass(std::move(parsed.error()));
    schema = *std::move(parsed);
  }
  Answer<Patterns> patterns =
      parse_patterns(keyword.schema.find("patternProperties"), keyword.depth);
  if (!patterns) return pass(std::move(patterns.error()));
  return [schema, patterns = *std::move(patterns), known = keyword.schema.find("properties")](
             const Value& value, MatchState& state) {
    for (const auto& [name, member] : value.members()) {
      if (!known.find(name).is_undefined()) continue;
      const bool is_matched = std::ranges::any_of(patterns, [&name](const auto& pattern) {
        return pattern.first.matches(name).value_or(false);
      });
      if (is_matched) continue;
      if (schema == nullptr || !schema->accepts(member, state)) return false;
    }
    return true;
  };
}

Answer<Check> parse_dependencies(const Keyword& keyword) {
  if (!keyword.operand.is_object()) return keyword.wrong(kTypeMismatch, "must be an object");
  struct Dependency {
    std::string name;
    std::vector<std::string> names;
    SchemaPtr schema;
  };
  std::vector<Dependency> dependencies;
  for (const auto& [name, spec] : keyword.operand.members()) {
    Dependency dependency{.name = std::string(name), .names = {}, .schema = nullptr};
    if (spec.is_object()) {
      Answer<SchemaPtr> schema = parse_schema(spec, keyword.depth);
      if (!schema) return pass(std::move(schema.error()));
      dependency.schema = *std::move(schema);
    } else {
      Answer<std::vector<std::string>> names = parse_names(keyword, spec);
      if (!names) return pass(std::move(names.error()));
      dependency.names = *std::move(names);
    }
    dependencies.push_back(std::move(dependency));
  }
  return [dependencies = std::move(dependencies)](const Value& value, MatchState& state) {
    return std::ranges::all_of(dependencies, [&](const Dependency& dependency) {
      if (value.find(dependency.name).is_undefined()) return true;
      return has_all(value, dependency.names) &&
             (dependency.schema == nullptr || dependency.schema->accepts(value, state));
    });
  };
}

// --- schemas of schemas

template <size_t kLeast, size_t kMost>
Answer<Check> parse_combination(const Keyword& keyword) {
  if (!keyword.operand.is_array()) return keyword.wrong(kTypeMismatch, "must be an array");
  if (keyword.operand.size() == 0) return keyword.wrong(kBadValue, "must be a non-empty array");
  std::vector<SchemaPtr> schemas;
  for (const Value& one : keyword.operand.elements()) {
    if (!one.is_object()) return keyword.wrong(kTypeMismatch, "must be an array of objects");
    Answer<SchemaPtr> schema = parse_schema(one, keyword.depth);
    if (!schema) return pass(std::move(schema.error()));
    schemas.push_back(*std::move(schema));
  }
  return [schemas = std::move(schemas)](const Value& value, MatchState& state) {
    const auto accepted = static_cast<size_t>(std::ranges::count_if(
        schemas, [&](const SchemaPtr& schema) { return schema->accepts(value, state); }));
    return accepted >= std::min(kLeast, schemas.size()) && accepted <= kMost;
  };
}

Answer<Check> parse_not(const Keyword& keyword) {
  if (!keyword.operand.is_object()) return keyword.wrong(kTypeMismatch, "must be an object");
  Answer<SchemaPtr> schema = parse_schema(keyword.operand, keyword.depth);
  if (!schema) return pass(std::move(schema.error()));
  return [schema = *std::move(schema)](const Value& value, MatchState& state) {
    return !schema->accepts(value, state);
  };
}

Answer<Check> parse_note(const Keyword& keyword) {
  if (!keyword.operand.is_string()) return keyword.wrong(kTypeMismatch, "must be a string");
  return Check();
}

struct KeywordParser {
  std::string_view name;
  Answer<Check> (*parse)(const Keyword& keyword);
};

constexpr size_t kAny = SIZE_MAX;

constexpr std::array kKeywords = {
    KeywordParser{"type", parse_type},
    KeywordParser{"bsonType", parse_bson_type},
    KeywordParser{"enum", parse_enum},
    KeywordParser{"maximum", parse_limit<true>},
    KeywordParser{"minimum", parse_limit<false>},
    KeywordParser{"exclusiveMaximum", parse_exclusive<true>},
    KeywordParser{"exclusiveMinimum", parse_exclusive<false>},
    KeywordParser{"multipleOf", parse_multiple_of},
    KeywordParser{"maxLength", parse_length<true>},
    KeywordParser{"minLength", parse_length<false>},
    KeywordParser{"pattern", parse_pattern},
    KeywordParser{"maxItems", parse_items_count<true>},
    KeywordParser{"minItems", parse_items_count<false>},
    KeywordParser{"uniqueItems", parse_unique_items},
    KeywordParser{"items", parse_items},
    KeywordParser{"additionalItems", parse_additional_items},
    KeywordParser{"maxProperties", parse_properties_count<true>},
    KeywordParser{"minProperties", parse_properties_count<false>},
    KeywordParser{"required", parse_required},
    KeywordParser{"properties", parse_properties},
    KeywordParser{"patternProperties", parse_pattern_properties},
    KeywordParser{"additionalProperties", parse_additional_properties},
    KeywordParser{"dependencies", parse_dependencies},
    KeywordParser{"allOf", parse_combination<kAny, kAny>},
    KeywordParser{"anyOf", parse_combination<1, kAny>},
    KeywordParser{"oneOf", parse_combination<1, 1>},
    KeywordParser{"not", parse_not},
    KeywordParser{"title", parse_note},
    KeywordParser{"description", parse_note},
};
constexpr std::array<std::string_view, 6> kUnsupported = {"$ref",        "$schema", "default",
                                                          "definitions", "format",  "id"};

Answer<SchemaPtr> parse_schema(const Value& spec, int depth) {
  if (!spec.is_object()) return refuse(kTypeMismatch, "a $jsonSchema must be an object");
  if (depth > kMaxNesting) {
    return refuse(kFailedToParse, fmt::format("a $jsonSchema nests at most {} deep", kMaxNesting));
  }
  auto schema = std::make_shared<Schema>();
  for (const auto& [name, operand] : spec.members()) {
    const auto* const found = std::ranges::find(kKeywords, name, &KeywordParser::name);
    if (found == kKeywords.end()) {
      const bool is_known = std::ranges::find(kUnsupported, name) != kUnsupported.end();
      return refuse(kFailedToParse,
                    is_known
                        ? fmt::format("$jsonSchema keyword '{}' is not currently supported", name)
                        : fmt::format("Unknown $jsonSchema keyword: {}", name));
    }
    Answer<Check> check =
        found->parse(Keyword{.name = name, .operand = operand, .schema = spec, .depth = depth + 1});
    if (!check) return pass(std::move(check.error()));
    if (*check) schema->checks.push_back(*std::move(check));
  }
  return SchemaPtr(std::move(schema));
}

}  // namespace

Answer<MatchNodePtr> parse_json_schema(const Value& spec) {
  Answer<SchemaPtr> schema = parse_schema(spec, 0);
  if (!schema) return pass(std::move(schema.error()));
  return make_document_node(
      [schema = *std::move(schema)](const Value& document, MatchState& state) {
        return schema->accepts(document, state);
      });
}

}  // namespace orrery::mongo
