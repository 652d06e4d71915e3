// What the holder of a key or of a shared access signature may do: with which operations, on which
// table, and between which keys.
//
// A request is authorized once (authorize.h), and its grant is asked for each operation: that of
// the request, or each one of a batch. The bounds cut a query down to its range; they refuse
// nothing.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/table/service/table_error.h"

namespace orrery::table {

enum class Operation : uint8_t {
  get_service_properties,
  set_service_properties,
  get_service_stats,
  query_tables,  // the list, or one of it
  create_table,
  delete_table,
  get_access_policies,
  set_access_policies,
  get_entity,      // by its keys
  query_entities,  // all others
  insert_entity,
  update_entity,  // replace or merge, with If-Match
  upsert_entity,  // replace or merge, without
  delete_entity,
};
bool is_write(Operation operation);

// Inclusive bounds on (PartitionKey, RowKey), compared as one pair, in the order of their bytes.
struct KeyBound {
  std::string partition;
  std::optional<std::string> row;  // nothing: the whole partition
  bool operator==(const KeyBound&) const = default;
};
struct KeyRange {
  std::optional<KeyBound> first;
  std::optional<KeyBound> last;

  bool whole() const { return !first && !last; }
  bool holds(std::string_view partition, std::string_view row) const;
};

class Grant {
 public:
  // Of an account key. A read-only key, or the secondary endpoint, may not write.
  static Grant of_key(bool may_write, bool secondary);
  struct AccountTerms {
    std::string resource_types;  // of s c o
    std::string permissions;     // of r w d l a c u p
    bool may_write = true;       // false: signed with a read-only key
    bool secondary = false;
  };
  static Grant of_account_signature(AccountTerms terms);
  struct TableTerms {
    std::string table;        // in lower case
    std::string permissions;  // of r a u d
    KeyRange keys;
    bool may_write = true;
    bool secondary = false;
  };
  static Grant of_table_signature(TableTerms terms);

  // Whether the operation is allowed on this table (empty for the service and the list of tables;
  // names compare without case). For entities that are named by their keys, ask allows_keys() too.
  TableStatus allows(Operation operation, std::string_view table) const;
  TableStatus allows_keys(std::string_view partition, std::string_view row) const;
  // What a query may see.
  const KeyRange& keys() const { return keys_; }
  // By what, for logs: "key", "account signature", "table signature".
  std::string_view kind() const;

 private:
  enum class Kind : uint8_t { key, account, table };

  Kind kind_ = Kind::key;
  bool may_write_ = true;
  bool secondary_ = false;
  std::string resource_types_;
  std::string permissions_;
  std::string table_;
  KeyRange keys_;
};

}  // namespace orrery::table
