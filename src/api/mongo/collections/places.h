// The fields that 2dsphere indexes have the places of, as dotted paths.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <vector>

#include "api/mongo/collections/definition.h"

namespace orrery::mongo {

std::vector<std::string> places_of(const IndexSpec& index);
// Of all indexes of a collection: what its documents have there must be places.
std::vector<std::string> places_of(const Definition& definition);

}  // namespace orrery::mongo
