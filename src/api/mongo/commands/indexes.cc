// createIndexes, listIndexes, dropIndexes. Indexes are kept in the collection's definition as they
// were asked for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/index_specs.h"
#include "api/mongo/collections/unique_index.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/documents/build_unique.h"
#include "api/mongo/documents/check_places.h"
#include "api/mongo/documents/start_expiring.h"

namespace orrery::mongo {

using value::Value;

namespace {

// The indexes that `definition` has behind those of `before`, given to a collection that is there.
Answer<void> add_to(const HandlerContext& context, Call& call, cluster::RoutingPtr routing,
                    const Definition& before, Definition definition, const AddedIndexes& added) {
  // Those that say by which date documents expire have a way of their own, and come first.
  std::vector<IndexSpec> unique;
  const auto first_new = definition.indexes.end() - static_cast<int64_t>(added.count);
  if (auto checked = check_places(context, call, routing, {first_new, definition.indexes.end()});
      !checked) {
    return checked;
  }
  for (auto index = first_new; index != definition.indexes.end(); ++index) {
    if (is_unique(*index)) unique.push_back(*index);
  }
  definition.indexes.erase(std::remove_if(first_new, definition.indexes.end(),
                                          [](const IndexSpec& index) {
                                            return is_unique(index) &&
                                                   !Definition::expire_after_s(index);
                                          }),
                           definition.indexes.end());
  if (definition.indexes.size() > before.indexes.size() || added.expires) {
    auto changed = added.expires ? start_expiring(context, call, routing, std::move(definition))
                                 : replace_definition(context, routing, definition);
    if (!changed) return pass(std::move(changed.error()));
    routing = *changed;
  }
  for (const IndexSpec& index : unique) {
    auto built = build_unique(context, call, routing, index, before);
    if (!built) return pass(std::move(built.error()));
    routing = *built;
  }
  return {};
}

// Unique indexes that the command asks for and another one has begun to build.
Answer<void> wait_for_unique(const HandlerContext& context, Call& call,
                             cluster::RoutingPtr routing) {
  const Definition before = definition_of(*routing);
  for (const Value& given : call["indexes"].elements()) {
    for (const IndexSpec& index : before.indexes) {
      if (!is_unique(index) || !is_same_key(index.key, given.find("key"))) continue;
      auto built = build_unique(context, call, routing, index, before);
      if (!built) return pass(std::move(built.error()));
      routing = *built;
    }
  }
  return {};
}

}  // namespace

Answer<void> run_create_indexes(const HandlerContext& context, Call& call) {
  auto name = collection_argument(call);
  if (!name) return pass(std::move(name.error()));
  const Value given = call["indexes"];
  if (!given.is_array() || given.size() == 0) {
    return refuse(kBadValue, "Must specify at least one index to create");
  }
  const auto found = find_collection(context, call.database, *name);
  const Definition before = found ? definition_of(*found) : Definition();
  Definition definition = before;
  auto added = add_indexes(definition, given, call.ns());
  if (!added) return pass(std::move(added.error()));
  const auto count = static_cast<int32_t>(definition.indexes.size() + 1);
  if (!found) {
    auto made = create_collection(
        context, {.database = call.database, .name = *name, .definition = std::move(definition)});
    if (!made) return pass(std::move(made.error()));
  } else {
    auto done = added->count > 0
                    ? add_to(context, call, found, before, std::move(definition), *added)
                    : wait_for_unique(context, call, found);
    if (!done) return done;
  }
  call.answer.int32("numIndexesBefore", static_cast<int32_t>(before.indexes.size() + 1))
      .int32("numIndexesAfter", count)
      .boolean("createdCollectionAutomatically", !found);
  if (found && added->count == 0) call.answer.string("note", "all indexes already exist");
  return {};
}

Answer<void> run_list_indexes(const HandlerContext& context, Call& call) {
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

Answer<void> run_drop_indexes(const HandlerContext& context, Call& call) {
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
  const auto drop = [&](auto matches) { std::erase_if(definition.indexes, matches); };
  for (const Value& one : asked) {
    const size_t count = definition.indexes.size();
    if (one.is_string() && one.text() == "*") {
      definition.indexes.clear();
      continue;
    }
    if (one.is_string()) {
      if (one.text() == "_id_") return refuse(kInvalidOptions, "cannot drop _id index");
      drop([&](const IndexSpec& index) { return index.name == one.text(); });
    } else if (one.is_object()) {
      if (is_id_key(one)) return refuse(kInvalidOptions, "cannot drop _id index");
      drop([&](const IndexSpec& index) { return is_same_key(index.key, one); });
    } else {
      return refuse(kTypeMismatch, "the index to drop must be a name, a key or a list of names");
    }
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
