// The change feed: the writes to a partition key range, to a part of one, or to a partition key,
// from a position on. The position is the etag: the LSN up to which all changes have been returned.
//
// A range that was split answers 410; its children continue from the same position. 304: no
// changes.
#include <fmt/format.h>

#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/change_json.h"
#include "api/cosmos/wire/change_start.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

// A page of either kind, as JSON; the position and whether there is anything to send.
struct ChangeFeedPage {
  cluster::Receipt receipt;
  uint64_t position = 0;
  size_t count = 0;
  bool more = false;
  std::string json = "";  // of the elements
};

void append_separator(std::string& json) {
  if (!json.empty()) json += ',';
}

// All versions are there from the moment on that they are asked to be kept, and only for so long.
Status check_history(const catalog::Container& container, const RequestHeaders& headers) {
  if (container.spec.history_s == 0) {
    return fail(Code::invalid,
                fmt::format("container '{}' keeps no versions and deletes: give it a "
                            "changeFeedPolicy with a retentionDuration (in minutes) first",
                            container.spec.name));
  }
  if (headers.if_none_match.empty()) {
    return fail(Code::invalid,
                "You must read the change feed from within the retention period. A change feed of "
                "all versions and deletes starts from now (If-None-Match: *) or "
                "goes on from an etag: it has no beginning, and no start time");
  }
  return {};
}

}  // namespace

void Service::read_change_feed(CallPtr call) {
  const bool every_write = equals_ignore_case(call->headers.a_im, "Full-Fidelity Feed");
  if (!every_write && !equals_ignore_case(call->headers.a_im, "Incremental Feed")) {
    return call->fail(
        Error{.code = Code::invalid,
              .message = fmt::format("A-IM '{}' is not a kind of feed: use 'Incremental Feed' for "
                                     "the latest versions or 'Full-Fidelity Feed' for all versions "
                                     "and deletes",
                                     call->headers.a_im)});
  }
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  auto size = page_size(call->headers.max_item_count, kDefaultPage, engine_.limits().feed_items);
  if (!size) return call->fail(size.error());
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(call->headers.consistency, options_.consistency);
  if (!factor) return call->fail(factor.error());
  auto bounds = bounds_of(call->headers, container, engine_.limits());
  if (!bounds) return call->fail(bounds.error());
  auto from = parse_change_start(call->headers.if_none_match, call->headers.if_modified_since);
  if (!from) return call->fail(from.error());

  const ChangeFormat format = call->headers.change_feed_format == kSeparateFormatVersion
                                  ? ChangeFormat::separate
                                  : ChangeFormat::plain;
  auto latest = [&]() -> Result<ChangeFeedPage> {
    auto reply = engine_.changes(routing, bounds->min, bounds->max, *from, *size, *demand, *factor);
    if (!reply) return pass(reply.error());
    ChangeFeedPage page{
        .receipt = reply->receipt, .position = reply->page.lsn, .more = reply->page.more};
    for (const partition::Change& change : reply->page.changes) {
      if (!bounds->only.has(change.key.placement)) continue;
      append_separator(page.json);
      append_change(page.json, change, format);
      ++page.count;
    }
    return page;
  };
  auto all = [&]() -> Result<ChangeFeedPage> {
    if (auto may = check_history(container, call->headers); !may) return pass(may.error());
    auto reply = engine_.history(routing, bounds->min, bounds->max, *from, *size, *demand, *factor);
    if (!reply) return pass(reply.error());
    ChangeFeedPage page{
        .receipt = reply->receipt, .position = reply->page.lsn, .more = reply->page.more};
    for (const partition::Event& event : reply->page.events) {
      if (!bounds->only.has(event.key.placement)) continue;
      append_separator(page.json);
      if (auto added = append_event(page.json, event, container.spec.key); !added) {
        return pass(added.error());
      }
      ++page.count;
    }
    return page;
  };
  auto page = every_write ? all() : latest();
  if (!page && page.error().code == Code::moved) {
    // Who named a range reads the ranges again. Who named none would do so in vain.
    if (!call->headers.partition_key_range.empty()) {
      return call->fail(page.error(), kSubstatusRangeGone);
    }
    return call->fail(Error{
        .code = Code::invalid,
        .message = page.error().message + ", naming it with x-ms-documentdb-partitionkeyrangeid"});
  }
  if (!page) return call->fail(page.error());

  call->receipt(page->receipt, *routing);
  call->etag(std::to_string(page->position));
  call->response.add("x-ms-item-count", std::to_string(page->count));
  if (page->count == 0 && !page->more) return call->reply_empty(304);
  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  json += page->json;
  finish_feed(json, page->count);
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
