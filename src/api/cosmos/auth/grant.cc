// See grant.h for the rules.
#include "api/cosmos/auth/grant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/wire/partition_key_header.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Type;

constexpr std::array<std::string_view, 4> kGrantable = {"docs", "sprocs", "triggers", "udfs"};

bool can_be_granted(const ResourceAddress& link) {
  const auto& segments = link.segments;
  if (link.count != 4 && link.count != 6) return false;
  if (segments[0] != "dbs" || segments[2] != "colls") return false;
  return link.count == 4 || std::ranges::find(kGrantable, segments[4]) != kGrantable.end();
}

// Some clients percent-encode the names in a link and some do not: what is not decodable is plain.
Result<ResourceAddress> parse_link(std::string_view link) {
  auto address = address_of(link);
  if (address) return address;
  std::string plain;
  for (const char c : link) plain += c == '%' ? std::string("%25") : std::string(1, c);
  return address_of(plain);
}

std::string subject_of(const Grant& grant) {
  std::string text;
  for (size_t i = 0; i < grant.resource.count; ++i) {
    if (i > 0) text += '/';
    text += grant.resource.segments[i];
  }
  if (grant.key) text += " with partition key " + value::to_json(*grant.key);
  return text;
}

std::unexpected<Error> refuse(const Grant& grant, std::string_view why) {
  return fail(Code::forbidden,
              fmt::format("the resource token grants {} {}: {}",
                          grant.may_write ? "all of" : "reading", subject_of(grant), why));
}

// Whether the key header keeps the request within the granted key.
Status check_key(const Grant& grant, const GrantRequest& request) {
  if (!grant.key) return {};
  if (request.address.by_rid) {
    return refuse(grant, "address its items by name, not by resource id");
  }
  if (request.headers.partition_key.empty()) {
    return refuse(grant, "the request must name that key in x-ms-documentdb-partitionkey");
  }
  auto key = parse_key_header(request.headers.partition_key);
  if (!key) return pass(key.error());
  if (key->size() < grant.key->size() ||
      !std::equal(grant.key->begin(), grant.key->end(), key->begin())) {
    return refuse(grant, fmt::format("the request is about partition key {}",
                                     request.headers.partition_key.substr(0, 256)));
  }
  return {};
}

Status check_items(const Grant& grant, const GrantRequest& request) {
  const ResourceAddress& address = request.address;
  if (address.is_feed()) {
    if (!grant.whole_container()) return refuse(grant, "feeds and queries are not part of that");
    // A plan is made from the query's text alone.
    if (request.query && is_true(request.headers.is_query_plan)) return {};
    if (grant.key && is_true(request.headers.is_batch) && !is_true(request.headers.batch_atomic)) {
      return refuse(grant, "a bulk request can go to any key; use single requests or a batch");
    }
    // The same text can be one item's id and another's resource id: the path tells which is meant.
  } else if (!grant.whole_container() &&
             (grant.resource.segments[4] != "docs" || grant.resource.child() != address.child() ||
              grant.resource.by_rid != address.by_rid)) {
    return refuse(grant, fmt::format("item '{}' is not part of that", address.child()));
  } else if (!grant.whole_container() && has_triggers(request.headers)) {
    return refuse(grant, "a trigger can write other items");
  }
  return check_key(grant, request);
}

Status check_scripts(const Grant& grant, const GrantRequest& request) {
  const ResourceAddress& address = request.address;
  if (!grant.whole_container() &&
      (address.is_feed() || grant.resource.segments[4] != address.segments[4] ||
       grant.resource.child() != address.child())) {
    return refuse(grant, "other scripts are not part of that");
  }
  const bool read = request.query || request.method == "GET" || request.method == "HEAD";
  if (read || !grant.key) return {};
  const bool runs = !address.is_feed() && request.method == "POST";
  if (!runs) return refuse(grant, "scripts are shared by all keys, so they cannot be changed");
  return check_key(grant, request);
}

}  // namespace

bool Grant::same_subject(const Grant& other) const {
  return resource.count == other.resource.count &&
         std::equal(resource.segments.begin(),
                    resource.segments.begin() + static_cast<ptrdiff_t>(resource.count),
                    other.resource.segments.begin()) &&
         key == other.key;
}

Result<Grant> parse_grant(std::string_view definition) {
  const auto document = JsonDocument::parse(
      definition.starts_with('{') ? std::string(definition) : fmt::format("{{{}}}", definition));
  auto root = checked_root(document);
  if (!root) return pass(root.error());
  Grant grant;
  auto mode = choice_member(**root, "", "permissionMode", {"Read", "All"}, "");
  if (!mode) return pass(mode.error());
  grant.may_write = *mode == "All";
  auto link = required_member(**root, "", "resource", Type::string);
  if (!link) return pass(link.error());
  auto address = parse_link((*link)->text);
  if (!address || !can_be_granted(*address)) {
    return bad_field("resource", **link,
                     "give the link of a container, dbs/shop/colls/orders, or of an item or a "
                     "script in one, dbs/shop/colls/orders/docs/1.");
  }
  grant.resource = std::move(*address);
  auto key = optional_member(**root, "", "resourcePartitionKey", Type::array);
  if (!key) return pass(key.error());
  if (*key != nullptr) {
    auto parsed = parse_key_header((*key)->raw);
    if (!parsed) return bad_field("resourcePartitionKey", **key, parsed.error().message);
    if (!parsed->empty()) grant.key = std::move(*parsed);
  }
  return grant;
}

Status check_grant(const Grant& grant, const GrantRequest& request) {
  const ResourceAddress& address = request.address;
  const bool reads = request.query || request.method == "GET" || request.method == "HEAD";
  if (address.count == 0 && reads) return {};
  if (!request.in_container) {
    return refuse(grant, "what is outside of it needs an account key, or a token for it");
  }
  if (!grant.may_write && !reads) return refuse(grant, fmt::format("{} writes", request.method));
  const std::string_view type =
      address.count > 4 ? std::string_view(address.segments[4]) : std::string_view();
  if (address.count == 4 || (type == "pkranges" && address.count == 5)) {
    if (reads) return {};
    return refuse(grant, "changing or deleting a container needs an account key");
  }
  if (address.count > 6) return refuse(grant, "what lies inside an item is not part of that");
  if (type == "docs") return check_items(grant, request);
  if (std::ranges::find(kGrantable, type) != kGrantable.end()) return check_scripts(grant, request);
  if (type == "operations" && grant.whole_container()) return check_key(grant, request);
  return refuse(grant, fmt::format("resources of type '{}' need an account key", type));
}

}  // namespace orrery::cosmos
