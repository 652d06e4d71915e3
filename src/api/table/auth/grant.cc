// See grant.h.
#include "api/table/auth/grant.h"

#include <utility>

#include "base/ascii_case.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

// What a shared access signature needs for an operation.
struct Need {
  char resource_type;            // of an account signature: service, container (a table), object
  std::string_view account_any;  // one of these permissions
  std::string_view account_all;  // and all of these
  std::string_view table_all;    // of a table signature: all of these; empty: it cannot do this
};

Need need_of(Operation operation) {
  switch (operation) {
    case Operation::get_service_properties:
    case Operation::get_service_stats:
      return {'s', "r", "", ""};
    case Operation::set_service_properties:
      return {'s', "w", "", ""};
    case Operation::query_tables:
      return {'c', "l", "", ""};
    case Operation::create_table:
      return {'c', "cw", "", ""};
    case Operation::delete_table:
      return {'c', "d", "", ""};
    case Operation::get_access_policies:
    case Operation::set_access_policies:
      return {'c', "", "", ""};  // for account keys alone
    case Operation::get_entity:
    case Operation::query_entities:
      return {'o', "r", "", "r"};
    case Operation::insert_entity:
      return {'o', "a", "", "a"};
    case Operation::update_entity:
      return {'o', "u", "", "u"};
    case Operation::upsert_entity:
      return {'o', "u", "a", "au"};
    case Operation::delete_entity:
      return {'o', "d", "", "d"};
  }
  return {'s', "", "", ""};
}

bool has_all(std::string_view given, std::string_view wanted) {
  return wanted.find_first_not_of(given) == std::string_view::npos;
}

}  // namespace

bool is_write(Operation operation) {
  switch (operation) {
    case Operation::get_service_properties:
    case Operation::get_service_stats:
    case Operation::query_tables:
    case Operation::get_access_policies:
    case Operation::get_entity:
    case Operation::query_entities:
      return false;
    case Operation::set_service_properties:
    case Operation::create_table:
    case Operation::delete_table:
    case Operation::set_access_policies:
    case Operation::insert_entity:
    case Operation::update_entity:
    case Operation::upsert_entity:
    case Operation::delete_entity:
      break;
  }
  return true;
}

bool KeyRange::holds(std::string_view partition, std::string_view row) const {
  if (first) {
    if (partition < first->partition) return false;
    if (partition == first->partition && first->row && row < *first->row) return false;
  }
  if (last) {
    if (partition > last->partition) return false;
    if (partition == last->partition && last->row && row > *last->row) return false;
  }
  return true;
}

Grant Grant::of_key(bool may_write, bool secondary) {
  Grant grant;
  grant.may_write_ = may_write;
  grant.secondary_ = secondary;
  return grant;
}

Grant Grant::of_account_signature(AccountTerms terms) {
  Grant grant = of_key(terms.may_write, terms.secondary);
  grant.kind_ = Kind::account;
  grant.resource_types_ = std::move(terms.resource_types);
  grant.permissions_ = std::move(terms.permissions);
  return grant;
}

Grant Grant::of_table_signature(TableTerms terms) {
  Grant grant = of_key(terms.may_write, terms.secondary);
  grant.kind_ = Kind::table;
  grant.table_ = std::move(terms.table);
  grant.permissions_ = std::move(terms.permissions);
  grant.keys_ = std::move(terms.keys);
  return grant;
}

TableStatus Grant::allows(Operation operation, std::string_view table) const {
  if (is_write(operation)) {
    if (secondary_) return refuse(ErrorCode::insufficient_account_permissions);
    if (!may_write_) {
      return refuse(ErrorCode::authorization_permission_mismatch,
                    "This key may only read: use a read-write key.");
    }
  }
  if (kind_ == Kind::key) return {};
  const Need need = need_of(operation);
  if (kind_ == Kind::table) {
    if (!equals_ignore_case(table_, table)) {
      return refuse(ErrorCode::authentication_failed,
                    "This shared access signature is for the table \"" + table_ + "\" alone.");
    }
    if (need.table_all.empty() || !has_all(permissions_, need.table_all)) {
      return refuse(ErrorCode::authorization_permission_mismatch);
    }
    return {};
  }
  if (!resource_types_.contains(need.resource_type)) {
    return refuse(ErrorCode::authorization_resource_type_mismatch);
  }
  if (permissions_.find_first_of(need.account_any) == std::string::npos ||
      !has_all(permissions_, need.account_all)) {
    return refuse(ErrorCode::authorization_permission_mismatch);
  }
  return {};
}

TableStatus Grant::allows_keys(std::string_view partition, std::string_view row) const {
  if (keys_.whole() || keys_.holds(partition, row)) return {};
  return refuse(ErrorCode::authorization_failure,
                "The keys of this entity are outside the range of the shared access signature.");
}

std::string_view Grant::kind() const {
  switch (kind_) {
    case Kind::key:
      return may_write_ ? "key" : "read-only key";
    case Kind::account:
      return "account signature";
    case Kind::table:
      break;
  }
  return "table signature";
}

}  // namespace orrery::table
