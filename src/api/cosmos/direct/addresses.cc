// See addresses.h.
#include "api/cosmos/direct/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/cosmos/direct/replica_path.h"
#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/resource_address.h"

namespace orrery::cosmos::direct {
namespace {

// The host that the client dialled: another name of this machine may not be in its certificate, or
// not be known there.
std::string_view host_without_port(std::string_view host) {
  if (host.empty()) return "localhost";
  const size_t colon = host.rfind(':');
  // An IPv6 address is in brackets.
  if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos) {
    return host;
  }
  return host.substr(0, colon);
}

struct Place {
  std::string_view host;
  uint16_t port = 0;
};

void append_addresses(std::string& out, const Place& place, const ReplicaPath& path) {
  for (const bool secondary : {false, true}) {
    if (!out.ends_with('[')) out += ',';
    fmt::format_to(
        std::back_inserter(out),
        R"({{"_rid":"","id":"{0}","_self":"addresses/{0}/","isPrimary":{1},"isAuxiliary":false,)"
        R"("protocol":"rntbd","logicalUri":{2},"physcialUri":{3},"partitionIndex":"{0}@{0}",)"
        R"("partitionKeyRangeId":"{0}","partitionTargetReplicaSetSize":2}})",
        path.range, !secondary, quoted(fmt::format("rntbd://{}", place.host)),
        quoted(fmt::format("rntbd://{}:{}{}/", place.host, place.port,
                           replica_path(path, secondary))));
  }
}

// The ids in $partitionKeyRangeIds; all ranges when there is no list.
std::vector<uint32_t> asked_ranges(std::string_view list) {
  std::vector<uint32_t> ids;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view text = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error == std::errc() && end == text.data() + text.size()) ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

void handle_addresses(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::partition_ranges;
  if (call->method != "GET") return call->method_not_allowed();
  if (context.direct_port == 0) {
    return call->fail({.code = Code::unsupported,
                       .message = "direct mode is off: start the server with --direct-port, or "
                                  "have the client use gateway mode"});
  }
  const Place place{.host = host_without_port(call->headers.host), .port = context.direct_port};
  std::string json = R"({"_rid":"","Addresss":[)";
  size_t count = 0;
  auto asked = resolved_for(call->target);
  if (!asked) return call->fail(asked.error());
  if (asked->count < 4) {
    append_addresses(json, place, {});
    count = 2;
  } else {
    const std::string list = query_option(call->target, "$partitionKeyRangeIds");
    call->address = std::move(*asked);
    const cluster::RoutingPtr routing = container_of(context, call);
    if (!routing) return;
    const std::vector<uint32_t> wanted = asked_ranges(list);
    for (const catalog::PartitionRange& range : routing->container->map->ranges) {
      // What is gone is left out: clients read the ranges again then.
      if (!wanted.empty() && !std::ranges::binary_search(wanted, range.id)) continue;
      append_addresses(json, place, {.container = routing->container->number, .range = range.id});
      count += 2;
    }
  }
  fmt::format_to(std::back_inserter(json), R"(],"_count":{}}})", count);
  call->charge(0);
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos::direct
