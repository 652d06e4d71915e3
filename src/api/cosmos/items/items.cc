// See items.h.
#include "api/cosmos/items/items.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/cosmos/auth/authorize.h"
#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/foreign/foreign_item.h"
#include "api/cosmos/forward/hop.h"
#include "api/cosmos/items/batch.h"
#include "api/cosmos/items/change_feed.h"
#include "api/cosmos/items/item_address.h"
#include "api/cosmos/items/item_feed.h"
#include "api/cosmos/items/item_write.h"
#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/later.h"
#include "api/cosmos/query/query_items.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/script/triggered_write.h"
#include "api/cosmos/wire/etag.h"
#include "base/await.h"

namespace orrery::cosmos {
namespace {

void answer_read(Call& call, const cluster::Routing& routing, Result<cluster::ReadReply> reply) {
  if (!reply) return call.fail(reply.error());
  call.receipt(reply->receipt, routing);
  if (!reply->item) {
    return call.fail(
        {.code = Code::not_found,
         .message = fmt::format("there is no item with id '{}' under the partition key {}",
                                call.address.child(), call.headers.partition_key)});
  }
  const partition::Version& version = reply->item->version;
  call.etag(version);
  if (!call.headers.if_none_match.empty()) {
    auto known = parse_etag_condition(call.headers.if_none_match);
    if (!known || *known == version) return call.reply_empty(304);
  }
  call.response.headers += "x-ms-item-count: 1\r\n";
  call.reply(200, std::move(reply->item->body));
}

void read_from_files(const HandlerContext& context, CallPtr call,
                     const cluster::RoutingPtr& routing, ItemAddress address,
                     const cluster::ReadTerms& terms) {
  context.engine.read(
      routing, std::move(address.placement), std::move(address.row), terms.demand,
      [call = std::move(call), routing](Result<cluster::ReadReply> reply) mutable {
        answer_read(*call, *routing, std::move(reply));
      },
      terms.charge_factor);
}

Result<cluster::ReadTerms> terms_of(const HandlerContext& context, const Call& call) {
  auto terms = read_terms_of(call.headers, context.options.consistency);
  if (terms && call.hop && call.hop->reads_replica) {
    allow_replicas(*terms, call.headers, context.options.consistency);
  }
  return terms;
}

// As this face shows it. Blocks.
void read_foreign_item(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  auto terms = terms_of(context, *call);
  if (!terms) return call->fail(terms.error());
  auto address = find_item(context, *call, routing);
  if (!address) return call->fail(address.error());
  auto read = await<Result<cluster::ReadReply>>([&](auto done) {
    context.engine.read(routing, std::move(address->placement), address->row, terms->demand,
                        std::move(done), terms->charge_factor);
  });
  if (!read) return call->fail(read.error());
  if (*read && (*read)->item) {
    auto json = foreign_item_json(*routing, address->row, *(*read)->item);
    if (!json) return call->fail(json.error());
    (*read)->item->body = std::move(*json);
  }
  answer_read(*call, *routing, std::move(*read));
}

void read_item(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  if (!is_own(*routing->database)) {
    return later_in_container(context, std::move(call), Lane::queries, read_foreign_item);
  }
  auto terms = terms_of(context, *call);
  if (!terms) return call->fail(terms.error());
  auto address = find_item(context, *call, routing);
  if (!address) return call->fail(address.error());
  if (auto reply = context.engine.read_in_memory(*routing, address->placement, address->row,
                                                 terms->demand, terms->charge_factor)) {
    return answer_read(*call, *routing, std::move(*reply));
  }
  // It is in files. Where the partition is not open either, the engine opens it on a thread of its
  // own and reads there; the lane is left at once.
  const uint32_t container = routing->container->number;
  auto read = [&context, routing, address = std::move(*address),
               terms = std::move(*terms)](CallPtr running) mutable {
    read_from_files(context, std::move(running), routing, std::move(address), terms);
  };
  context.lanes.submit(Lane::reads, container,
                       std::make_unique<face::WaitingCall<Call>>(std::move(call), std::move(read)));
}

void write_item(const HandlerContext& context, CallPtr call, ItemVerb verb) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  ItemRequest request;
  request.verb = verb;
  request.body = call->body;
  request.key = call->headers.partition_key;
  request.if_match = call->headers.if_match;
  request.if_none_match = call->headers.if_none_match;
  request.may_rename = true;
  ItemAddress address;
  if (verb != ItemVerb::create && verb != ItemVerb::upsert) {
    request.id = call->address.child();
    if (call->address.by_rid) {
      auto found = find_item(context, *call, routing);
      if (!found) return call->fail(found.error());
      address = std::move(*found);
      request.id = address.row;
      request.placement = std::move(address.placement);
    }
  }
  auto write = make_write(request, *routing, context.engine.limits());
  if (!write) return call->fail(write.error());
  if (!write->from.empty()) {
    if (auto allowed = check_renaming(context, *call, write->row); !allowed) {
      return call->fail(allowed.error());
    }
  }
  const bool may_update =
      verb == ItemVerb::replace || verb == ItemVerb::upsert || verb == ItemVerb::patch;
  write->wants_before = may_update && call->is_to_be_recorded();
  std::vector<partition::Write> transaction;
  transaction.push_back(std::move(*write));
  context.engine.write(routing, std::move(transaction),
                       [call = std::move(call), routing, verb](cluster::WriteReply reply) mutable {
                         if (reply.error) {
                           call->receipt(reply.receipt, *routing);
                           return call->fail(*reply.error);
                         }
                         partition::Written& written = reply.written.front();
                         call->receipt(reply.receipt, *routing,
                                       {.before = written.before, .after = written.item.body});
                         const int status = success_status(verb, written.replaced);
                         if (verb == ItemVerb::remove) return call->reply_empty(status);
                         call->etag(written.version);
                         if (wants_minimal(call->headers)) return call->reply_empty(status);
                         call->reply(status, std::move(written.item.body));
                       });
}

// At once, or on a thread that may block: for triggers, and for an item by its resource id, which
// has to be looked for.
void begin_write(const HandlerContext& context, CallPtr call, Operation operation, ItemVerb verb) {
  call->operation = operation;
  if (has_triggers(call->headers)) {
    return later_in_container(context, std::move(call), Lane::scripts,
                              [&context, verb](CallPtr running) {
                                write_with_triggers(context, std::move(running), verb);
                              });
  }
  if (call->address.by_rid && !call->address.is_feed()) {
    return later_in_container(
        context, std::move(call), Lane::queries,
        [&context, verb](CallPtr running) { write_item(context, std::move(running), verb); });
  }
  write_item(context, std::move(call), verb);
}

}  // namespace

void handle_items(const HandlerContext& context, CallPtr call) {
  const RequestHeaders& headers = call->headers;
  if (call->method == "GET") {
    return headers.a_im.empty() ? handle_item_feed(context, std::move(call))
                                : handle_change_feed(context, std::move(call));
  }
  if (call->method != "POST") return call->method_not_allowed();
  if (call->is_query()) return handle_item_query(context, std::move(call));
  if (is_true(headers.is_batch)) return handle_batch(context, std::move(call));
  if (is_true(headers.is_upsert)) {
    return begin_write(context, std::move(call), Operation::item_upsert, ItemVerb::upsert);
  }
  begin_write(context, std::move(call), Operation::item_create, ItemVerb::create);
}

void handle_item(const HandlerContext& context, CallPtr call) {
  const std::string_view method = call->method;
  if (method == "GET") {
    call->operation = Operation::item_read;
    // By resource id the item has to be looked for, which may block.
    if (call->address.by_rid) {
      return later_in_container(context, std::move(call), Lane::queries, read_item);
    }
    return read_item(context, std::move(call));
  }
  if (method == "PUT") {
    return begin_write(context, std::move(call), Operation::item_replace, ItemVerb::replace);
  }
  if (method == "DELETE") {
    return begin_write(context, std::move(call), Operation::item_delete, ItemVerb::remove);
  }
  if (method == "PATCH") {
    return begin_write(context, std::move(call), Operation::item_patch, ItemVerb::patch);
  }
  call->method_not_allowed();
}

}  // namespace orrery::cosmos
