// See address.h.
#include "api/table/wire/address.h"

#include <algorithm>
#include <utility>

#include "base/ascii_case.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

constexpr std::string_view kSecondaryEnding = "-secondary";

// Whether the host names no account: an address, or this machine.
bool is_plain_host(std::string_view host) {
  if (host.starts_with('[')) return true;
  host = host.substr(0, host.rfind(':'));
  if (host.find('.') == std::string_view::npos) return true;
  return std::ranges::all_of(host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

void take_account(Address& address, std::string_view name) {
  if (name.ends_with(kSecondaryEnding)) {
    name.remove_suffix(kSecondaryEnding.size());
    address.secondary = true;
  }
  address.account = name;
}

// A quoted text at the front: 'it''s'.
bool take_quoted(std::string_view& in, std::string& out) {
  if (!in.starts_with('\'')) return false;
  in.remove_prefix(1);
  for (;;) {
    const size_t quote = in.find('\'');
    if (quote == std::string_view::npos) return false;
    out += in.substr(0, quote);
    in.remove_prefix(quote + 1);
    if (!in.starts_with('\'')) return true;
    out += '\'';
    in.remove_prefix(1);
  }
}

void skip_spaces(std::string_view& in) {
  while (in.starts_with(' ')) in.remove_prefix(1);
}

// PartitionKey='…',RowKey='…' in either order.
bool take_keys(std::string_view in, Address& address) {
  bool has_partition = false;
  bool has_row = false;
  for (int i = 0; i < 2; ++i) {
    skip_spaces(in);
    const size_t equals = in.find('=');
    if (equals == std::string_view::npos) return false;
    std::string_view name = in.substr(0, equals);
    while (name.ends_with(' ')) name.remove_suffix(1);
    in.remove_prefix(equals + 1);
    skip_spaces(in);
    std::string text;
    if (!take_quoted(in, text)) return false;
    if (name == "PartitionKey" && !has_partition) {
      address.partition_key = std::move(text);
      has_partition = true;
    } else if (name == "RowKey" && !has_row) {
      address.row_key = std::move(text);
      has_row = true;
    } else {
      return false;
    }
    skip_spaces(in);
    if (i == 0) {
      if (!in.starts_with(',')) return false;
      in.remove_prefix(1);
    }
  }
  return in.empty();
}

TableStatus take_resource(std::string_view name, Address& address) {
  const auto invalid = [&] {
    return refuse(ErrorCode::invalid_uri, "The path '" + std::string(name.substr(0, 200)) +
                                              "' names no resource of the Table service.");
  };
  if (name.empty()) return {};
  if (name == "$batch") {
    address.resource = Resource::batch;
    return {};
  }
  const size_t open = name.find('(');
  address.table = std::string(name.substr(0, open));
  const bool is_list = equals_ignore_case(address.table, "Tables");
  if (open == std::string_view::npos) {
    address.resource = is_list ? Resource::tables : Resource::entities;
    if (is_list) address.table.clear();
    return {};
  }
  if (!name.ends_with(')')) return invalid();
  std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  if (is_list) {
    address.table.clear();
    address.resource = inside.empty() ? Resource::tables : Resource::table;
    if (inside.empty()) return {};
    if (!take_quoted(inside, address.table) || !inside.empty()) return invalid();
    return {};
  }
  address.resource = inside.empty() ? Resource::entities : Resource::entity;
  if (!inside.empty() && !take_keys(inside, address)) return invalid();
  return {};
}

}  // namespace

TableResult<Address> parse_address(std::string_view target, std::string_view host) {
  std::string_view path = target.substr(0, target.find('?'));
  if (!path.starts_with('/')) {
    return refuse(ErrorCode::invalid_uri, "The request's path does not begin with '/'.");
  }
  path.remove_prefix(1);
  Address address;
  address.in_path = is_plain_host(host);
  if (address.in_path) {
    const size_t slash = path.find('/');
    take_account(address, path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  } else {
    take_account(address, host.substr(0, host.find('.')));
  }
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  auto decoded = percent_decode(path);
  if (!decoded) return refuse(ErrorCode::invalid_uri, decoded.error().message);
  if (auto taken = take_resource(*decoded, address); !taken) return pass(taken.error());
  return address;
}

}  // namespace orrery::table
