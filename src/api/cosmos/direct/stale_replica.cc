// See stale_replica.h.
#include "api/cosmos/direct/stale_replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/cosmos/direct/replica_path.h"
#include "api/cosmos/direct/token_ids.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/resource_address.h"
#include "face/http_error.h"

namespace orrery::cosmos::direct {
namespace {

constexpr int kGoneStatus = 410;
constexpr uint32_t kSubstatusNameStale = 1000;        // read the container again
constexpr uint32_t kSubstatusReadRangesAgain = 1007;  // read its ranges and addresses again

net::Response gone(const DirectRequest& request, uint32_t substatus, std::string_view message) {
  const auto activity = activity_text({request.activity_id.data(), request.activity_id.size()});
  net::Response response;
  response.status = kGoneStatus;
  response.headers = fmt::format("x-ms-substatus: {}\r\n", substatus);
  response.body =
      error_body(face::status_name(kGoneStatus), message, {activity.data(), activity.size()});
  return response;
}

bool is_known_by_name(const HandlerContext& context, const DirectRequest& request) {
  const auto address = address_of(request.http.target);
  return address && find_shown_container(context.engine, *address) != nullptr;
}

}  // namespace

std::optional<net::Response> refuse_stale(const HandlerContext& context,
                                          const DirectRequest& request) {
  if (request.resource != resource::kItem && request.resource != resource::kProcedure) {
    return std::nullopt;
  }
  const auto path = parse_replica_path(request.replica_path);
  if (!path || path->container == 0) return std::nullopt;
  const cluster::RoutingPtr routing = context.engine.find(path->container);
  if (!routing) {
    // If this node knows none of that name either, its copy of the catalog may be behind: the
    // handler asks.
    if (context.forwarder != nullptr && !is_known_by_name(context, request)) return std::nullopt;
    return gone(request, kSubstatusNameStale,
                "the container that this address was for is gone: read the container again");
  }
  if (request.names_range) return std::nullopt;
  const auto& ranges = routing->container->map->ranges;
  if (std::ranges::any_of(ranges, [&](const auto& range) { return range.id == path->range; })) {
    return std::nullopt;
  }
  return gone(request, kSubstatusReadRangesAgain,
              fmt::format("partition key range {} was split: read the ranges and their addresses "
                          "again",
                          path->range));
}

}  // namespace orrery::cosmos::direct
