// The triggers that a write names, and whether they are for such a write.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/items/item_write.h"
#include "base/result.h"
#include "catalog/catalog.h"

namespace orrery::cosmos {

struct Trigger {
  std::string name;
  std::string source;
  std::string operation;  // All, Create, …
};

// Those that a header lists, which must be of that type: "Pre" or "Post".
Result<std::vector<Trigger>> find_triggers(const catalog::Catalog& catalog, uint32_t container,
                                           std::string_view list, std::string_view type);

// Whether all of them are for this operation. `exists`: whether there is such an item already.
Status check_matches(const std::vector<Trigger>& triggers, ItemVerb verb, bool exists);

// As triggers see it: "Create", "Upsert", "Delete", "Replace".
std::string_view operation_name(ItemVerb verb);

}  // namespace orrery::cosmos
