// See collections.h.
#include "api/mongo/collections/collections.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/call.h"
#include "api/mongo/changes/change_reader.h"
#include "api/mongo/collections/unique_index.h"
#include "api/mongo/documents/document_view.h"
#include "api/mongo/documents/index_plan.h"
#include "api/mongo/documents/index_scan.h"
#include "api/mongo/forward/forward.h"

namespace orrery::mongo {
namespace {

constexpr size_t kDatabaseNameMax = 63;
constexpr size_t kNamespaceMax = 255;

Answer<catalog::DatabasePtr> ensure_database(const HandlerContext& context, std::string_view name) {
  if (auto found = context.engine.catalog().database({kFaceName, name})) return found;
  auto made = context.engine.create_database({kFaceName, name}, std::nullopt);
  if (made) return *made;
  if (made.error().code != Code::conflict) return pass(engine_error(made.error()));
  return context.engine.catalog().database({kFaceName, name});
}

// A collection without indexes has no terms at all.
void set_index_rules(catalog::ContainerSpec& spec, const Definition& definition) {
  spec.index_rules = index_rules_of(definition);
  spec.composite_indexes = composites_of(definition);
  spec.spatial_indexes = spatial_paths_of(definition);
  spec.indexed = !spec.index_rules.empty() || !spec.spatial_indexes.empty();
  const IndexSpec* const expiring = definition.expiring_index();
  spec.default_life_ms = std::nullopt;
  if (expiring != nullptr) {
    spec.default_life_ms = Definition::is_expiry_pending(*expiring)
                               ? partition::Lifetime::kForever
                               : *Definition::expire_after_s(*expiring) * 1000;
  }
}

// Whether its writes are kept from the first one on: a change stream is open over its name, or its
// database has been watched before, as its other collections tell.
bool is_watched(const HandlerContext& context, const catalog::Database& database,
                std::string_view name) {
  if (context.watched.has(database.name, name)) return true;
  const auto others = context.engine.catalog().containers(database.number);
  return std::ranges::any_of(others,
                             [](const auto& container) { return container->spec.history_s > 0; });
}

}  // namespace

Answer<void> check_database_name(std::string_view name) {
  const bool is_name =
      !name.empty() && name.size() <= kDatabaseNameMax &&
      name.find_first_of(std::string_view("/\\. \"$*<>:|?\0", 13)) == std::string_view::npos;
  if (is_name) return {};
  return refuse(kInvalidNamespace, fmt::format("Invalid database name: '{}'", name.substr(0, 100)));
}

Answer<void> check_collection_name(std::string_view database, std::string_view name) {
  if (auto checked = check_database_name(database); !checked) return checked;
  const bool is_name = !name.empty() && name.size() + database.size() < kNamespaceMax &&
                       name.front() != '.' && name.back() != '.' && !name.contains('$') &&
                       !name.contains('\0');
  if (is_name) return {};
  return refuse(kInvalidNamespace,
                fmt::format("Invalid namespace specified '{}.{}'", database, name.substr(0, 100)));
}

cluster::RoutingPtr find_collection(const HandlerContext& context, std::string_view database,
                                    std::string_view name) {
  return context.engine.find({kFaceName, database}, name);
}

std::string make_uuid() {
  std::string bytes(16, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  return bytes;
}

catalog::ContainerSpec container_spec(std::string_view name, const Definition& definition) {
  catalog::ContainerSpec spec;
  spec.name = name;
  for (const std::string& path : definition.shard_paths()) {
    spec.key.paths.push_back(path_of(path));
  }
  spec.key.placement =
      spec.key.paths.size() > 1 ? value::Placement::multi_hash : value::Placement::hash_v2;
  spec.encoding = kBsonEncoding;
  spec.value_order = value::ValueOrder::typed;
  set_index_rules(spec, definition);
  set_unique_keys(spec, definition);
  spec.face_json = definition.to_face_json();
  return spec;
}

Answer<cluster::RoutingPtr> create_collection(const HandlerContext& context,
                                              NewCollection collection) {
  if (auto checked = check_collection_name(collection.database, collection.name); !checked) {
    return pass(std::move(checked.error()));
  }
  auto database = ensure_database(context, collection.database);
  if (!database) return pass(std::move(database.error()));
  if (collection.definition.uuid.empty()) collection.definition.uuid = make_uuid();
  auto throughput = collection.throughput;
  if (!throughput && !(*database)->throughput) throughput = catalog::Throughput{};
  catalog::ContainerSpec spec = container_spec(collection.name, collection.definition);
  if (is_watched(context, **database, collection.name)) spec.history_s = kHistoryS;
  auto made = context.engine.create_container((*database)->number, std::move(spec), throughput);
  if (made) return *made;
  if (made.error().code == Code::conflict) {
    return refuse(kNamespaceExists, fmt::format("Collection {}.{} already exists.",
                                                collection.database, collection.name));
  }
  return pass(engine_error(made.error()));
}

Answer<cluster::RoutingPtr> ensure_collection(const HandlerContext& context,
                                              std::string_view database, std::string_view name) {
  if (auto found = find_collection(context, database, name)) return found;
  auto made = create_collection(context, {.database = database, .name = name, .definition = {}});
  if (!made && made.error().code == kHostUnreachable && context.forwarder != nullptr) {
    auto asked = create_at_owner(context, database, name);
    if (!asked) return pass(engine_error(asked.error()));
  } else if (made || made.error().code != kNamespaceExists) {
    return made;
  }
  if (auto found = find_collection(context, database, name)) return found;
  return made;
}

Answer<cluster::RoutingPtr> replace_definition(const HandlerContext& context,
                                               const cluster::RoutingPtr& routing,
                                               const Definition& definition) {
  catalog::ContainerSpec spec = routing->container->spec;
  set_index_rules(spec, definition);
  set_unique_keys(spec, definition);
  spec.face_json = definition.to_face_json();
  auto replaced = context.engine.replace_container(routing->container->number, std::move(spec));
  if (!replaced) return pass(engine_error(replaced.error()));
  return *replaced;
}

Answer<cluster::RoutingPtr> make_again(const HandlerContext& context,
                                       const cluster::RoutingPtr& routing, Definition definition) {
  const std::string database = routing->database->name;
  const std::string name = routing->container->spec.name;
  auto has_some = has_documents(context, routing);
  if (!has_some) return pass(engine_error(has_some.error()));
  if (*has_some) {
    return refuse(
        kNotImplemented,
        fmt::format("unique and TTL indexes can be given to a collection this way while it has no "
                    "documents, and {}.{} has some: use createIndexes and dropIndexes",
                    database, name));
  }
  const auto throughput = routing->container->throughput;
  auto removed = context.engine.remove_container(routing->container->number);
  if (!removed) return pass(engine_error(removed.error()));
  return create_collection(context, {.database = database,
                                     .name = name,
                                     .definition = std::move(definition),
                                     .throughput = throughput});
}

}  // namespace orrery::mongo
