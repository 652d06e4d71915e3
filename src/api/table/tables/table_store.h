// Tables in the catalog: each is a container of the one database of this face. Its name there is in
// lower case, since names compare without case; the name as it was given is kept beside it.
//
// Lookups: any thread. Changes block until durable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/table/service/access_policy.h"
#include "api/table/service/service_properties.h"
#include "api/table/service/table_error.h"
#include "catalog/model.h"
#include "cluster/engine.h"

namespace orrery::table {

inline constexpr std::string_view kDatabaseName = "tables";

// 3 to 63 letters and digits, the first a letter; and not "tables".
TableStatus check_table_name(std::string_view name);

// Null when there is none.
cluster::RoutingPtr find_table(const cluster::Engine& engine, std::string_view name);
// As it was given.
std::string shown_name(const catalog::Container& table);

struct NewTable {
  std::string_view name;
  bool by_hash = false;  // entities are placed by the hash of their PartitionKey
  std::optional<catalog::Throughput> throughput = {};
};
Result<cluster::RoutingPtr> create_table(cluster::Engine& engine, const NewTable& table);

std::vector<AccessPolicy> read_access_policies(const cluster::Engine& engine,
                                               const catalog::Container& table);
Status write_access_policies(cluster::Engine& engine, const catalog::Container& table,
                             const std::vector<AccessPolicy>& policies);

ServiceProperties read_service_properties(const cluster::Engine& engine);
Status write_service_properties(cluster::Engine& engine, const ServiceProperties& properties);

}  // namespace orrery::table
