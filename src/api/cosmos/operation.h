// The operations of this face, as its metrics tell them apart.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery::cosmos {

// Of this face: in the catalog, in options, in metrics.
inline constexpr std::string_view kFaceName = "cosmos";

enum class Operation : uint8_t {
  account,
  database,
  container,
  resource,  // a user, a permission, a script
  partition_ranges,
  offer,
  item_create,
  item_upsert,
  item_read,
  item_replace,
  item_delete,
  item_patch,
  item_batch,
  item_bulk,
  item_feed,
  item_query,
  partition_key_delete,
  script_run,
  other,
};

inline constexpr std::array<std::string_view, static_cast<size_t>(Operation::other) + 1>
    kOperationNames = {"account",
                       "database",
                       "container",
                       "resource",
                       "partition_ranges",
                       "offer",
                       "item_create",
                       "item_upsert",
                       "item_read",
                       "item_replace",
                       "item_delete",
                       "item_patch",
                       "item_batch",
                       "item_bulk",
                       "item_feed",
                       "item_query",
                       "partition_key_delete",
                       "script_run",
                       "other"};

}  // namespace orrery::cosmos
