// This face's items for another face that shares its containers (face/shared_items.h).
#pragma once

#include "face/shared_items.h"

namespace orrery::cosmos {

const face::SharedItems& shared_items();

}  // namespace orrery::cosmos
