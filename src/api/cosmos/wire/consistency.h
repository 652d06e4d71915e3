// Consistency levels: the account's default, and the weaker one that a request may ask for.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

// From the strongest to the weakest.
enum class Consistency : uint8_t {
  strong,
  bounded_staleness,
  session,
  consistent_prefix,
  eventual
};
Result<Consistency> parse_consistency(std::string_view text);
std::string_view to_string(Consistency level);

// The factor on the charge of a read: 2 for bounded staleness and stronger levels. `asked` is the
// request's header; an error when it asks for a stronger level than the account's.
Result<double> consistency_factor(std::string_view asked, Consistency account_level);

}  // namespace orrery::cosmos
