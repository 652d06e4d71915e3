// What an operator can set of the Cosmos DB face.
#pragma once

#include <array>

#include "api/cosmos/handler_context.h"
#include "face/settings.h"

namespace orrery::cosmos {

inline constexpr std::string_view kDirectPort = "direct";
inline constexpr std::array kPorts = {
    face::Port{"cosmos", 8081, "Port for http and https; 0: any free one"},
    face::Port{kDirectPort, 10251,
               "Port of direct mode (RNTBD, TLS), which the Java and .NET SDKs use by default; 0: "
               "any free one"}};
inline constexpr std::array kOptions = {
    face::Option{"consistency", "Strong|BoundedStaleness|Session|ConsistentPrefix|Eventual",
                 "The account's default consistency", "Session"},
    face::Option{"queries", "service|permissive",
                 "service: refuse the queries that the vendor's service refuses; permissive: run "
                 "all that can be run",
                 "service"}};

// Without what the program adds to them.
inline ServiceOptions service_options(const face::OptionValues& values) {
  return {
      .consistency = parse_consistency(values.text("consistency")).value_or(Consistency::session),
      .query_rules =
          values.text("queries") == "permissive" ? QueryRules::permissive : QueryRules::service};
}

}  // namespace orrery::cosmos
