// Items, one at a time: create, upsert, read, replace, delete.
#include <fmt/format.h>

#include "api/cosmos/error_body.h"
#include "api/cosmos/item_body.h"
#include "api/cosmos/partition_key_header.h"
#include "api/cosmos/rid.h"
#include "api/cosmos/service.h"
#include "value/terms.h"

namespace orrery::cosmos {
namespace {

using partition::Verb;
using partition::Write;

// Where an item that was sent belongs: its own key, which must agree with the header when there is
// one.
struct Placed {
  std::string placement;
  std::string key_text;
};
struct Misplaced {
  Error error;
  uint32_t substatus = 0;
};

std::expected<Placed, Misplaced> place_item(const RequestHeaders& headers,
                                            const value::KeyDefinition& definition,
                                            const IncomingItem& item) {
  Placed placed{value::place(definition, item.key), value::to_json(item.key)};
  if (!headers.partition_key.empty()) {
    auto key = parse_key_header(headers.partition_key);
    if (!key) return std::unexpected(Misplaced{key.error()});
    if (auto checked = check_levels(definition, *key, false); !checked) {
      return std::unexpected(Misplaced{checked.error()});
    }
    if (value::place(definition, *key) != placed.placement) {
      return std::unexpected(
          Misplaced{{.code = Code::invalid,
                     .message = fmt::format("the partition key in the item, {}, is not the one in "
                                            "the header x-ms-documentdb-partitionkey, {}",
                                            placed.key_text, headers.partition_key)},
                    kSubstatusKeyMismatch});
    }
  }
  return placed;
}

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

bool wants_minimal(const RequestHeaders& headers) {
  return headers.prefer.find("return=minimal") != std::string_view::npos;
}

}  // namespace

void Service::create_item(CallPtr call, bool upsert) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  auto item = parse_item(call->body, container.spec.key, engine_.limits());
  if (!item) return call->fail(item.error());
  auto placed = place_item(call->headers, container.spec.key, *item);
  if (!placed) return call->fail(placed.error().error, placed.error().substatus);

  Write write;
  write.verb = upsert ? Verb::upsert : Verb::create;
  write.placement = std::move(placed->placement);
  write.key_text = std::move(placed->key_text);
  write.row = std::move(item->id);
  write.body = std::move(item->body);
  write.ttl_s = item->ttl_s;
  if (upsert && !call->headers.if_match.empty()) {
    write.if_match = parse_etag_condition(call->headers.if_match);
  }
  write.if_absent = upsert && call->headers.if_none_match == "*";
  write_item(std::move(call), std::move(routing), std::move(write));
}

void Service::replace_item(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  auto item = parse_item(call->body, container.spec.key, engine_.limits());
  if (!item) return call->fail(item.error());
  auto placed = place_item(call->headers, container.spec.key, *item);
  if (!placed) return call->fail(placed.error().error, placed.error().substatus);

  Write write;
  if (call->address.by_rid) {
    auto address = item_address(call, routing);
    if (!address) return;
    write.row = std::move(address->row);
  } else {
    write.row = call->address.child();
  }
  if (write.row != item->id) {
    return call->fail(Error{.code = Code::invalid,
                            .message = fmt::format("the item's id '{}' is not the one in the path, "
                                                   "'{}': an id cannot be changed",
                                                   item->id, write.row)});
  }
  write.verb = Verb::replace;
  write.placement = std::move(placed->placement);
  write.key_text = std::move(placed->key_text);
  write.body = std::move(item->body);
  write.ttl_s = item->ttl_s;
  if (!call->headers.if_match.empty()) {
    write.if_match = parse_etag_condition(call->headers.if_match);
  }
  write_item(std::move(call), std::move(routing), std::move(write));
}

void Service::delete_item(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  auto address = item_address(call, routing);
  if (!address) return;
  Write write;
  write.verb = Verb::remove;
  write.placement = std::move(address->placement);
  write.row = std::move(address->row);
  write.key_text = call->headers.partition_key;
  if (!call->headers.if_match.empty()) {
    write.if_match = parse_etag_condition(call->headers.if_match);
  }
  write_item(std::move(call), std::move(routing), std::move(write));
}

void Service::write_item(CallPtr call, cluster::RoutingPtr routing, Write write) {
  write.schema = routing->schema;
  if (write.verb != Verb::remove) {
    write.finisher =
        std::make_shared<ItemFinisher>(routing->container->database, routing->container->number);
  }
  std::vector<Write> transaction;
  transaction.push_back(std::move(write));
  engine_.write(routing, std::move(transaction),
                [call = std::move(call), routing](cluster::WriteReply reply) mutable {
                  call->receipt(reply.receipt, *routing);
                  if (reply.error) return call->fail(*reply.error);
                  partition::Written& written = reply.written.front();
                  if (call->operation == Operation::item_delete) return call->reply_empty(204);
                  call->etag(written.version);
                  const int status =
                      written.replaced || call->operation == Operation::item_replace ? 200 : 201;
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
  value::PartitionKey key;
  if (!call->headers.partition_key.empty()) {
    auto parsed = parse_key_header(call->headers.partition_key);
    if (!parsed) return refuse(parsed.error());
    if (auto checked = check_levels(definition, *parsed, false); !checked) {
      return refuse(checked.error());
    }
    key = std::move(*parsed);
  } else if (!definition.paths.empty()) {
    return refuse({.code = Code::invalid,
                   .message = "the header x-ms-documentdb-partitionkey is missing: reading or "
                              "deleting one item of this container needs its partition key"});
  }
  return ItemAddress{value::place(definition, key), std::string(call->address.child())};
}

void Service::read_item(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(*call);
  if (!factor) return call->fail(factor.error());
  auto address = item_address(call, routing);
  if (!address) return;
  if (auto reply =
          engine_.read_if_open(*routing, address->placement, address->row, *demand, *factor)) {
    return answer_read(*call, *routing, std::move(*reply));
  }
  engine_.read(
      routing, std::move(address->placement), std::move(address->row), *demand,
      [call = std::move(call), routing](Result<cluster::ReadReply> reply) mutable {
        answer_read(*call, *routing, std::move(reply));
      },
      *factor);
}

}  // namespace orrery::cosmos
