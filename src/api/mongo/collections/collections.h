// Databases and collections in the catalog: a collection is a container of the database of its name
// that belongs to this face.
//
// Lookups: any thread. Changes block until durable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"
#include "value/path.h"

namespace orrery::mongo {

// Code 73 when it cannot be one.
Answer<void> check_database_name(std::string_view name);
Answer<void> check_collection_name(std::string_view database, std::string_view name);

// Null when there is none.
cluster::RoutingPtr find_collection(const HandlerContext& context, std::string_view database,
                                    std::string_view name);

struct NewCollection {
  std::string_view database;
  std::string_view name;
  Definition definition;
  std::optional<catalog::Throughput> throughput = {};
};
// kNamespaceExists when it is there.
Answer<cluster::RoutingPtr> create_collection(const HandlerContext& context,
                                              NewCollection collection);
// The one that is there, or a new one without a shard key.
Answer<cluster::RoutingPtr> ensure_collection(const HandlerContext& context,
                                              std::string_view database, std::string_view name);
// What a container with this definition has of its own: key, encoding, unique keys.
catalog::ContainerSpec container_spec(std::string_view name, const Definition& definition);
Answer<cluster::RoutingPtr> replace_definition(const HandlerContext& context,
                                               const cluster::RoutingPtr& routing,
                                               const Definition& definition);

// A collection without documents is made again, with its throughput; one that has some is refused
// (238).
Answer<cluster::RoutingPtr> make_again(const HandlerContext& context,
                                       const cluster::RoutingPtr& routing, Definition definition);

std::string make_uuid();

}  // namespace orrery::mongo
