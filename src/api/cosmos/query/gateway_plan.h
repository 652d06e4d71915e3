// The plan that client libraries request from the gateway, to run a query over many partitions
// themselves.
//
// A client sends the rewritten query (or its own, where that is empty) to each partition in
// `ranges`. The rows carry what merging needs, and the client merges them by the plan:
//   ORDER BY   rows {_rid, orderByItems: [{item}], payload}; the text has a placeholder for the
//              filter with which a client resumes
//   GROUP BY   rows {groupByItems: [{item}], payload}
//   aggregate  partial results: {item}, for averages {item: {sum, count}}, for MIN and MAX also
//              item2 with the count, since a partition without values has no minimum
//   RANK       hybrid search: one query for the statistics of the whole container, and one for each
//              score, whose ranks the client fuses
// A plan is refused, with the vendor's words, for what clients cannot merge.
//
// Pure; may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "query/bind/bind.h"
#include "query/bind/vector_paths.h"
#include "query/functions/aggregate.h"
#include "query/functions/context.h"
#include "query/parse/ast.h"
#include "query/plan/placement_filter.h"
#include "value/path.h"
#include "value/placement.h"

namespace orrery::cosmos {

enum class DistinctType : uint8_t { none, ordered, unordered };
enum class SortOrder : uint8_t { ascending, descending };

// What of the container a plan depends on.
struct PlanContext {
  value::KeyDefinition key;
  query::VectorPaths vectors;
};

struct QueryInfo {
  DistinctType distinct = DistinctType::none;
  std::optional<uint64_t> top;
  std::optional<uint64_t> offset;
  std::optional<uint64_t> limit;
  std::vector<SortOrder> order_by;
  std::vector<std::string> order_by_expressions;
  std::vector<std::string> group_by_expressions;
  std::vector<std::string> group_by_aliases;
  // The aggregate of each alias; none: a value that is the same in all rows of a group.
  std::vector<std::pair<std::string, std::optional<query::Aggregate>>> group_by_aggregates;
  std::vector<query::Aggregate> aggregates;  // of SELECT VALUE
  std::string rewritten_query;               // empty: the query as it is
  bool has_select_value = false;
  // The client counts the distinct rows and returns the count under this name; empty: as a bare
  // value.
  std::optional<std::string> distinct_count_alias;
  // Partitions cannot return rows in this order one by one: the client has to read all rows and
  // sort.
  bool has_non_streaming_order_by = false;
};

struct HybridSearchInfo {
  std::string statistics_query;
  std::vector<QueryInfo> components;
  std::vector<double> weights;  // empty: all the same
  std::optional<uint64_t> skip;
  std::optional<uint64_t> take;
  bool needs_statistics = false;
};

struct GatewayPlan {
  QueryInfo info;                             // without a meaning where there is `hybrid`
  std::optional<HybridSearchInfo> hybrid;     // ORDER BY RANK
  std::vector<query::PlacementRange> ranges;  // effective partition keys
};

// An error's message is the vendor's JSON, to be sent as the message of a 400.
Result<GatewayPlan> make_gateway_plan(const query::Query& query, const PlanContext& context,
                                      const query::Parameters& parameters);

// The plan on the wire.
std::string plan_json(const GatewayPlan& plan);

// Whether concatenating the answers of several partitions gives the answer. If not, and a request
// is for more than one partition, it is answered by 400/1004 with cross_partition_error().
bool can_concatenate(const query::Query& query);

// The body of that answer: clients look for its message, or for the plan in it.
std::string cross_partition_error(const GatewayPlan& plan);

// An error that lists the features of x-ms-cosmos-supported-query-features that the plan needs and
// `supported` (comma-separated) does not name.
Status check_features(const GatewayPlan& plan, std::string_view supported);

}  // namespace orrery::cosmos
