// Shard keys and throughput: MongoDB's own commands, and the vendor's extensions (customAction).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/index_specs.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/documents/document_view.h"

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Value;

// database.collection in two.
Answer<std::pair<std::string_view, std::string_view>> split_ns(std::string_view ns) {
  const size_t dot = ns.find('.');
  if (dot == std::string_view::npos || dot + 1 == ns.size()) {
    return refuse(kInvalidNamespace, fmt::format("'{}' is not database.collection", ns));
  }
  return std::pair(ns.substr(0, dot), ns.substr(dot + 1));
}

Answer<void> check_shard_key(const Value& key) {
  if (!key.is_object() || key.size() == 0) {
    return refuse(kBadValue, "Shard key cannot be empty");
  }
  if (key.size() > value::kMaxKeyLevels) {
    return refuse(kNotImplemented, fmt::format("shard keys of more than {} fields are not "
                                               "implemented",
                                               value::kMaxKeyLevels));
  }
  for (const Value::Member& member : key.members()) {
    const bool is_hashed = member.value.is_string() && member.value.text() == "hashed";
    if (!is_hashed && !(member.value.is_number() && member.value.number() == 1)) {
      return refuse(kBadValue,
                    fmt::format("Shard key field {} must be 1 or \"hashed\"", member.name));
    }
  }
  return {};
}

// A container is placed by the key that it was made with: one without documents is made again.
Answer<void> shard(const HandlerContext& context, std::string_view database, std::string_view name,
                   const Value& key, std::optional<catalog::Throughput> throughput) {
  Definition definition;
  if (const auto found = find_collection(context, database, name)) {
    definition = definition_of(*found);
    if (definition.is_sharded()) {
      if (compare(definition.shard_key, key, value::ValueOrder::typed) == 0) return {};
      return refuse(23, fmt::format("sharding already enabled for collection {}.{} with another "
                                    "shard key",
                                    database, name));
    }
    auto has_some = has_documents(context, found);
    if (!has_some) return pass(engine_error(has_some.error()));
    if (*has_some) {
      return refuse(kNotImplemented,
                    fmt::format("a collection is given its shard key before its first document, "
                                "and {}.{} has some",
                                database, name));
    }
    if (!throughput) throughput = found->container->throughput;
    auto removed = context.engine.remove_container(found->container->number);
    if (!removed) return pass(engine_error(removed.error()));
  }
  definition.shard_key = key.to_owned();
  auto made = create_collection(context, {.database = database,
                                          .name = name,
                                          .definition = std::move(definition),
                                          .throughput = throughput});
  if (!made) return pass(std::move(made.error()));
  return {};
}

Answer<std::optional<catalog::Throughput>> throughput_argument(const Call& call) {
  catalog::Throughput throughput;
  if (const Value given = call["offerThroughput"]; given.is_number()) {
    if (given.number() < 1 || given.number() > 1e9) {
      return refuse(kBadValue, "offerThroughput is out of range");
    }
    throughput.units = static_cast<uint32_t>(given.number());
    return std::optional(throughput);
  }
  const Value autoscale = call["autoScaleSettings"];
  if (autoscale.is_undefined()) return std::optional<catalog::Throughput>();
  const Value most = autoscale.find("maxThroughput");
  if (!most.is_number() || most.number() < 1 || most.number() > 1e9) {
    return refuse(kBadValue, "autoScaleSettings.maxThroughput is missing or out of range");
  }
  throughput.units = static_cast<uint32_t>(most.number());
  throughput.autoscale = true;
  return std::optional(throughput);
}

void show_throughput(BsonWriter& answer, const std::optional<catalog::Throughput>& throughput) {
  if (!throughput) return;
  if (throughput->autoscale) {
    answer.begin_document("autoScaleSettings")
        .int32("maxThroughput", static_cast<int32_t>(throughput->units))
        .end();
  } else {
    answer.int32("provisionedThroughput", static_cast<int32_t>(throughput->units));
  }
}

Answer<std::string_view> named_collection(const Call& call) {
  const Value name = call["collection"];
  if (name.is_string() && !name.text().empty()) return name.text();
  return refuse(kBadValue, "customAction needs the name of a collection");
}

// Whether there are indexes that a container has from its making on.
bool has_made_indexes(const Definition& definition) {
  return std::ranges::any_of(definition.indexes, [](const IndexSpec& index) {
    return flag_argument(index.spec, "unique", false) || Definition::expire_after_s(index);
  });
}

// The indexes of a customAction, if it has any, in the place of those of the definition.
Answer<AddedIndexes> indexes_argument(const Call& call, std::string_view collection,
                                      Definition& definition) {
  const Value given = call["indexes"];
  if (given.is_undefined() || given.is_null()) return AddedIndexes{};
  if (!given.is_array()) return refuse(kTypeMismatch, "indexes must be an array");
  definition.indexes.clear();
  return add_indexes(definition, given, fmt::format("{}.{}", call.database, collection));
}

Answer<void> create_database(const HandlerContext& context, Call& call) {
  if (auto checked = check_database_name(call.database); !checked) return checked;
  auto throughput = throughput_argument(call);
  if (!throughput) return pass(std::move(throughput.error()));
  auto made = context.engine.create_database({kFaceName, call.database}, *throughput);
  if (!made) return pass(engine_error(made.error()));
  return {};
}

Answer<void> update_database(const HandlerContext& context, Call& call) {
  const auto found = context.engine.catalog().database({kFaceName, call.database});
  if (!found) return refuse(kNamespaceNotFound, "the database is not there");
  auto throughput = throughput_argument(call);
  if (!throughput) return pass(std::move(throughput.error()));
  if (!*throughput) return {};
  auto set = context.engine.set_database_throughput(found->number, **throughput);
  if (!set) return pass(engine_error(set.error()));
  return {};
}

Answer<void> get_database(const HandlerContext& context, Call& call) {
  const auto found = context.engine.catalog().database({kFaceName, call.database});
  if (!found) return refuse(kNamespaceNotFound, "the database is not there");
  call.answer.string("database", call.database);
  show_throughput(call.answer, found->throughput);
  return {};
}

Answer<void> create_custom_collection(const HandlerContext& context, Call& call) {
  auto name = named_collection(call);
  if (!name) return pass(std::move(name.error()));
  auto throughput = throughput_argument(call);
  if (!throughput) return pass(std::move(throughput.error()));
  if (find_collection(context, call.database, *name)) {
    return refuse(kNamespaceExists,
                  fmt::format("Collection {}.{} already exists.", call.database, *name));
  }
  Definition definition;
  const Value shard_key = call["shardKey"];
  if (shard_key.is_string() && !shard_key.text().empty()) {
    definition.shard_key =
        Value::make_object({{text_value(shard_key.text()), Value::make_string("hashed")}});
  }
  auto indexes = indexes_argument(call, *name, definition);
  if (!indexes) return pass(std::move(indexes.error()));
  auto made = create_collection(context, {.database = call.database,
                                          .name = *name,
                                          .definition = std::move(definition),
                                          .throughput = *throughput});
  if (!made) return pass(std::move(made.error()));
  return {};
}

Answer<void> update_collection(const HandlerContext& context, Call& call) {
  auto name = named_collection(call);
  if (!name) return pass(std::move(name.error()));
  const auto found = find_collection(context, call.database, *name);
  if (!found) return refuse(kNamespaceNotFound, "the collection is not there");
  auto throughput = throughput_argument(call);
  if (!throughput) return pass(std::move(throughput.error()));
  Definition definition = definition_of(*found);
  auto added = indexes_argument(call, *name, definition);
  if (!added) return pass(std::move(added.error()));
  if (*throughput) {
    auto set = context.engine.set_container_throughput(found->container->number, **throughput);
    if (!set) return pass(engine_error(set.error()));
  }
  if (call["indexes"].is_array()) {
    auto changed = has_made_indexes(definition) || has_made_indexes(definition_of(*found))
                       ? make_again(context, found, std::move(definition))
                       : replace_definition(context, found, definition);
    if (!changed) return pass(std::move(changed.error()));
  }
  return {};
}

Answer<void> get_collection(const HandlerContext& context, Call& call) {
  auto name = named_collection(call);
  if (!name) return pass(std::move(name.error()));
  const auto found = find_collection(context, call.database, *name);
  if (!found) return refuse(kNamespaceNotFound, "the collection is not there");
  const Definition& definition = definition_of(*found);
  call.answer.string("database", call.database).string("collection", *name);
  if (definition.is_sharded()) {
    call.answer.value("shardKeyDefinition", definition.shard_key, kMaxMessageDocumentBytes);
  }
  show_throughput(call.answer, found->container->throughput);
  return {};
}

struct CustomAction {
  std::string_view name;
  Answer<void> (*run)(const HandlerContext& context, Call& call);
};
constexpr CustomAction kActions[] = {
    {"CreateDatabase", create_database},     {"UpdateDatabase", update_database},
    {"GetDatabase", get_database},           {"CreateCollection", create_custom_collection},
    {"UpdateCollection", update_collection}, {"GetCollection", get_collection},
};

}  // namespace

// Every database may have collections with shard keys.
Answer<void> run_enable_sharding(const HandlerContext& /*context*/, Call& call) {
  if (!call[call.name].is_string()) {
    return refuse(kTypeMismatch, "enableSharding needs the name of a database");
  }
  return check_database_name(call[call.name].text());
}

Answer<void> run_shard_collection(const HandlerContext& context, Call& call) {
  const Value ns = call[call.name];
  if (!ns.is_string()) return refuse(kTypeMismatch, "shardCollection needs database.collection");
  auto names = split_ns(ns.text());
  if (!names) return pass(std::move(names.error()));
  const Value key = call["key"];
  if (auto checked = check_shard_key(key); !checked) return checked;
  if (flag_argument(call.command, "unique", false)) {
    return refuse(kNotImplemented, "shardCollection with unique is not implemented");
  }
  auto sharded = shard(context, names->first, names->second, key, std::nullopt);
  if (!sharded) return sharded;
  call.answer.string("_t", "ShardCollectionResponse").string("collectionsharded", ns.text());
  return {};
}

Answer<void> run_custom_action(const HandlerContext& context, Call& call) {
  const Value action = call[call.name];
  for (const CustomAction& known : kActions) {
    if (action.is_string() && action.text() == known.name) return known.run(context, call);
  }
  return refuse(kNotImplemented,
                fmt::format("customAction '{}' is not implemented",
                            action.is_string() ? action.text() : std::string_view("?")));
}

}  // namespace orrery::mongo
