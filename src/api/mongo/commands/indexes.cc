// createIndexes, listIndexes, dropIndexes. Indexes are kept in the collection's definition as they
// were asked for. Unique keys are given to a container when it is made: so unique indexes can be
// made while the collection is empty.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/index_specs.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/documents/start_expiring.h"

namespace orrery::mongo {

using value::Value;

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
  auto added = add_indexes(definition, given, call.ns());
  if (!added) return pass(std::move(added.error()));
  const auto after = static_cast<int32_t>(definition.indexes.size() + 1);
  if (!found) {
    auto made = create_collection(
        context, {.database = call.database, .name = *name, .definition = std::move(definition)});
    if (!made) return pass(std::move(made.error()));
  } else if (added->count > 0) {
    auto changed = added->needs_empty ? make_again(context, found, std::move(definition))
                   : added->expires   ? start_expiring(context, call, found, std::move(definition))
                                      : replace_definition(context, found, definition);
    if (!changed) return pass(std::move(changed.error()));
  }
  call.answer.int32("numIndexesBefore", found ? before : 1)
      .int32("numIndexesAfter", after)
      .boolean("createdCollectionAutomatically", !found);
  if (found && added->count == 0) call.answer.string("note", "all indexes already exist");
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
      dropped = drop([&](const IndexSpec& index) { return is_same_key(index.key, one); });
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
