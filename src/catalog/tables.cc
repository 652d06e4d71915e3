// See tables.h.
#include "catalog/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "catalog/codec.h"
#include "value/placement.h"

namespace orrery::catalog {
namespace {

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::unexpected<Error> damaged(std::string_view what, uint32_t number, std::string_view problem) {
  return fail(Code::corrupt,
              fmt::format("the catalog is damaged: {} {} {}", what, number, problem));
}

}  // namespace

bool covers_everything(const PartitionMap& map) {
  if (map.ranges.empty() || map.ranges.front().min != value::placement_min() ||
      map.ranges.back().max != value::placement_max()) {
    return false;
  }
  for (size_t i = 0; i < map.ranges.size(); ++i) {
    if (map.ranges[i].min >= map.ranges[i].max) return false;
    if (i > 0 && map.ranges[i].min != map.ranges[i - 1].max) return false;
  }
  return true;
}

Status Tables::enter(const Record& record) {
  if (record.kind == kFiles) {
    if (record.body) {
      files.insert(record.row);
    } else {
      files.erase(record.row);
    }
    return {};
  }
  if (record.kind == kRemovals) {
    if (!record.body) {
      removals.erase(record.row);
      return {};
    }
    auto removal = decode_removal(*record.body);
    if (!removal) return pass(removal.error());
    removals.insert_or_assign(record.row, std::move(*removal));
    return {};
  }
  if (record.kind == kAccount) return enter_account(record);
  const auto number = number_of(record.row);
  if (!number) {
    return fail(Code::corrupt,
                fmt::format("the catalog has a record '{}' of kind '{}'", record.row, record.kind));
  }
  if (record.kind == kDatabases) return enter_database(*number, record.body);
  if (record.kind == kContainers) return enter_container(*number, record.body);
  if (record.kind == kResources) return enter_resource(*number, record.body);
  return fail(Code::corrupt, fmt::format("the catalog has a record of kind '{}'", record.kind));
}

// Rows that a newer program knows are passed over.
Status Tables::enter_account(const Record& record) {
  if (!record.body || (record.row != kNextNumber && record.row != kReadReplicas)) return {};
  const auto number = number_of(*record.body);
  if (!number) {
    return fail(Code::corrupt,
                fmt::format("the catalog's record '{}' of the account is damaged", record.row));
  }
  if (record.row == kReadReplicas) {
    read_replicas = *number;
  } else {
    next_number = std::max(next_number, *number);
  }
  return {};
}

Status Tables::enter_database(uint32_t number, const std::optional<std::string>& body) {
  if (body) {
    auto decoded = decode_database(*body);
    if (!decoded) return pass(decoded.error());
    auto database = std::make_shared<const Database>(std::move(*decoded));
    databases_by_name[database->face][database->name] = database;
    databases[number] = std::move(database);
    return {};
  }
  const auto found = databases.find(number);
  if (found == databases.end()) return {};
  databases_by_name[found->second->face].erase(found->second->name);
  by_database.erase(number);
  databases.erase(found);
  return {};
}

Status Tables::enter_container(uint32_t number, const std::optional<std::string>& body) {
  if (body) {
    auto decoded = decode_container(*body);
    if (!decoded) return pass(decoded.error());
    if (!covers_everything(*decoded->map)) {
      return fail(Code::corrupt,
                  fmt::format("the partition map of container '{}' has a gap or an overlap",
                              decoded->spec.name));
    }
    auto container = std::make_shared<const Container>(std::move(*decoded));
    // It may have had another name.
    if (const auto before = containers.find(number); before != containers.end()) {
      by_database[before->second->database].erase(before->second->spec.name);
    }
    by_database[container->database][container->spec.name] = container;
    containers[number] = std::move(container);
    return {};
  }
  const auto found = containers.find(number);
  if (found == containers.end()) return {};
  if (auto in = by_database.find(found->second->database); in != by_database.end()) {
    in->second.erase(found->second->spec.name);
  }
  containers.erase(found);
  return {};
}

Status Tables::enter_resource(uint32_t number, const std::optional<std::string>& body) {
  if (!body) {
    resources.erase(number);
    return {};
  }
  auto decoded = decode_resource(*body);
  if (!decoded) return pass(decoded.error());
  resources.put(std::make_shared<const Resource>(std::move(*decoded)));
  return {};
}

bool Tables::has(uint32_t number) const {
  return databases.contains(number) || containers.contains(number) ||
         resources.find(number) != nullptr;
}

Status Tables::check() const {
  for (const auto& [number, database] : databases) {
    if (number >= next_number) return damaged("database", number, "is beyond the next number");
  }
  for (const auto& [number, container] : containers) {
    if (number >= next_number) return damaged("container", number, "is beyond the next number");
    if (!databases.contains(container->database)) {
      return damaged("container", number, "belongs to a database that is not there");
    }
    for (const PartitionRange& range : container->map->ranges) {
      if (removals.contains(range.volume_name)) {
        return damaged("container", number, "has a range whose files are to be removed");
      }
    }
  }
  for (const ResourcePtr& resource : resources.all()) {
    if (resource->number >= next_number) {
      return damaged("resource", resource->number, "is beyond the next number");
    }
    if (!has(resource->parent)) {
      return damaged("resource", resource->number, "belongs to something that is not there");
    }
  }
  return {};
}

}  // namespace orrery::catalog
