// See offers.h.
#include "api/cosmos/resources/offers.h"

#include <fmt/format.h>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/later.h"
#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/offer_document.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "cluster/throughput.h"
#include "prices/request_units.h"

namespace orrery::cosmos {
namespace {

// The database or container that an offer's id names; exactly one is set when it is there.
struct Owner {
  catalog::DatabasePtr database;
  catalog::ContainerPtr container;
};

Owner owner_of(const catalog::Catalog& catalog, std::string_view id) {
  Owner owner;
  auto rid = parse_rid(id);
  if (!rid || rid->kind != RidKind::offer) return owner;
  const OfferOwner named = offer_owner(*rid);
  if (named.is_container) {
    owner.container = catalog.container(named.number);
    if (owner.container && !owner.container->throughput) owner.container = nullptr;
  } else {
    owner.database = catalog.database(named.number);
    if (owner.database && !owner.database->throughput) owner.database = nullptr;
  }
  return owner;
}

Error no_such_offer(std::string_view id) {
  return Error{.code = Code::not_found, .message = fmt::format("there is no offer '{}'", id)};
}

void add_headers(Call& call, const Owner& owner, const cluster::Engine& engine) {
  const auto subject = !owner.container ? cluster::Subject::database
                       : owner.container->spec.key.paths.empty()
                           ? cluster::Subject::fixed_container
                           : cluster::Subject::partitioned_container;
  call.response.add("x-ms-cosmos-min-throughput",
                    std::to_string(cluster::least_throughput(subject, engine.limits())));
  const bool pending = owner.container && engine.is_scaling(owner.container->number);
  call.response.add("x-ms-offer-replace-pending", pending ? "True" : "False");
}

// What a replacement asks for. Moving between manual and autoscale is asked for with a header, and
// then the system chooses the amount: the least autoscale maximum that serves what manual did, or
// all of the maximum as manual throughput.
Result<catalog::Throughput> throughput_asked(const Call& call, const Owner& owner,
                                             const Limits& limits) {
  catalog::Throughput now =
      owner.container ? *owner.container->throughput : *owner.database->throughput;
  if (is_true(call.headers.migrate_to_autoscale)) {
    if (now.autoscale) return now;
    const uint64_t step = limits.autoscale_throughput_min;
    return catalog::Throughput{.units = static_cast<uint32_t>((now.units + step - 1) / step * step),
                               .autoscale = true};
  }
  if (is_true(call.headers.migrate_to_manual)) {
    now.autoscale = false;
    now.increment_percent.reset();
    return now;
  }
  auto replacement = parse_offer_replacement(call.body);
  if (!replacement) return pass(replacement.error());
  return replacement->throughput;
}

std::string json_of(const Owner& owner) {
  return offer_json(owner.container ? offer_of(*owner.container) : offer_of(*owner.database));
}

std::vector<std::string> all_offers(const catalog::Catalog& catalog) {
  std::vector<std::string> offers;
  const auto add = [&](const std::vector<catalog::DatabasePtr>& databases) {
    for (const catalog::DatabasePtr& database : databases) {
      if (database->throughput) offers.push_back(offer_json(offer_of(*database)));
      for (const catalog::ContainerPtr& container : catalog.containers(database->number)) {
        if (container->throughput) offers.push_back(offer_json(offer_of(*container)));
      }
    }
  };
  add(catalog.databases(kFaceName));
  add(foreign_databases(catalog));
  return offers;
}

void list_offers(const HandlerContext& context, CallPtr call) {
  const std::vector<std::string> offers = all_offers(context.engine.catalog());
  std::string json = feed_head("", "Offers");
  for (const std::string& offer : offers) append_feed_element(json, offer);
  call->charge(prices::feed_charge(json.size(), 0));
  finish_feed(json, offers.size());
  call->response.add("x-ms-item-count", std::to_string(offers.size()));
  call->reply(200, std::move(json));
}

void query_offers(const HandlerContext& context, CallPtr call) {
  if (!is_true(call->headers.is_query)) {
    return call->fail(Error{.code = Code::invalid,
                            .message = "offers cannot be created: set throughput when creating a "
                                       "database or a container, and change it with PUT"});
  }
  query_documents(std::move(call), context.continuations,
                  {"", "Offers", context.engine.limits().query_time_ms},
                  all_offers(context.engine.catalog()));
}

void read_offer(const HandlerContext& context, CallPtr call) {
  const std::string_view id = call->address.segments[1];
  Owner owner = owner_of(context.engine.catalog(), id);
  if (!owner.container && !owner.database) return call->fail(no_such_offer(id));
  add_headers(*call, owner, context.engine);
  call->charge(prices::read_charge(0));
  call->reply(200, json_of(owner));
}

void replace_offer(const HandlerContext& context, CallPtr call) {
  const std::string_view id = call->address.segments[1];
  Owner owner = owner_of(context.engine.catalog(), id);
  if (!owner.container && !owner.database) return call->fail(no_such_offer(id));
  auto throughput = throughput_asked(*call, owner, context.engine.limits());
  if (!throughput) return call->fail(throughput.error());
  Status set = owner.container
                   ? context.engine.set_container_throughput(owner.container->number, *throughput)
                   : context.engine.set_database_throughput(owner.database->number, *throughput);
  if (!set) return call->fail(set.error());
  owner = owner_of(context.engine.catalog(), id);
  if (!owner.container && !owner.database) return call->fail(no_such_offer(id));
  add_headers(*call, owner, context.engine);
  call->charge(prices::replace_charge(0, 0, 0));
  call->reply(200, json_of(owner));
}

Handler offer_verb(const Call& call) {
  if (call.address.count == 1) {
    if (call.method == "GET") return list_offers;
    return call.method == "POST" ? query_offers : nullptr;
  }
  if (call.address.count != 2) return nullptr;
  if (call.method == "GET") return read_offer;
  return call.method == "PUT" ? replace_offer : nullptr;
}

}  // namespace

void handle_offers(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::offer;
  const Handler verb = offer_verb(*call);
  if (verb == nullptr) return call->method_not_allowed();
  later(context, std::move(call), Lane::management, verb);
}

}  // namespace orrery::cosmos
