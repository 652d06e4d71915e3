// $geoNear, first in its pipeline: documents by how far they are from a point. Whoever reads the
// collection finds them in that order, as of {path: {$near: …}}; the distance is added here.
//
// Pure; any thread may call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/match/match.h"
#include "api/mongo/pipeline/pipeline.h"
#include "value/value.h"

namespace orrery::mongo {

Answer<GeoNear> parse_geo_near(const value::Value& spec);

// The filter that finds its documents, by the places that they have at a path.
value::Value near_filter(const GeoNear& stage, std::string_view path);
// The documents of `input`, with their distances.
std::unique_ptr<Source> with_distances(const GeoNear& stage, std::string_view path,
                                       std::unique_ptr<Source> input);

}  // namespace orrery::mongo
