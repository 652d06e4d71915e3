// The feed of a container's items, page by page: of all of it, of one partition key range, of a
// range of effective partition keys, or of one partition key (or a prefix of its levels).
#include <fmt/format.h>

#include <charconv>

#include "api/cosmos/error_body.h"
#include "api/cosmos/feed_json.h"
#include "api/cosmos/partition_key_header.h"
#include "api/cosmos/rid.h"
#include "api/cosmos/select_all.h"
#include "api/cosmos/service.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

struct Bounds {
  std::string min{value::placement_min()};
  std::string max{value::placement_max()};

  void narrow(std::string_view from, std::string_view to) {
    if (from > min) min = from;
    if (to < max) max = to;
  }
};

struct Refusal {
  Error error;
  uint32_t substatus = 0;
};

std::expected<Bounds, Refusal> bounds_of(const RequestHeaders& headers,
                                         const catalog::Container& container) {
  Bounds bounds;
  if (!headers.partition_key.empty()) {
    auto key = parse_key_header(headers.partition_key);
    if (!key) return std::unexpected(Refusal{key.error()});
    if (auto checked = check_levels(container.spec.key, *key, true); !checked) {
      return std::unexpected(Refusal{checked.error()});
    }
    auto [min, max] = value::place_prefix(container.spec.key, *key);
    bounds.narrow(min, max);
  }
  if (!headers.partition_key_range.empty()) {
    // Clients may send "rid,id".
    std::string_view text = headers.partition_key_range;
    if (size_t comma = text.rfind(','); comma != std::string_view::npos) {
      text.remove_prefix(comma + 1);
    }
    uint32_t id = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size()) {
      return std::unexpected(Refusal{{.code = Code::invalid,
                                      .message = fmt::format("'{}' is not a partition key range",
                                                             headers.partition_key_range)}});
    }
    auto range = std::ranges::find(container.map->ranges, id, &catalog::PartitionRange::id);
    if (range == container.map->ranges.end()) {
      return std::unexpected(
          Refusal{{.code = Code::moved,
                   .message = fmt::format("partition key range {} is gone: it was split. Read the "
                                          "ranges again and go on in its children",
                                          id)},
                  kSubstatusRangeGone});
    }
    bounds.narrow(range->min, range->max);
  }
  for (std::string_view epk : {headers.start_epk, headers.end_epk}) {
    if (epk.empty()) continue;
    auto placement = from_hex(epk);
    if (!placement) {
      return std::unexpected(Refusal{
          {.code = Code::invalid,
           .message = fmt::format("'{}' is not an effective partition key in hexadecimal", epk)}});
    }
    if (epk.data() == headers.start_epk.data()) {
      bounds.narrow(*placement, value::placement_max());
    } else {
      bounds.narrow(value::placement_min(), *placement);
    }
  }
  return bounds;
}

}  // namespace

// Clients read whole feeds with the query that asks for everything; any other has to wait for the
// query engine.
void Service::query_items(CallPtr call) {
  auto all = is_select_all(call->body);
  if (!all) return call->fail(all.error());
  if (!*all) {
    return unsupported(std::move(call),
                       "queries other than SELECT * FROM c, which reads all items,");
  }
  call->operation = Operation::item_feed;
  later(std::move(call), &Service::read_item_feed);
}

void Service::read_item_feed(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  auto size = page_size(call->headers.max_item_count, kDefaultPage, engine_.limits().feed_items);
  if (!size) return call->fail(size.error());
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(*call);
  if (!factor) return call->fail(factor.error());
  auto bounds = bounds_of(call->headers, container);
  if (!bounds) return call->fail(bounds.error().error, bounds.error().substatus);
  std::optional<partition::ItemKey> after;
  if (!call->headers.continuation.empty()) {
    auto position = continuations_.decode(call->headers.continuation, container.number);
    if (!position) return call->fail(position.error());
    after = {std::move(position->after_placement), std::move(position->after_row)};
  }
  auto reply =
      engine_.feed(routing, bounds->min, bounds->max, after ? &*after : nullptr, *size, *demand);
  if (!reply) return call->fail(reply.error());

  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  for (const auto& [key, item] : reply->page.items) append_feed_element(json, item.body);
  finish_feed(json, reply->page.items.size());
  if (reply->page.more && !reply->page.items.empty()) {
    const partition::ItemKey& last = reply->page.items.back().first;
    call->response.add("x-ms-continuation",
                       continuations_.encode({container.number, last.placement, last.row}));
  }
  reply->receipt.charge *= *factor;
  call->receipt(reply->receipt, *routing);
  call->response.add("x-ms-item-count", std::to_string(reply->page.items.size()));
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
