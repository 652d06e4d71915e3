// createIndexes, listIndexes, dropIndexes. Indexes are kept in the collection's definition as they
// were asked for. Unique keys are given to a container when it is made, and the date that a
// document expires by is taken when it is written: so unique and TTL indexes can be made while the
// collection is empty.
#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Value;

constexpr size_t kIndexesMax = 64;
constexpr size_t kFieldsMax = 32;
constexpr std::string_view kIgnored[] = {"ns", "background", "v", "key", "name"};

Value name_of(std::string_view text) {
  return Value::make_string(std::string(text));
}

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
  made.is_unique = flag_argument(given, "unique", false);
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
  if (made.is_unique && (!given.find("partialFilterExpression").is_undefined() ||
                         flag_argument(given, "sparse", false))) {
    return refuse(kNotImplemented,
                  "unique indexes that are sparse or partial are not implemented: they would "
                  "refuse documents that they should not");
  }
  std::vector<Value::Field> fields = {{name_of("v"), Value::make_integer(2, NumberKind::int32)},
                                      {name_of("key"), made.index.key},
                                      {name_of("name"), name_of(made.index.name)}};
  for (const Value::Member& member : given.members()) {
    if (std::ranges::find(kIgnored, member.name) != std::end(kIgnored)) continue;
    fields.push_back({name_of(member.name), member.value.to_owned()});
  }
  made.index.spec = Value::make_object(std::move(fields));
  return made;
}

bool is_same(const Value& a, const Value& b) {
  return compare(a, b, value::ValueOrder::typed) == 0;
}

bool is_id_key(const Value& key) {
  return key.size() == 1 && key.find("_id").is_number();
}

// A container's unique keys are given when it is made: one without documents is made again.
Answer<cluster::RoutingPtr> make_again(const Context& context, Call& call,
                                       const cluster::RoutingPtr& routing, Definition definition) {
  auto page =
      context.engine.feed(routing, value::placement_min(), value::placement_max(), nullptr, 1, {});
  if (!page) return pass(engine_error(page.error()));
  if (!page->page.items.empty() || page->page.more) {
    return refuse(kNotImplemented,
                  fmt::format("a unique index and a TTL index can be made while the collection has "
                              "no documents, and {} has some: make them before the first insert",
                              call.ns()));
  }
  const auto throughput = routing->container->throughput;
  auto removed = context.engine.remove_container(routing->container->number);
  if (!removed) return pass(engine_error(removed.error()));
  const std::string name(call.collection());
  return create_collection(context, {.database = call.database,
                                     .name = name,
                                     .definition = std::move(definition),
                                     .throughput = throughput});
}

}  // namespace

Answer<void> run_create_indexes(const Context& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const Value given = call["indexes"];
  if (!given.is_array() || given.size() == 0) {
    return refuse(kBadValue, "Must specify at least one index to create");
  }
  const auto found = find_collection(context, call.database, *name);
  Definition definition = found ? definition_of(*found) : Definition();
  const auto before = static_cast<int32_t>(definition.indexes.size() + 1);
  bool needs_empty = false;  // what is new can be given to a collection without documents alone
  size_t added = 0;
  for (const Value& one : given.elements()) {
    auto parsed = parse_index(one);
    if (!parsed) return pass(std::move(parsed.error()));
    IndexSpec& index = parsed->index;
    if (is_id_key(index.key)) continue;
    if (index.name == "_id_") {
      return refuse(kBadValue, "The index name '_id_' is reserved for the _id index");
    }
    bool is_there = false;
    for (const IndexSpec& other : definition.indexes) {
      if (is_same(other.spec, index.spec)) {
        is_there = true;
        break;
      }
      if (other.name == index.name) {
        return refuse(kIndexKeySpecsConflict,
                      fmt::format("An existing index has the same name as the requested index: "
                                  "'{}' in {}, with another key or other options",
                                  index.name, call.ns()));
      }
      if (is_same(other.key, index.key)) {
        return refuse(kIndexOptionsConflict,
                      fmt::format("Index already exists with a different name or other options: "
                                  "{}",
                                  other.name));
      }
    }
    if (is_there) continue;
    if (definition.indexes.size() + 1 >= kIndexesMax) {
      return refuse(kCannotCreateIndex,
                    fmt::format("add index fails, too many indexes for {}: {} are the most",
                                call.ns(), kIndexesMax));
    }
    if (parsed->is_unique) {
      for (const std::string& path : definition.shard_paths()) {
        if (index.key.find(path).is_undefined()) {
          return refuse(kCannotCreateIndex,
                        fmt::format("cannot create unique index over {} with shard key field {}: "
                                    "it must be in the index",
                                    usual_name(index.key), path));
        }
      }
      needs_empty = true;
    }
    if (parsed->is_expiring) {
      if (definition.expiring_index() != nullptr) {
        return refuse(kNotImplemented, "a second TTL index is not implemented");
      }
      needs_empty = true;
    }
    definition.indexes.push_back(std::move(index));
    ++added;
  }
  const auto after = static_cast<int32_t>(definition.indexes.size() + 1);
  if (!found) {
    auto made = create_collection(
        context, {.database = call.database, .name = *name, .definition = std::move(definition)});
    if (!made) return pass(std::move(made.error()));
  } else if (added > 0) {
    auto changed = needs_empty ? make_again(context, call, found, std::move(definition))
                               : replace_definition(context, found, definition);
    if (!changed) return pass(std::move(changed.error()));
  }
  call.answer.int32("numIndexesBefore", found ? before : 1)
      .int32("numIndexesAfter", after)
      .boolean("createdCollectionAutomatically", !found);
  if (found && added == 0) call.answer.string("note", "all indexes already exist");
  return {};
}

Answer<void> run_list_indexes(const Context& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const auto routing = find_collection(context, call.database, *name);
  if (!routing) {
    return refuse(kNamespaceNotFound, fmt::format("ns does not exist: {}", call.ns()));
  }
  std::vector<std::string> rows;
  const auto add = [&rows](const IndexSpec& index) {
    if (auto row = to_bson(index.spec)) rows.push_back(std::move(*row));
  };
  add(id_index());
  for (const IndexSpec& index : definition_of(*routing).indexes) add(index);
  std::optional<int64_t> size;
  if (const Value cursor = call["cursor"]; cursor.is_object()) {
    auto asked = integer_argument(cursor, "batchSize", kFirstBatch);
    if (!asked) return pass(std::move(asked.error()));
    size = *asked;
  }
  return reply_first_batch(context, call, rows_of(std::move(rows)),
                           {.ns = call.ns(), .size = size});
}

Answer<void> run_drop_indexes(const Context& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const auto routing = find_collection(context, call.database, *name);
  if (!routing) return refuse(kNamespaceNotFound, fmt::format("ns not found {}", call.ns()));
  Definition definition = definition_of(*routing);
  const auto before = static_cast<int32_t>(definition.indexes.size() + 1);
  std::vector<Value> asked;
  const Value which = call["index"];
  if (which.is_array()) {
    for (const Value& one : which.elements()) asked.push_back(one);
  } else {
    asked.push_back(which);
  }
  const auto drop = [&](auto matches) -> Answer<void> {
    std::vector<IndexSpec> left;
    for (const IndexSpec& index : definition.indexes) {
      if (!matches(index)) {
        left.push_back(index);
        continue;
      }
      if (flag_argument(index.spec, "unique", false)) {
        return refuse(kNotImplemented,
                      fmt::format("the unique index '{}' cannot be dropped: a collection keeps "
                                  "the unique keys that it was made with",
                                  index.name));
      }
    }
    definition.indexes = std::move(left);
    return {};
  };
  for (const Value& one : asked) {
    const size_t count = definition.indexes.size();
    Answer<void> dropped;
    if (one.is_string() && one.text() == "*") {
      dropped = drop([](const IndexSpec&) { return true; });
      if (dropped) continue;
    } else if (one.is_string()) {
      if (one.text() == "_id_") return refuse(kInvalidOptions, "cannot drop _id index");
      dropped = drop([&](const IndexSpec& index) { return index.name == one.text(); });
    } else if (one.is_object()) {
      if (is_id_key(one)) return refuse(kInvalidOptions, "cannot drop _id index");
      dropped = drop([&](const IndexSpec& index) { return is_same(index.key, one); });
    } else {
      return refuse(kTypeMismatch, "the index to drop must be a name, a key or a list of names");
    }
    if (!dropped) return dropped;
    if (definition.indexes.size() == count) {
      return refuse(kIndexNotFound,
                    fmt::format("index not found with name or key [{}]",
                                one.is_string() ? std::string(one.text()) : shown(one)));
    }
  }
  auto changed = replace_definition(context, routing, definition);
  if (!changed) return pass(std::move(changed.error()));
  call.answer.int32("nIndexesWas", before);
  return {};
}

}  // namespace orrery::mongo
