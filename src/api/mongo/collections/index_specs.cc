// See index_specs.h.
#include "api/mongo/collections/index_specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/match.h"
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Value;

constexpr size_t kIndexesMax = 64;
constexpr size_t kFieldsMax = 32;
constexpr std::string_view kSphereVersion = "2dsphereIndexVersion";
constexpr int32_t kSphereVersionNow = 3;
constexpr std::string_view kIgnored[] = {"ns", "background", "v", "key", "name"};

// a_1_b_-1
std::string usual_name(const Value& key) {
  std::string name;
  for (const Value::Member& member : key.members()) {
    if (!name.empty()) name += '_';
    name += member.name;
    name += '_';
    if (member.value.is_string()) {
      name += member.value.text();
    } else if (member.value.is_number()) {
      name += fmt::format("{}", member.value.number());
    }
  }
  return name;
}

Answer<void> check_key(const Value& key) {
  if (key.size() == 0) {
    return refuse(kCannotCreateIndex, "Index keys cannot be an empty object");
  }
  if (key.size() > kFieldsMax) {
    return refuse(13103, fmt::format("too many compound keys: {} of {}", key.size(), kFieldsMax));
  }
  for (const Value::Member& member : key.members()) {
    if (member.name.empty() || member.name.starts_with('.') || member.name.ends_with('.')) {
      return refuse(kCannotCreateIndex,
                    fmt::format("Index keys cannot contain an empty field: '{}'", member.name));
    }
    if (member.value.is_number()) {
      if (member.value.number() == 0 || std::isnan(member.value.number())) {
        return refuse(
            kCannotCreateIndex,
            fmt::format("Values in the index key pattern must not be 0: '{}'", member.name));
      }
      continue;
    }
    if (!member.value.is_string()) {
      return refuse(kTypeMismatch,
                    fmt::format("Values in v:2 index key pattern cannot be of type {}: '{}'",
                                type_name(member.value), member.name));
    }
    const std::string_view kind = member.value.text();
    if (kind == "text") return refuse(kNotImplemented, "text indexes are not implemented");
    if (kind != "hashed" && kind != "2dsphere" && kind != "2d") {
      return refuse(kCannotCreateIndex, fmt::format("Unknown index plugin '{}'", kind));
    }
  }
  return {};
}

// Which operators a partial index can have.
constexpr std::string_view kPartialOperators[] = {
    "$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$type", "$geoWithin", "$geoIntersects"};

std::unexpected<Error> not_partial(std::string_view what) {
  return refuse(kCannotCreateIndex,
                fmt::format("Expression not supported in partial index: {}", what));
}

Answer<void> check_partial_operators(const Value& operators) {
  for (const Value::Member& member : operators.members()) {
    const bool is_known =
        std::ranges::find(kPartialOperators, member.name) != std::end(kPartialOperators) ||
        (member.name == "$exists" && is_truthy(member.value));
    if (!is_known) return not_partial(member.name);
  }
  return {};
}

Answer<void> check_partial_filter(const Value& filter, int depth) {
  if (depth > kMaxNesting) return not_partial("nested too deep");
  for (const Value::Member& member : filter.members()) {
    if (member.name == "$and" || member.name == "$or") {
      for (const Value& clause : member.value.elements()) {
        if (auto checked = check_partial_filter(clause, depth + 1); !checked) return checked;
      }
      continue;
    }
    if (member.name.starts_with('$')) return not_partial(member.name);
    if (member.value.type() == value::Type::regex) return not_partial("a regular expression");
    if (!has_operators(member.value)) continue;
    if (auto checked = check_partial_operators(member.value); !checked) return checked;
  }
  return {};
}

// The filter of a partial index.
Answer<void> check_partial(const Value& given) {
  const Value filter = given.find("partialFilterExpression");
  if (filter.is_undefined()) return {};
  if (!filter.is_object()) {
    return refuse(kTypeMismatch, "The field 'partialFilterExpression' must be an object");
  }
  if (is_truthy(given.find("sparse"))) {
    return refuse(kCannotCreateIndex,
                  "cannot mix \"partialFilterExpression\" and \"sparse\" options");
  }
  if (auto checked = check_partial_filter(filter, 0); !checked) return checked;
  auto matcher = Matcher::parse(filter);
  if (!matcher) return pass(std::move(matcher.error()));
  return {};
}

struct NewIndex {
  IndexSpec index;
  bool is_unique = false;
  bool is_expiring = false;
};

Answer<NewIndex> parse_index(const Value& given) {
  if (!given.is_object()) return refuse(kTypeMismatch, "an index must be an object");
  const Value key = given.find("key");
  if (!key.is_object()) {
    return refuse(kFailedToParse,
                  "The 'key' field is a required property of an index "
                  "specification");
  }
  if (auto checked = check_key(key); !checked) return pass(std::move(checked.error()));
  const Value name = given.find("name");
  if (!name.is_undefined() && (!name.is_string() || name.text().empty())) {
    return refuse(kTypeMismatch, "The field 'name' must be a string that is not empty");
  }
  NewIndex made;
  made.index.name = name.is_string() ? std::string(name.text()) : usual_name(key);
  made.index.key = key.to_owned();
  made.is_unique = is_truthy(given.find("unique"));
  if (const Value seconds = given.find("expireAfterSeconds"); !seconds.is_undefined()) {
    if (!seconds.is_number() || !(seconds.number() >= 0 && seconds.number() <= INT32_MAX)) {
      return refuse(kCannotCreateIndex,
                    "TTL index 'expireAfterSeconds' option must be within 0 and 2147483647");
    }
    if (key.size() != 1) {
      return refuse(kCannotCreateIndex,
                    "TTL indexes are single-field indexes, compound indexes do not support TTL");
    }
    if (!given.find("partialFilterExpression").is_undefined()) {
      return refuse(kNotImplemented,
                    "TTL indexes that are partial are not implemented: documents "
                    "would expire that should not");
    }
    made.is_expiring = true;
  }
  if (auto checked = check_partial(given); !checked) return pass(std::move(checked.error()));
  const Value version = given.find(kSphereVersion);
  const bool is_sphere = !places_of(made.index).empty();
  if (is_sphere && !version.is_undefined() &&
      !(version.is_number() && version.number() >= 1 && version.number() <= kSphereVersionNow)) {
    return refuse(kCannotCreateIndex,
                  fmt::format("unsupported geo index version {{ {}: {} }}, only support versions: "
                              "[1,2,3]",
                              kSphereVersion, shown(version)));
  }
  if (is_sphere && made.is_unique) {
    return refuse(kNotImplemented, "unique 2dsphere indexes are not implemented");
  }
  // Unique values are compared byte by byte, so texts that a collation holds for the same would
  // pass.
  const Value locale = given.find("collation").find("locale");
  if (made.is_unique && !locale.is_undefined() && locale != Value::borrow_string("simple")) {
    return refuse(kNotImplemented, "unique indexes with a collation are not implemented");
  }
  std::vector<Value::Field> fields = {{text_value("v"), Value::make_integer(2, NumberKind::int32)},
                                      {text_value("key"), made.index.key},
                                      {text_value("name"), text_value(made.index.name)}};
  for (const Value::Member& member : given.members()) {
    if (std::ranges::find(kIgnored, member.name) != std::end(kIgnored)) continue;
    fields.push_back({text_value(member.name), member.value.to_owned()});
  }
  if (is_sphere && version.is_undefined()) {
    fields.push_back(
        {text_value(kSphereVersion), Value::make_integer(kSphereVersionNow, NumberKind::int32)});
  }
  made.index.spec = Value::make_object(std::move(fields));
  return made;
}

// Whether an index like this one is there. 85 or 86 when there is one that differs.
Answer<bool> is_there(const Definition& definition, const IndexSpec& index, std::string_view ns) {
  for (const IndexSpec& other : definition.indexes) {
    if (is_same_key(other.spec, index.spec)) return true;
    if (other.name == index.name) {
      return refuse(kIndexKeySpecsConflict,
                    fmt::format("An existing index has the same name as the requested index: "
                                "'{}' in {}, with another key or other options",
                                index.name, ns));
    }
    if (is_same_key(other.key, index.key)) {
      return refuse(kIndexOptionsConflict,
                    fmt::format("Index already exists with a different name or other options: {}",
                                other.name));
    }
  }
  return false;
}

Answer<void> check_new_index(const Definition& definition, const NewIndex& made,
                             std::string_view ns) {
  if (definition.indexes.size() + 1 >= kIndexesMax) {
    return refuse(
        kCannotCreateIndex,
        fmt::format("add index fails, too many indexes for {}: {} are the most", ns, kIndexesMax));
  }
  if (made.is_unique) {
    for (const std::string& path : definition.shard_paths()) {
      if (!made.index.key.find(path).is_undefined()) continue;
      return refuse(kCannotCreateIndex,
                    fmt::format("cannot create unique index over {} with shard key field {}: "
                                "it must be in the index",
                                usual_name(made.index.key), path));
    }
  }
  if (made.is_expiring && definition.expiring_index() != nullptr) {
    return refuse(kNotImplemented, "a second TTL index is not implemented");
  }
  return {};
}

}  // namespace

bool is_same_key(const Value& a, const Value& b) {
  return compare(a, b, value::ValueOrder::typed) == 0;
}

bool is_id_key(const Value& key) {
  return key.size() == 1 && key.find("_id").is_number();
}

Answer<AddedIndexes> add_indexes(Definition& definition, const Value& given, std::string_view ns) {
  AddedIndexes added;
  for (const Value& one : given.elements()) {
    auto made = parse_index(one);
    if (!made) return pass(std::move(made.error()));
    if (is_id_key(made->index.key)) continue;
    if (made->index.name == "_id_") {
      return refuse(kBadValue, "The index name '_id_' is reserved for the _id index");
    }
    // One that was not finished is made again.
    std::erase_if(definition.indexes, [&](const IndexSpec& other) {
      return other.name == made->index.name && Definition::is_expiry_pending(other);
    });
    auto known = is_there(definition, made->index, ns);
    if (!known) return pass(std::move(known.error()));
    if (*known) continue;
    if (auto checked = check_new_index(definition, *made, ns); !checked) {
      return pass(std::move(checked.error()));
    }
    added.expires = added.expires || made->is_expiring;
    definition.indexes.push_back(std::move(made->index));
    ++added.count;
  }
  return added;
}

}  // namespace orrery::mongo
