// What an account has: databases, containers, partition key ranges; and making them. Blocking.
//
// Every error says which server answered what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "value/placement.h"

namespace orrery::client {

struct ContainerName {
  std::string database;  // empty: the container is a table
  std::string container;

  std::string text() const {
    return is_table() ? "table:" + container : database + "/" + container;
  }
  bool is_table() const { return database.empty(); }
  std::string link() const;    // dbs/shop/colls/orders: what is signed
  std::string target() const;  // the same percent-encoded, with a slash before it
};
// "shop/orders". Code::invalid with an example when it is not of this form.
Result<ContainerName> parse_container_name(std::string_view text);

// A request about a resource inside of the container: `type` is docs, pkranges, …
Request container_request(const ContainerName& name, std::string_view method,
                          std::string_view type);

struct KeyRange {
  std::string id;
  std::string min;  // effective keys in hexadecimal: [min, max)
  std::string max;
  std::vector<std::string> parents;
};

struct ContainerInfo {
  ContainerName name;
  std::string json;                   // the container's document, as the server gave it
  value::KeyDefinition key;           // no paths: a fixed container
  std::string key_json;               // the definition as written; empty for a fixed container
  std::optional<uint64_t> documents;  // how many, if the server tells
};

// The documents of all databases, and of all containers of one, as JSON texts.
Result<std::vector<std::string>> list_databases(Client& client);
Result<std::vector<std::string>> list_containers(Client& client, std::string_view database);

Result<ContainerInfo> read_container(Client& client, const ContainerName& name);
// In the order of their bounds.
Result<std::vector<KeyRange>> read_ranges(Client& client, const ContainerName& name);
// The same of an answer to container_request(name, "GET", "pkranges"), for who submits that.
Result<std::vector<KeyRange>> ranges_of(Result<Response> answer, const std::string& where,
                                        const ContainerName& name);

struct Throughput {
  uint64_t units = 0;      // of requests a second; 0: as the server decides
  bool autoscale = false;  // then `units` is the most
};
// "1000" or "auto:4000".
Result<Throughput> parse_throughput(std::string_view text);

struct NewContainer {
  ContainerName name;
  std::string key_json;       // {"paths":["/city"],"kind":"Hash","version":2}; empty: a fixed one
  std::string policies_json;  // more members of the definition, without braces; may be empty
  Throughput throughput;
};
// Code::conflict when it is there already.
Status create_database(Client& client, std::string_view database);
Status create_container(Client& client, const NewContainer& plan);
// The database too, where it is missing. Whether the container is new.
Result<bool> ensure_container(Client& client, const NewContainer& plan);

// A partition key definition from paths as a person writes them: "/city", or "/tenant,/user" for a
// hierarchical key. The JSON of a container's definition.
Result<std::string> key_json_of(std::string_view paths);

}  // namespace orrery::client
