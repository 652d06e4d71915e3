// The definition of another face's container, in the words of this face.
//
// Pure; any thread may call.
#pragma once

#include <string>

#include "catalog/model.h"

namespace orrery::cosmos {

// The members of its document between `id` and the system's: as spec.face_json is for an own one.
//   partitionKey    the paths by which it is placed, as its items show them, and how: Hash (version
//                   1 or 2), MultiHash, or Range, which clients know and do not compute with; that
//                   of a container without paths is the system's
//   indexingPolicy  of the mode none: queries that come here read the items
//   defaultTtl      in seconds, rounded up; there when items may expire
std::string foreign_definition(const catalog::ContainerSpec& spec);

}  // namespace orrery::cosmos
