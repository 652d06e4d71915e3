// See shared_access.h.
#include "api/table/auth/shared_access.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "api/table/auth/not_authenticated.h"
#include "api/table/service/comma_list.h"
#include "api/table/service/iso_time.h"
#include "base/ascii_case.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

constexpr std::string_view kSignsEncryptionScope = "2020-12-06";
constexpr std::string_view kSignsAddressAndProtocol = "2015-04-05";
constexpr std::string_view kNamesService = "2015-02-21";

struct Field {
  std::string_view name;
  std::string SharedAccess::* value;
};
constexpr std::array<Field, 16> kFields = {{{"sv", &SharedAccess::version},
                                            {"ss", &SharedAccess::services},
                                            {"srt", &SharedAccess::resource_types},
                                            {"sp", &SharedAccess::permissions},
                                            {"st", &SharedAccess::start},
                                            {"se", &SharedAccess::expiry},
                                            {"sip", &SharedAccess::addresses},
                                            {"spr", &SharedAccess::protocols},
                                            {"ses", &SharedAccess::encryption_scope},
                                            {"tn", &SharedAccess::table},
                                            {"si", &SharedAccess::identifier},
                                            {"spk", &SharedAccess::first_partition},
                                            {"srk", &SharedAccess::first_row},
                                            {"epk", &SharedAccess::last_partition},
                                            {"erk", &SharedAccess::last_row},
                                            {"sig", &SharedAccess::signature}}};

// Calls `visit(name, value)` with each parameter as sent, for as long as it returns true.
template <class Visit>
void for_each_parameter(std::string_view query, Visit visit) {
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    const size_t equals = parameter.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : parameter.substr(equals + 1);
    if (!visit(parameter.substr(0, equals), value)) return;
  }
}

bool is_version(std::string_view text) {
  return text.size() == 10 && parse_iso_time(text).has_value();
}

// Each with a line end after it.
void append_lines(std::string& out, std::initializer_list<std::string_view> lines) {
  for (const std::string_view line : lines) {
    out += line;
    out += '\n';
  }
}

// Bytes of an IPv6 address; an IPv4 address is mapped into one.
using IpAddress = std::array<unsigned char, 16>;

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  const std::string ended(text);
  IpAddress address{};
  if (inet_pton(AF_INET6, ended.c_str(), address.data()) == 1) return address;
  address = {};
  address[10] = address[11] = 0xFF;
  if (inet_pton(AF_INET, ended.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

std::string_view without_port(std::string_view peer) {
  if (peer.starts_with('[')) return peer.substr(1, peer.find(']') - 1);
  const size_t colon = peer.find(':');
  if (colon != std::string_view::npos && peer.find(':', colon + 1) == std::string_view::npos) {
    return peer.substr(0, colon);
  }
  return peer;
}

TableStatus check_time(const SharedAccess& terms, int64_t now_s) {
  const auto expiry = parse_iso_time(terms.expiry);
  if (!expiry) return not_authenticated("se is no time like 2026-11-16T12:00:00Z.");
  if (now_s >= *expiry) {
    return not_authenticated("the shared access signature expired at " + terms.expiry + ".");
  }
  if (terms.start.empty()) return {};
  const auto start = parse_iso_time(terms.start);
  if (!start) return not_authenticated("st is no time like 2026-11-16T12:00:00Z.");
  if (now_s < *start) {
    return not_authenticated("the shared access signature is not valid before " + terms.start +
                             ".");
  }
  return {};
}

TableStatus check_where_from(const SharedAccess& terms, const RequestFacts& request) {
  if (!terms.addresses.empty() && !address_allowed(terms.addresses, request.peer)) {
    return refuse(ErrorCode::authorization_source_ip_mismatch);
  }
  if (terms.protocols.empty()) return {};
  bool allowed = false;
  for_each_in_list(terms.protocols, [&](std::string_view protocol) {
    allowed = protocol == (request.tls ? "https" : "http");
    return !allowed;
  });
  if (!allowed) return refuse(ErrorCode::authorization_protocol_mismatch);
  return {};
}

// The policy gives what the signature lacks. Naming a term in both is refused, as the service does:
// it would be unclear which one holds.
TableStatus fill_from_policy(SharedAccess& terms, const AccessPolicy& policy) {
  for (const auto& [own, stored] :
       {std::pair{&terms.permissions, &policy.permissions}, std::pair{&terms.start, &policy.start},
        std::pair{&terms.expiry, &policy.expiry}}) {
    if (stored->empty()) continue;
    if (!own->empty()) {
      return not_authenticated("the stored access policy and the signature both say \"" + *stored +
                               "\" and \"" + *own + "\" for one term: say it in one of them.");
    }
    *own = *stored;
  }
  return {};
}

TableResult<KeyRange> key_range(SharedAccess& terms) {
  KeyRange range;
  const auto bound = [](std::string& partition, std::string& row) -> std::optional<KeyBound> {
    if (partition.empty()) return std::nullopt;
    KeyBound made{.partition = std::move(partition), .row = std::nullopt};
    if (!row.empty()) made.row = std::move(row);
    return made;
  };
  if ((terms.first_partition.empty() && !terms.first_row.empty()) ||
      (terms.last_partition.empty() && !terms.last_row.empty())) {
    return not_authenticated("srk needs spk, and erk needs epk.");
  }
  range.first = bound(terms.first_partition, terms.first_row);
  range.last = bound(terms.last_partition, terms.last_row);
  return range;
}

std::unexpected<TableError> wrong_signature(std::string_view payload) {
  return not_authenticated("sig does not match. " + check_what_is_signed(payload));
}

TableResult<Grant> authorize_account(const RequestFacts& request, SharedAccess terms,
                                     const account::KeyRing& keys) {
  const std::string payload = account_string_to_sign(terms, request.account);
  const auto access = keys.who_signed(payload, terms.signature);
  if (!access) return wrong_signature(payload);
  if (auto time = check_time(terms, request.now_s); !time) return pass(time.error());
  if (auto from = check_where_from(terms, request); !from) return pass(from.error());
  if (!terms.services.contains('t')) return refuse(ErrorCode::authorization_service_mismatch);
  return Grant::of_account_signature({.resource_types = std::move(terms.resource_types),
                                      .permissions = std::move(terms.permissions),
                                      .may_write = *access == account::Access::read_write,
                                      .secondary = request.secondary});
}

TableResult<Grant> authorize_table(const RequestFacts& request, SharedAccess terms,
                                   const account::KeyRing& keys, const Accounts& accounts) {
  std::string table = lowered(terms.table.empty() ? request.table : terms.table);
  if (table.empty()) return not_authenticated("tn, the name of the table, is missing.");
  const std::string payload = table_string_to_sign(terms, request.account, table);
  const auto access = keys.who_signed(payload, terms.signature);
  if (!access) return wrong_signature(payload);
  if (!terms.identifier.empty()) {
    const auto policy = accounts.policy_of(request.account, table, terms.identifier);
    if (!policy) {
      return not_authenticated("the table has no stored access policy \"" +
                               terms.identifier.substr(0, 64) + "\".");
    }
    if (auto filled = fill_from_policy(terms, *policy); !filled) return pass(filled.error());
  }
  if (auto time = check_time(terms, request.now_s); !time) return pass(time.error());
  if (auto from = check_where_from(terms, request); !from) return pass(from.error());
  auto range = key_range(terms);
  if (!range) return pass(range.error());
  return Grant::of_table_signature({.table = std::move(table),
                                    .permissions = std::move(terms.permissions),
                                    .keys = std::move(*range),
                                    .may_write = *access == account::Access::read_write,
                                    .secondary = request.secondary});
}

}  // namespace

bool has_shared_access(std::string_view query) {
  bool found = false;
  for_each_parameter(query, [&](std::string_view name, std::string_view /*value*/) {
    found = name == "sig";
    return !found;
  });
  return found;
}

TableResult<SharedAccess> parse_shared_access(std::string_view query) {
  SharedAccess terms;
  std::array<bool, kFields.size()> seen{};
  std::optional<TableError> wrong;
  for_each_parameter(query, [&](std::string_view name, std::string_view value) {
    for (size_t i = 0; i < kFields.size(); ++i) {
      if (kFields[i].name != name) continue;
      auto decoded = percent_decode(value);
      if (!decoded || std::exchange(seen[i], true)) {
        wrong = not_authenticated(std::string(name) +
                                  (decoded ? " is there twice." : " is not percent-encoded."))
                    .error();
        return false;
      }
      terms.*kFields[i].value = std::move(*decoded);
      break;
    }
    return true;
  });
  if (wrong) return pass(std::move(*wrong));
  return terms;
}

std::string account_string_to_sign(const SharedAccess& terms, std::string_view account) {
  std::string out;
  append_lines(out, {account, terms.permissions, terms.services, terms.resource_types, terms.start,
                     terms.expiry, terms.addresses, terms.protocols, terms.version});
  if (terms.version >= kSignsEncryptionScope) append_lines(out, {terms.encryption_scope});
  return out;
}

std::string table_string_to_sign(const SharedAccess& terms, std::string_view account,
                                 std::string_view table) {
  std::string resource = terms.version >= kNamesService ? "/table/" : "/";
  resource += account;
  resource += '/';
  append_lower(resource, table);
  std::string out;
  append_lines(out, {terms.permissions, terms.start, terms.expiry, resource, terms.identifier});
  if (terms.version >= kSignsAddressAndProtocol) {
    append_lines(out, {terms.addresses, terms.protocols});
  }
  append_lines(out, {terms.version, terms.first_partition, terms.first_row, terms.last_partition,
                     terms.last_row});
  out.pop_back();
  return out;
}

TableResult<Grant> authorize_shared_access(const RequestFacts& request,
                                           const account::KeyRing& keys, const Accounts& accounts) {
  auto terms = parse_shared_access(request.query);
  if (!terms) return pass(terms.error());
  if (!is_version(terms->version)) {
    return not_authenticated("sv must be a version like 2019-02-02.");
  }
  return terms->for_account() ? authorize_account(request, std::move(*terms), keys)
                              : authorize_table(request, std::move(*terms), keys, accounts);
}

bool address_allowed(std::string_view allowed, std::string_view peer) {
  const auto address = parse_ip_address(without_port(peer));
  const size_t dash = allowed.find('-');
  const auto first = parse_ip_address(allowed.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_ip_address(allowed.substr(dash + 1));
  return address && first && last && *first <= *address && *address <= *last;
}

}  // namespace orrery::table
