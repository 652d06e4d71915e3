// Where a document is: its row is its _id in an order-preserving form (value/term_value.h, typed
// order, so that 1, 1.0 and NumberLong(1) are one), its placement that of its shard key, or the
// collection's one.
//
// Pure; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/collections/definition.h"
#include "cluster/routing.h"
#include "partition/item.h"
#include "value/value.h"

namespace orrery::mongo {

std::string row_of(const value::Value& id);
// Whether a document can have it as its _id.
bool can_be_row(const value::Value& id);
// Code 53 when a document cannot have it.
Answer<void> check_id(const value::Value& id);
// Code 61 when a member of the shard key is missing.
Answer<std::string> placement_of(const cluster::Routing& routing, const value::Value& document);
// Of the documents that a filter can match, when all have one and the same.
std::optional<std::string> placement_of_filter(const cluster::Routing& routing,
                                               const value::Value& filter);
// A member by its dotted path, through objects alone.
value::Value find_path(const value::Value& document, std::string_view dotted);

// 12 bytes: seconds, a number of this process, a counter.
std::string make_object_id(int64_t now_ms);

}  // namespace orrery::mongo
