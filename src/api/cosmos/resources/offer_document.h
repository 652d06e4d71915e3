// Offers: the throughput of a database or a container as a resource of its own, the way clients
// read and change it; and the headers that set it at creation.
//
// Only the form is checked here. The engine checks that amounts and steps are within the account's
// limits.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/model.h"

namespace orrery::cosmos {

struct OfferSubject {
  std::string rid;         // of the offer
  std::string owner_rid;   // of the database or the container
  std::string owner_self;  // dbs/…/ or dbs/…/colls/…/
  catalog::Throughput throughput;
  int64_t changed_s = 0;
  std::string etag;  // with its quotes
  uint64_t stored_kb = 0;
  uint32_t most_ever_rus = 0;  // 0: not known, the present amount is shown
};

OfferSubject offer_of(const catalog::Database& database);    // database.throughput must be set
OfferSubject offer_of(const catalog::Container& container);  // container.throughput must be set
std::string offer_json(const OfferSubject& subject);

// The body of PUT /offers/{id}. offerAutopilotSettings decides when it is there.
struct OfferReplacement {
  catalog::Throughput throughput;
  std::string id;                 // empty when the body has none
  std::string offer_resource_id;  // empty when the body has none
};
Result<OfferReplacement> parse_offer_replacement(std::string_view body);

// x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings; empty: not sent. Nothing when
// neither was sent; both at once are an error.
Result<std::optional<catalog::Throughput>> parse_throughput_headers(std::string_view manual,
                                                                    std::string_view autoscale);

}  // namespace orrery::cosmos
