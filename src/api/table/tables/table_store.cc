// See table_store.h.
#include "api/table/tables/table_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/table/entities/entity.h"
#include "api/table/entities/entity_codec.h"
#include "api/table/operation.h"
#include "base/ascii_case.h"
#include "base/bytes.h"
#include "value/path.h"

namespace orrery::table {
namespace {

constexpr size_t kNameMin = 3;
constexpr size_t kNameMax = 63;
// Kinds of resources of the catalog, among those of this face.
constexpr uint8_t kAccessPolicies = 1;
constexpr uint8_t kServiceProperties = 2;
constexpr std::string_view kTheOnly = "current";
constexpr std::string_view kNameBegins = "{\"name\":\"";
constexpr std::string_view kNameEnds = "\"}";
// What a table of the storage flavour is given: about the 2,000 entities a second that the service
// publishes for a partition.
constexpr uint32_t kStorageUnits = 10'000;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

catalog::DatabasePtr find_database(const cluster::Engine& engine) {
  return engine.catalog().database({kFaceName, kDatabaseName});
}

Result<catalog::DatabasePtr> ensure_database(cluster::Engine& engine) {
  if (auto database = find_database(engine)) return database;
  auto made = engine.create_database({kFaceName, kDatabaseName}, std::nullopt);
  if (made || made.error().code != Code::conflict) return made;
  return find_database(engine);
}

std::string read_resource(const cluster::Engine& engine, uint8_t kind, uint32_t parent) {
  const auto found = engine.catalog().resource(kind, parent, kTheOnly);
  return found ? found->body : std::string();
}

Status write_resource(cluster::Engine& engine, uint8_t kind, uint32_t parent, std::string body) {
  const auto found = engine.catalog().resource(kind, parent, kTheOnly);
  auto written = found ? engine.replace_resource(found->number, kTheOnly, std::move(body), {})
                       : engine.create_resource(kind, parent, kTheOnly, std::move(body), 1);
  if (!written) return orrery::pass(written.error());
  return {};
}

}  // namespace

TableStatus check_table_name(std::string_view name) {
  if (name.size() < kNameMin || name.size() > kNameMax) {
    return refuse(ErrorCode::out_of_range_input,
                  fmt::format("The table name '{}' has {} characters: {} to {} make one.",
                              name.substr(0, kNameMax), name.size(), kNameMin, kNameMax));
  }
  const bool is_plain =
      std::ranges::all_of(name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (is_plain && is_letter(name.front()) && !equals_ignore_case(name, "tables")) return {};
  return refuse(ErrorCode::invalid_resource_name,
                fmt::format("The table name '{}' is not one: letters and digits make one, which "
                            "begins with a letter and is not 'tables'.",
                            name));
}

cluster::RoutingPtr find_table(const cluster::Engine& engine, std::string_view name) {
  return engine.find({kFaceName, kDatabaseName}, lowered(name));
}

std::string shown_name(const catalog::Container& table) {
  // Names have nothing that JSON escapes, so this is all that it can be.
  std::string_view known = table.spec.face_json;
  if (!known.starts_with(kNameBegins) || !known.ends_with(kNameEnds)) return table.spec.name;
  known.remove_prefix(kNameBegins.size());
  known.remove_suffix(kNameEnds.size());
  return std::string(known);
}

Result<cluster::RoutingPtr> create_table(cluster::Engine& engine, const NewTable& table) {
  auto database = ensure_database(engine);
  if (!database) return orrery::pass(database.error());
  catalog::ContainerSpec spec;
  spec.name = lowered(table.name);
  auto path = value::parse_property_path(fmt::format("/{}", kPartitionKey));
  if (!path) return orrery::pass(path.error());
  spec.key.paths = {std::move(*path)};
  spec.key.placement = table.by_hash ? value::Placement::hash_v2 : value::Placement::range;
  spec.encoding = kEntityEncoding;
  spec.value_order = value::ValueOrder::typed;
  spec.indexed = false;
  spec.face_json.append(kNameBegins).append(table.name).append(kNameEnds);
  auto throughput = table.throughput;
  if (!throughput && !table.by_hash) throughput = catalog::Throughput{.units = kStorageUnits};
  return engine.create_container((*database)->number, std::move(spec), throughput);
}

std::vector<AccessPolicy> read_access_policies(const cluster::Engine& engine,
                                               const catalog::Container& table) {
  const std::string xml = read_resource(engine, kAccessPolicies, table.number);
  if (xml.empty()) return {};
  auto policies = parse_access_policies(xml);
  return policies ? std::move(*policies) : std::vector<AccessPolicy>();
}

Status write_access_policies(cluster::Engine& engine, const catalog::Container& table,
                             const std::vector<AccessPolicy>& policies) {
  return write_resource(engine, kAccessPolicies, table.number, access_policies_xml(policies));
}

ServiceProperties read_service_properties(const cluster::Engine& engine) {
  const auto database = find_database(engine);
  const std::string xml =
      database ? read_resource(engine, kServiceProperties, database->number) : std::string();
  if (xml.empty()) return {};
  auto properties = parse_service_properties(xml);
  return properties ? std::move(*properties) : ServiceProperties();
}

Status write_service_properties(cluster::Engine& engine, const ServiceProperties& properties) {
  auto database = ensure_database(engine);
  if (!database) return orrery::pass(database.error());
  return write_resource(engine, kServiceProperties, (*database)->number,
                        service_properties_xml(properties));
}

}  // namespace orrery::table
