// See resource_address.h.
#include "api/cosmos/wire/resource_address.h"

#include <utility>

#include "api/cosmos/wire/rid.h"
#include "base/ascii_case.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

// Without its query. There is none after an item's id, to which a question mark belongs then: the
// JavaScript SDK sends it as it is.
std::string_view without_query(std::string_view path) {
  const size_t question = path.find('?');
  if (question == std::string_view::npos) return path;
  std::string_view parts = path.substr(0, question);
  while (parts.starts_with('/')) parts.remove_prefix(1);
  for (int named = 0; named < 4; ++named) {  // dbs, its name, colls, its name
    const size_t end = parts.find('/');
    if (end == std::string_view::npos) return path.substr(0, question);
    parts.remove_prefix(end + 1);
  }
  constexpr std::string_view kDocs = "docs/";
  const size_t id = question - parts.size() + kDocs.size();
  const bool is_item = parts.starts_with(kDocs) && path.find('/', id) == std::string_view::npos;
  return is_item ? path : path.substr(0, question);
}

// Fills in the segments, and tells whether one of them was percent-encoded.
Result<bool> split(std::string_view path, ResourceAddress& address) {
  bool escaped = false;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t end = rest.find('/');
    const std::string_view segment = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (segment.empty()) {
      return fail(Code::invalid, "The path \"" + std::string(path.substr(0, 256)) +
                                     "\" has an empty part: write one / between two parts.");
    }
    if (address.count == kMaxPathSegments) {
      return fail(Code::invalid, "The path \"" + std::string(path.substr(0, 256)) +
                                     "\" has more than " + std::to_string(kMaxPathSegments) +
                                     " parts.");
    }
    std::string& out = address.segments[address.count++];
    if (segment.find('%') == std::string_view::npos) {
      out.append(segment);
      continue;
    }
    escaped = true;
    auto decoded = percent_decode(segment);
    if (!decoded) return pass(decoded.error());
    out = std::move(*decoded);
  }
  return escaped;
}

bool is_key_delete(const ResourceAddress& address) {
  return address.count == 6 && address.segments[4] == "operations";
}

// A path without so many of its last parts, as it was sent.
std::string_view without_last(std::string_view path, size_t parts) {
  for (size_t i = 0; i < parts; ++i) {
    const size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return path;
}

std::string decoded_link(const ResourceAddress& address, size_t count, size_t size_max) {
  std::string link;
  link.reserve(size_max);
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) link += '/';
    link += address.segments[i];
  }
  return link;
}

bool names_database_by_rid(const ResourceAddress& address) {
  const std::string& database = address.segments[1];
  // Four bytes in base64 look like this; anything else need not be tried.
  if (address.segments[0] != "dbs" || database.size() != 8 || !database.ends_with("==")) {
    return false;
  }
  const auto rid = parse_rid(database);
  return rid.has_value() && rid->kind == RidKind::database;
}

void set_other(ResourceAddress& address, std::string_view type, std::string link) {
  address.other_type = type;
  address.other_link = std::move(link);
  address.has_other = true;
}

// What a client signs. `path` is what the segments were made of.
void set_signed_forms(ResourceAddress& address, std::string_view path, bool escaped) {
  const auto& segments = address.segments;
  const bool key_delete = is_key_delete(address);
  // How much of the path is the link: all of it, or for a feed all but its last part.
  const size_t linked = key_delete ? 4 : address.count - address.count % 2;
  address.resource_type =
      key_delete ? "colls" : lowered(segments[address.is_feed() ? linked : linked - 2]);
  if (segments[0] == "offers") {
    if (linked == 2) address.resource_link = lowered(segments[1]);
    return;
  }
  const std::string_view sent = without_last(path, address.count - linked);
  std::string link = escaped ? decoded_link(address, linked, sent.size()) : std::string(sent);
  if (address.by_rid) {
    address.resource_link = lowered(segments[linked - 1]);
    return set_other(address, address.resource_type, std::move(link));
  }
  address.resource_link = std::move(link);
  if (key_delete) return set_other(address, "partitionkey", address.resource_link);
  if (escaped && linked != 0) set_other(address, address.resource_type, std::string(sent));
}

}  // namespace

bool asks_for_addresses(const ResourceAddress& address) {
  return address.count == 1 && address.segments[0] == "addresses";
}

std::string query_option(std::string_view target, std::string_view name) {
  const size_t question = target.find('?');
  std::string_view rest =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view option = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const size_t equals = option.find('=');
    if (equals == std::string_view::npos) continue;
    const auto decoded = percent_decode(option.substr(0, equals));
    if (!decoded || *decoded != name) continue;
    return percent_decode(option.substr(equals + 1)).value_or(std::string());
  }
  return {};
}

Result<ResourceAddress> resolved_for(std::string_view target) {
  const std::string path = query_option(target, "$resolveFor");
  // A query within it would be resolved in turn.
  auto address = address_of(std::string_view(path).substr(0, path.find('?')));
  if (!address) return address;
  if (address->count == 0 || !address->is_feed() || address->segments[0] != "dbs") {
    return fail(Code::invalid, "$resolveFor of /addresses is \"" + path.substr(0, 256) +
                                   "\"; it is dbs, or dbs/…/colls/…/docs.");
  }
  return address;
}

Result<ResourceAddress> address_of(std::string_view path) {
  ResourceAddress address;
  if (auto taken = take_apart(path, address); !taken) return pass(taken.error());
  return address;
}

Status take_apart(std::string_view path, ResourceAddress& address) {
  const std::string_view target = path;
  path = without_query(path);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  const auto refused = [&](const Error& error) -> Status {
    address = {};
    return pass(error);
  };
  const auto escaped = split(path, address);
  if (!escaped) return refused(escaped.error());
  if (address.count == 0) return {};
  address.by_rid = names_database_by_rid(address);
  if (asks_for_addresses(address)) {
    auto feed = resolved_for(target);
    if (!feed) return refused(feed.error());
    address.resource_type = std::move(feed->resource_type);
    address.resource_link = std::move(feed->resource_link);
    return {};
  }
  set_signed_forms(address, path, *escaped);
  return {};
}

}  // namespace orrery::cosmos
