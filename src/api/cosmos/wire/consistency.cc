// See consistency.h.
#include "api/cosmos/wire/consistency.h"

#include <fmt/format.h>

#include <array>

namespace orrery::cosmos {
namespace {

constexpr std::array<std::string_view, 5> kConsistencyNames = {
    "Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"};

}  // namespace

Result<Consistency> parse_consistency(std::string_view text) {
  for (size_t i = 0; i < kConsistencyNames.size(); ++i) {
    if (kConsistencyNames[i] == text) return static_cast<Consistency>(i);
  }
  return fail(Code::invalid,
              fmt::format("consistency level '{}' is not one of Strong, BoundedStaleness, Session, "
                          "ConsistentPrefix, Eventual",
                          text));
}

std::string_view to_string(Consistency level) {
  return kConsistencyNames[static_cast<size_t>(level)];
}

Result<double> consistency_factor(std::string_view asked, Consistency account_level) {
  Consistency level = account_level;
  if (!asked.empty()) {
    auto parsed = parse_consistency(asked);
    if (!parsed) return pass(parsed.error());
    if (*parsed < account_level) {
      return fail(Code::invalid,
                  fmt::format("the request asks for {} consistency, which is stronger than the "
                              "account's default, {}: ask for that or a weaker one",
                              to_string(*parsed), to_string(account_level)));
    }
    level = *parsed;
  }
  return level <= Consistency::bounded_staleness ? 2 : 1;
}

}  // namespace orrery::cosmos
