// The catalog's records in memory, as lookups find them.
//
// A record is what is stored and what copies of the catalog are told: its kind, its row, and its
// body in JSON. Entering one replaces or removes what was there under its row.
//
// Not locked: the catalog guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "catalog/model.h"
#include "catalog/resource_index.h"

namespace orrery::catalog {

using DatabasePtr = std::shared_ptr<const Database>;
using ContainerPtr = std::shared_ptr<const Container>;

// The kinds of records: their placements in the catalog's partition.
inline constexpr std::string_view kDatabases = "databases";
inline constexpr std::string_view kContainers = "containers";
inline constexpr std::string_view kFiles = "files";
inline constexpr std::string_view kRemovals = "removals";
inline constexpr std::string_view kAccount = "account";
// Rows of kAccount, whose bodies are numbers.
inline constexpr std::string_view kNextNumber = "next-number";
inline constexpr std::string_view kReadReplicas = "read-replicas";

struct Record {
  std::string kind;
  std::string row;
  std::optional<std::string> body;  // unset: it is removed
};

struct Tables {
  // Code::corrupt when the record is none of a catalog's.
  Status enter(const Record& record);
  // What no record can show by itself: that all belong to something that is there.
  Status check() const;

  // By face, then by name.
  std::map<std::string, std::map<std::string, DatabasePtr, std::less<>>, std::less<>>
      databases_by_name;
  std::unordered_map<uint32_t, DatabasePtr> databases;
  std::unordered_map<uint32_t, std::map<std::string, ContainerPtr, std::less<>>> by_database;
  std::unordered_map<uint32_t, ContainerPtr> containers;
  ResourceIndex resources;
  std::map<std::string, Removal, std::less<>> removals;  // by name in the volume
  std::set<std::string, std::less<>> files;              // names in the volume
  uint32_t next_number = 1;
  uint32_t read_replicas = 0;  // of each partition

 private:
  Status enter_account(const Record& record);
  Status enter_database(uint32_t number, const std::optional<std::string>& body);
  Status enter_container(uint32_t number, const std::optional<std::string>& body);
  Status enter_resource(uint32_t number, const std::optional<std::string>& body);
  bool has(uint32_t number) const;
};

// Whether the ranges cover the whole space in order, without gap or overlap.
bool covers_everything(const PartitionMap& map);

}  // namespace orrery::catalog
