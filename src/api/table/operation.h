// The operations of this face, as its metrics tell them apart: those that grants know, and what has
// several of them or none.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "api/table/auth/grant.h"

namespace orrery::table {

// Of this face: in the catalog, in options, in metrics.
inline constexpr std::string_view kFaceName = "table";

inline constexpr size_t kBatchMetric = static_cast<size_t>(Operation::delete_entity) + 1;
inline constexpr size_t kOtherMetric = kBatchMetric + 1;
inline constexpr std::array<std::string_view, kOtherMetric + 1> kMetricNames = {
    "get_service_properties",
    "set_service_properties",
    "get_service_stats",
    "query_tables",
    "create_table",
    "delete_table",
    "get_access_policies",
    "set_access_policies",
    "get_entity",
    "query_entities",
    "insert_entity",
    "update_entity",
    "upsert_entity",
    "delete_entity",
    "batch",
    "other"};

}  // namespace orrery::table
