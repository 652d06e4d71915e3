// Translates a request about one item, alone or in a batch, to the write or the read of a
// partition.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "api/cosmos/wire/error_body.h"
#include "base/limits.h"
#include "base/result.h"
#include "cluster/routing.h"
#include "partition/partition.h"
#include "value/json.h"

namespace orrery::cosmos {

enum class ItemVerb : uint8_t { create, upsert, replace, read, remove, patch };

// Views of what was sent; they need not outlive make_write.
struct ItemRequest {
  ItemVerb verb = ItemVerb::create;
  std::string_view id;      // of all but create and upsert, which have it in the body
  bool may_rename = false;  // a replace may have another id in its body, which the item gets
  std::string_view body;    // an item; the operations of a patch
  std::string_view key;     // the partition key as a JSON array; empty: not given
  // For read, remove and patch: where the item is, when that is known without the key.
  std::string placement;
  std::string_view if_match;
  std::string_view if_none_match;
};

std::expected<partition::Write, Refusal> make_write(const ItemRequest& request,
                                                    const cluster::Routing& routing,
                                                    const Limits& limits);

// The placement key of a partition key. Without a key, only for a container that has none.
Result<std::string> place_key(std::string_view key, const value::KeyDefinition& definition,
                              const Limits& limits);

// The status of a request that succeeded.
int success_status(ItemVerb verb, bool replaced);

}  // namespace orrery::cosmos
