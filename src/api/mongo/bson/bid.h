// Intel's decimal library, called by value, rounding and flags as arguments. Private to
// numbers*.cc.
#pragma once

#include <bid_conf.h>
#include <bid_functions.h>

#include "api/mongo/bson/numbers.h"

namespace orrery::mongo {

inline BID_UINT128 to_bid(Decimal decimal) {
  BID_UINT128 bits;
  bits.w[0] = decimal.low;
  bits.w[1] = decimal.high;
  return bits;
}

inline Decimal from_bid(BID_UINT128 bits) {
  return {.low = bits.w[0], .high = bits.w[1]};
}

}  // namespace orrery::mongo
