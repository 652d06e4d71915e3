// Series of preferred numbers, to which $bucketAuto rounds its boundaries: Renard's R5 to R80, the
// E series, 1-2-5 and powers of two. Pure.
#pragma once

#include <span>
#include <string_view>

#include "api/mongo/bson/types.h"

namespace orrery::mongo {

struct Granularity {
  std::string_view name;
  std::span<const double> series;  // within one decade; none: powers of two
};

const Granularity* find_granularity(std::string_view name);
// The next number of the series that is greater (less); 0 stays.
Value round_up(const Granularity& granularity, const Value& number);
Value round_down(const Granularity& granularity, const Value& number);

}  // namespace orrery::mongo
