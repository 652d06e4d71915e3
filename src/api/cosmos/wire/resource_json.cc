// See resource_json.h. Members come in the order that the vendor's own answers have.
#include "api/cosmos/wire/resource_json.h"

#include <fmt/format.h>

#include "api/cosmos/foreign/foreign_container.h"
#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "value/placement.h"

namespace orrery::cosmos {
namespace {

// The system's members of every resource, after the client's own.
void append_system(std::string& out, std::string_view rid, int64_t changed_s, std::string_view self,
                   std::string_view etag) {
  append_member(out, "_rid", quoted(rid));
  append_member(out, "_ts", std::to_string(changed_s));
  append_member(out, "_self", quoted(self));
  append_member(out, "_etag", quoted(fmt::format("\"{}\"", etag)));
}

// A boundary of the placement space as clients write it.
std::string boundary(std::string_view key) {
  return quoted(to_hex_upper(key));
}

}  // namespace

std::string database_json(const catalog::Database& database) {
  std::string out = "{";
  append_member(out, "id", quoted(shown_id(database)));
  append_system(out, database_rid(database.number), database.changed_s,
                database_self(database.number), etag_of(database));
  append_member(out, "_colls", R"("colls/")");
  append_member(out, "_users", R"("users/")");
  out += '}';
  return out;
}

std::string container_json(const catalog::Database& database, const catalog::Container& container) {
  std::string out = "{";
  append_member(out, "id", quoted(container.spec.name));
  if (!is_own(database)) {
    out += ',';
    out += foreign_definition(container.spec);
  } else if (!container.spec.face_json.empty()) {
    out += ',';
    out += container.spec.face_json;
  }
  append_system(out, container_rid(database.number, container.number), container.changed_s,
                container_self(database.number, container.number), etag_of(container));
  append_member(out, "_docs", R"("docs/")");
  append_member(out, "_sprocs", R"("sprocs/")");
  append_member(out, "_triggers", R"("triggers/")");
  append_member(out, "_udfs", R"("udfs/")");
  append_member(out, "_conflicts", R"("conflicts/")");
  out += '}';
  return out;
}

std::string named_resource_json(const catalog::Resource& resource, std::string_view rid,
                                std::string_view self, std::string_view links) {
  std::string out = "{";
  append_member(out, "id", quoted(resource.name));
  if (!resource.body.empty()) {
    out += ',';
    out += resource.body;
  }
  append_system(out, rid, resource.changed_s, self, etag_of(resource));
  if (!links.empty()) {
    out += ',';
    out += links;
  }
  out += '}';
  return out;
}

std::string pkranges_json(const catalog::Container& container, const LsnOf& lsn_of) {
  const std::string container_id = container_rid(container.database, container.number);
  const std::string self = container_self(container.database, container.number) + "pkranges/";
  std::string out = "{\"_rid\":" + quoted(container_id) + ",\"PartitionKeyRanges\":[";
  const auto& ranges = container.map->ranges;
  std::string fraction;
  if (!ranges.empty())
    value::append_json_number(fraction, 1.0 / static_cast<double>(ranges.size()));
  for (const catalog::PartitionRange& range : ranges) {
    if (&range != &ranges.front()) out += ',';
    const std::string rid = pkrange_rid(container.database, container.number, range.id);
    out += '{';
    append_member(out, "_rid", quoted(rid));
    append_member(out, "id", quoted(std::to_string(range.id)));
    append_member(out, "_etag", quoted(fmt::format("\"{}\"", etag_of(container))));
    append_member(out, "minInclusive", boundary(range.min));
    append_member(out, "maxExclusive", boundary(range.max));
    append_member(out, "ridPrefix", std::to_string(range.id));
    append_member(out, "_self", quoted(self + rid + "/"));
    append_member(out, "throughputFraction", fraction);
    append_member(out, "status", R"("online")");
    std::string parents = "[";
    for (const uint32_t parent : range.parents) {
      if (parents.size() > 1) parents += ',';
      parents += quoted(std::to_string(parent));
    }
    append_member(out, "parents", parents + "]");
    append_member(out, "ownedArchivalPKRangeIds", "[]");
    append_member(out, "_ts", std::to_string(container.changed_s));
    if (auto lsn = lsn_of(range)) append_member(out, "lsn", std::to_string(*lsn));
    out += '}';
  }
  out += "],\"_count\":" + std::to_string(ranges.size()) + "}";
  return out;
}

}  // namespace orrery::cosmos
