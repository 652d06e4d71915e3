// See check_places.h.
#include "api/mongo/documents/check_places.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {

Answer<void> check_places(const HandlerContext& context, Call& call,
                          const cluster::RoutingPtr& routing, std::span<const IndexSpec> indexes) {
  std::vector<std::string> places;
  for (const IndexSpec& index : indexes) {
    for (std::string& place : places_of(index)) places.push_back(std::move(place));
  }
  if (places.empty()) return {};
  Budget budget;
  start_budget(call, budget);
  Scan scan(context, routing, whole_collection());
  for (;;) {
    auto bytes = scan.next();
    if (!bytes) return pass(std::move(bytes.error()));
    if (!*bytes) return {};
    if (budget.spend(64 + (*bytes)->size() / 64)) {
      return refuse(kMaxTimeMsExpired, "operation exceeded time limit");
    }
    auto document = parse_bson_in_place(**bytes);
    if (!document) return pass(std::move(document.error()));
    for (const std::string& place : places) {
      auto checked = check_place(value::Value::from(document->root()), place);
      if (!checked) return checked;
    }
  }
}

}  // namespace orrery::mongo
