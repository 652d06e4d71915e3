// The change feed: what was written to a partition key range, to a part of one, or to a partition
// key, from a position on. The position is the etag: the LSN up to which everything was told.
//
// A range that was split answers 410: its children go on from the same position. 304: nothing new.
#include <fmt/format.h>

#include <charconv>

#include "api/cosmos/error_body.h"
#include "api/cosmos/feed_bounds.h"
#include "api/cosmos/feed_json.h"
#include "api/cosmos/http_date.h"
#include "api/cosmos/rid.h"
#include "api/cosmos/service.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

Result<cluster::ChangesFrom> start_of(const RequestHeaders& headers) {
  cluster::ChangesFrom from;
  if (!headers.if_modified_since.empty()) {
    from.since_s = parse_http_date(headers.if_modified_since);
    if (!from.since_s) {
      return fail(Code::invalid,
                  fmt::format("If-Modified-Since '{}' is not a date such as 'Sun, 06 Nov 1994 "
                              "08:49:37 GMT'",
                              headers.if_modified_since));
    }
  }
  std::string_view etag = headers.if_none_match;
  if (etag.empty()) return from;
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  if (etag == "*") {
    from.now = true;
    return from;
  }
  auto [end, error] = std::from_chars(etag.data(), etag.data() + etag.size(), from.position);
  if (error != std::errc() || end != etag.data() + etag.size()) {
    return fail(Code::invalid,
                fmt::format("If-None-Match '{}' is not a position in a change feed: send the etag "
                            "of the page before, * to start from now, or nothing to start from "
                            "the beginning",
                            headers.if_none_match.substr(0, 64)));
  }
  return from;
}

// The item with its LSN, which only this feed shows.
void append_change(std::string& json, const partition::Change& change) {
  std::string_view body = change.item.body;
  body.remove_suffix(1);
  append_feed_element(json, body);
  fmt::format_to(std::back_inserter(json), ",\"_lsn\":{}}}", change.lsn);
}

}  // namespace

void Service::read_change_feed(CallPtr call) {
  if (equals_ignore_case(call->headers.a_im, "Full-Fidelity Feed")) {
    return unsupported(std::move(call), "change feeds of all versions and deletes");
  }
  if (!equals_ignore_case(call->headers.a_im, "Incremental Feed")) {
    return call->fail(
        Error{.code = Code::invalid,
              .message = fmt::format("A-IM '{}' is not a kind of feed: use 'Incremental Feed'",
                                     call->headers.a_im)});
  }
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
  auto from = start_of(call->headers);
  if (!from) return call->fail(from.error());

  auto reply = engine_.changes(routing, bounds->min, bounds->max, *from, *size, *demand, *factor);
  if (!reply && reply.error().code == Code::moved) {
    // Who named a range reads the ranges again. Who named none would do so in vain.
    if (!call->headers.partition_key_range.empty()) {
      return call->fail(reply.error(), kSubstatusRangeGone);
    }
    return call->fail(Error{
        .code = Code::invalid,
        .message = reply.error().message + ", naming it with x-ms-documentdb-partitionkeyrangeid"});
  }
  if (!reply) return call->fail(reply.error());

  const partition::ChangePage& page = reply->page;
  call->receipt(reply->receipt, *routing);
  call->etag(std::to_string(page.lsn));
  call->response.add("x-ms-item-count", std::to_string(page.changes.size()));
  if (page.changes.empty() && !page.more) return call->reply_empty(304);
  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  for (const partition::Change& change : page.changes) append_change(json, change);
  finish_feed(json, page.changes.size());
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
