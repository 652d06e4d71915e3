// Offers: the throughput of databases and containers, read and changed.
#include <fmt/format.h>

#include "api/cosmos/query/query_documents.h"
#include "api/cosmos/resources/offer_document.h"
#include "api/cosmos/service.h"
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

}  // namespace

std::vector<std::string> Service::all_offers() const {
  std::vector<std::string> offers;
  for (const catalog::DatabasePtr& database : engine_.catalog().databases(kFaceName)) {
    if (database->throughput) offers.push_back(offer_json(offer_of(*database)));
    for (const catalog::ContainerPtr& container : engine_.catalog().containers(database->number)) {
      if (container->throughput) offers.push_back(offer_json(offer_of(*container)));
    }
  }
  return offers;
}

void Service::list_offers(CallPtr call) {
  const std::vector<std::string> offers = all_offers();
  std::string json = feed_head("", "Offers");
  for (const std::string& offer : offers) append_feed_element(json, offer);
  call->charge(prices::feed_charge(json.size(), 0));
  finish_feed(json, offers.size());
  call->response.add("x-ms-item-count", std::to_string(offers.size()));
  call->reply(200, std::move(json));
}

void Service::query_offers(CallPtr call) {
  if (!is_true(call->headers.is_query)) {
    return call->fail(Error{.code = Code::invalid,
                            .message = "offers cannot be created: set throughput when creating a "
                                       "database or a container, and change it with PUT"});
  }
  query_documents(std::move(call), continuations_, {"", "Offers", engine_.limits().query_time_ms},
                  all_offers());
}

void Service::read_offer(CallPtr call) {
  const std::string_view id = call->address.segments[1];
  Owner owner = owner_of(engine_.catalog(), id);
  if (!owner.container && !owner.database) return call->fail(no_such_offer(id));
  add_headers(*call, owner, engine_);
  call->charge(prices::read_charge(0));
  call->reply(200, json_of(owner));
}

void Service::replace_offer(CallPtr call) {
  const std::string_view id = call->address.segments[1];
  Owner owner = owner_of(engine_.catalog(), id);
  if (!owner.container && !owner.database) return call->fail(no_such_offer(id));
  auto throughput = throughput_asked(*call, owner, engine_.limits());
  if (!throughput) return call->fail(throughput.error());
  Status set = owner.container
                   ? engine_.set_container_throughput(owner.container->number, *throughput)
                   : engine_.set_database_throughput(owner.database->number, *throughput);
  if (!set) return call->fail(set.error());
  owner = owner_of(engine_.catalog(), id);
  if (!owner.container && !owner.database) return call->fail(no_such_offer(id));
  add_headers(*call, owner, engine_);
  call->charge(prices::replace_charge(0, 0, 0));
  call->reply(200, json_of(owner));
}

}  // namespace orrery::cosmos
