// Where on the sphere a filter says that documents are: for the index. The documents that match
// have a place at the path that is in the region, or touches it; others may have one too.
//
// Pure; any thread may call.
#pragma once

#include <optional>
#include <string_view>

#include "api/mongo/match/match.h"
#include "value/geometry.h"
#include "value/value.h"

namespace orrery::mongo {

struct GeoRegion {
  value::geo::Shape shape;
  double widened_m = 0;  // the region is what is so near to the shape
};

// Nothing: the filter does not say.
std::optional<GeoRegion> region_of(const value::Value& filter, std::string_view path);
// What is no farther from the point than this.
std::optional<GeoRegion> region_around(const Matcher::Near& near, double distance_m);

}  // namespace orrery::mongo
