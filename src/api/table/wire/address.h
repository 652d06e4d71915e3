// What the target of a request names: the account, and a resource of it.
//
//   /account/Tables                    the tables
//   /account/Tables('t')               one of them
//   /account/t, /account/t()           the entities of a table (?comp=acl: its access policies)
//   /account/t(PartitionKey='a''b',RowKey='r%201')   one entity
//   /account/$batch
//   /account/?restype=service&comp=properties|stats
//
// An address of a host name (account.table.example.org) has the account there and not in the path;
// one of an IP address or of localhost has it in the path. account-secondary names the read-only
// secondary.
//
// Keys: quotes are doubled, then the whole is percent-encoded; either order of the two names.
//
// Pure; any thread may call. Input from outside: linear in its size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/table/service/table_error.h"

namespace orrery::table {

enum class Resource : uint8_t { service, tables, table, entities, entity, batch };

struct Address {
  Resource resource = Resource::service;
  std::string_view account;  // without -secondary; a view of the target or of the host
  bool secondary = false;
  bool in_path = true;  // the account is part of the path
  std::string table;    // decoded; also of entities
  std::string partition_key;
  std::string row_key;
};

// `target`: path and query as sent. `host`: the header.
TableResult<Address> parse_address(std::string_view target, std::string_view host);

}  // namespace orrery::table
