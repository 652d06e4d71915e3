// Items, one at a time: create, upsert, read, replace, delete, patch.
#include <fmt/format.h>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/items/item_write.h"
#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/etag.h"
#include "value/terms.h"

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

}  // namespace

void Service::write_item(CallPtr call, ItemVerb verb) {
  cluster::RoutingPtr routing = container_of(call);
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
      auto found = item_address(call, routing);
      if (!found) return;
      address = std::move(*found);
      request.id = address.row;
      request.placement = std::move(address.placement);
    }
  }
  auto write = make_write(request, *routing, engine_.limits());
  if (!write) return call->fail(write.error());
  if (!write->from.empty()) {
    if (auto allowed = check_renaming(*call, write->row); !allowed) {
      return call->fail(allowed.error());
    }
  }
  std::vector<partition::Write> transaction;
  transaction.push_back(std::move(*write));
  engine_.write(routing, std::move(transaction),
                [call = std::move(call), routing, verb](cluster::WriteReply reply) mutable {
                  call->receipt(reply.receipt, *routing);
                  if (reply.error) return call->fail(*reply.error);
                  partition::Written& written = reply.written.front();
                  const int status = success_status(verb, written.replaced);
                  if (verb == ItemVerb::remove) return call->reply_empty(status);
                  call->etag(written.version);
                  if (wants_minimal(call->headers)) return call->reply_empty(status);
                  call->reply(status, std::move(written.item.body));
                });
}

std::optional<Service::ItemAddress> Service::item_address(CallPtr& call,
                                                          const cluster::RoutingPtr& routing) {
  const value::KeyDefinition& definition = routing->container->spec.key;
  auto refuse = [&call](const Error& error) {
    call->fail(error);
    call = nullptr;
    return std::nullopt;
  };
  if (call->address.by_rid) {
    value::Path rid_path{.steps = {{.name = "_rid"}}};
    std::string term = value::term_path(rid_path);
    value::append_term_value(term, call->address.child());
    auto found = engine_.find_by_term(routing, term);
    if (!found) return refuse(found.error());
    if (!*found) {
      return refuse({.code = Code::not_found,
                     .message = fmt::format("there is no item with resource id '{}'",
                                            call->address.child())});
    }
    return ItemAddress{std::move((*found)->placement), std::move((*found)->row)};
  }
  auto placement = place_key(call->headers.partition_key, definition, engine_.limits());
  if (!placement) return refuse(placement.error());
  return ItemAddress{std::move(*placement), std::string(call->address.child())};
}

void Service::read_item(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(call->headers.consistency, options_.consistency);
  if (!factor) return call->fail(factor.error());
  auto address = item_address(call, routing);
  if (!address) return;
  if (auto reply =
          engine_.read_in_memory(*routing, address->placement, address->row, *demand, *factor)) {
    return answer_read(*call, *routing, std::move(*reply));
  }
  // It is in files. Where the partition is not open either, the engine opens it on a thread of its
  // own and reads there; the lane is left at once.
  const uint32_t container = routing->container->number;
  auto read = [this, routing, address = std::move(*address),
               factor = *factor](CallPtr running) mutable {
    read_from_files(std::move(running), routing, std::move(address), factor);
  };
  lanes_.submit(Lane::reads, container,
                std::make_unique<face::WaitingCall<Call>>(std::move(call), std::move(read)));
}

void Service::read_from_files(CallPtr call, const cluster::RoutingPtr& routing, ItemAddress address,
                              double factor) {
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  engine_.read(
      routing, std::move(address.placement), std::move(address.row), *demand,
      [call = std::move(call), routing](Result<cluster::ReadReply> reply) mutable {
        answer_read(*call, *routing, std::move(reply));
      },
      factor);
}

}  // namespace orrery::cosmos
