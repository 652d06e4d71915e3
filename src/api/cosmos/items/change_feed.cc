// See change_feed.h.
#include "api/cosmos/items/change_feed.h"

#include <fmt/format.h>

#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/foreign/foreign_item.h"
#include "api/cosmos/items/feed_request.h"
#include "api/cosmos/later.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/change_json.h"
#include "api/cosmos/wire/change_start.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

// Which writes: the last one to each item that is still there, or every one.
enum class FeedMode : uint8_t { latest_versions, all_versions_and_deletes };

// What is read: the page that the headers ask for, from a position on.
struct ChangeFeedRequest {
  const RequestHeaders& headers;
  const cluster::RoutingPtr& routing;
  FeedRequest page;
  cluster::ChangesFrom from;
};

// A page of either mode, as JSON; the position and whether there is anything to send.
struct ChangeFeedPage {
  cluster::Receipt receipt;
  uint64_t position = 0;
  size_t count = 0;
  bool more = false;
  std::string json;  // of the elements
};

// Up to the position that a reply of the engine has reached.
template <class Reply>
ChangeFeedPage empty_page(const Reply& reply) {
  ChangeFeedPage page;
  page.receipt = reply.receipt;
  page.position = reply.page.lsn;
  page.more = reply.page.more;
  return page;
}

void append_separator(std::string& json) {
  if (!json.empty()) json += ',';
}

Result<FeedMode> mode_of(std::string_view a_im) {
  if (equals_ignore_case(a_im, "Incremental Feed")) return FeedMode::latest_versions;
  if (equals_ignore_case(a_im, "Full-Fidelity Feed")) return FeedMode::all_versions_and_deletes;
  return fail(Code::invalid,
              fmt::format("A-IM '{}' is not a kind of feed: use 'Incremental Feed' for "
                          "the latest versions or 'Full-Fidelity Feed' for all versions "
                          "and deletes",
                          a_im));
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

Result<ChangeFeedPage> read_latest_versions(cluster::Engine& engine,
                                            const ChangeFeedRequest& request) {
  const auto& [items_max, terms, bounds] = request.page;
  auto reply = engine.changes(request.routing, bounds.min, bounds.max, request.from, items_max,
                              terms.demand, terms.charge_factor);
  if (!reply) return pass(reply.error());
  const ChangeFormat format = request.headers.change_feed_format == kSeparateFormatVersion
                                  ? ChangeFormat::separate
                                  : ChangeFormat::plain;
  ChangeFeedPage page = empty_page(*reply);
  const bool is_foreign = !is_own(*request.routing->database);
  for (partition::Change& change : reply->page.changes) {
    if (!bounds.only.has(change.key.placement)) continue;
    if (is_foreign) {
      auto shown = foreign_item_json(*request.routing, change.key.row, change.item);
      if (!shown) return pass(shown.error());
      change.item.body = std::move(*shown);
    }
    append_separator(page.json);
    append_change(page.json, change, format);
    ++page.count;
  }
  return page;
}

Result<ChangeFeedPage> read_all_versions(cluster::Engine& engine,
                                         const ChangeFeedRequest& request) {
  const catalog::Container& container = *request.routing->container;
  if (!is_own(*request.routing->database)) {
    return fail(Code::unsupported,
                fmt::format("all versions and deletes of '{}', a container of the {} face, are not "
                            "shown here: read the latest versions (A-IM: Incremental Feed)",
                            container.spec.name, request.routing->database->face));
  }
  if (auto may = check_history(container, request.headers); !may) return pass(may.error());
  const auto& [items_max, terms, bounds] = request.page;
  auto reply = engine.history(request.routing, bounds.min, bounds.max, request.from, items_max,
                              terms.demand, terms.charge_factor);
  if (!reply) return pass(reply.error());
  ChangeFeedPage page = empty_page(*reply);
  for (const partition::Event& event : reply->page.events) {
    if (!bounds.only.has(event.key.placement)) continue;
    append_separator(page.json);
    if (auto added = append_event(page.json, event, container.spec.key); !added) {
      return pass(added.error());
    }
    ++page.count;
  }
  return page;
}

void answer_failure(Call& call, const Error& error) {
  if (error.code != Code::moved) return call.fail(error);
  // Who named a range reads the ranges again. Who named none would do so in vain.
  if (!call.headers.partition_key_range.empty()) return call.fail(error, kSubstatusRangeGone);
  call.fail({.code = Code::invalid,
             .message = error.message + ", naming it with x-ms-documentdb-partitionkeyrangeid"});
}

void answer_page(Call& call, const cluster::Routing& routing, const ChangeFeedPage& page) {
  const catalog::Container& container = *routing.container;
  call.receipt(page.receipt, routing);
  call.etag(std::to_string(page.position));
  call.response.add("x-ms-item-count", std::to_string(page.count));
  if (page.count == 0 && !page.more) return call.reply_empty(304);
  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  json += page.json;
  finish_feed(json, page.count);
  call.reply(200, std::move(json));
}

void read_change_feed(const HandlerContext& context, CallPtr call) {
  const RequestHeaders& headers = call->headers;
  auto mode = mode_of(headers.a_im);
  if (!mode) return call->fail(mode.error());
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  auto asked = feed_request_of(context, headers, *routing->container);
  if (!asked) return call->fail(asked.error());
  auto from = parse_change_start(headers.if_none_match, headers.if_modified_since);
  if (!from) return call->fail(from.error());
  const ChangeFeedRequest request{headers, routing, std::move(*asked), *from};
  auto page = *mode == FeedMode::latest_versions ? read_latest_versions(context.engine, request)
                                                 : read_all_versions(context.engine, request);
  if (!page) return answer_failure(*call, page.error());
  answer_page(*call, *routing, *page);
}

}  // namespace

void handle_change_feed(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::item_feed;
  later_in_container(context, std::move(call), Lane::queries, read_change_feed);
}

}  // namespace orrery::cosmos
