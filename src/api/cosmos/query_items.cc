// Queries over the items of a container: POST …/docs with a query, and the plan for one.
//
// A query that names its partition (by key, by range, or by fixing the key in its filter) runs
// there. One that touches several partitions runs over them one after the other when that gives the
// answer; otherwise the client is told to run it by its plan (400/1004), unless it asks for the
// whole answer with x-orrery-whole-query: then it is put together here.
#include <fmt/format.h>

#include "api/cosmos/error_body.h"
#include "api/cosmos/feed_bounds.h"
#include "api/cosmos/feed_json.h"
#include "api/cosmos/query_request.h"
#include "api/cosmos/query_view.h"
#include "api/cosmos/rid.h"
#include "api/cosmos/service.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "partition/charge.h"
#include "partition/format.h"
#include "query/bind.h"
#include "query/execute.h"
#include "query/gateway_plan.h"

namespace orrery::cosmos {
namespace {

using query::PlacementRange;

constexpr int64_t kPageTimeUs = 5'000'000;

query::PlanContext plan_context(const catalog::Container& container) {
  query::PlanContext context;
  context.key = container.spec.key;
  return context;
}

// The ranges that the query can touch, within the bounds that its headers set.
std::vector<PlacementRange> ranges_of(const QueryRequest& request,
                                      const catalog::Container& container,
                                      const KeyBounds& bounds) {
  std::vector<PlacementRange> within;
  for (const PlacementRange& range :
       query::touched_ranges(request.parsed, container.spec.key, request.parameters)) {
    PlacementRange part{std::max(range.min, bounds.min), std::min(range.max, bounds.max)};
    if (part.min < part.max) within.push_back(std::move(part));
  }
  return within;
}

size_t partitions_of(const cluster::Routing& routing, const std::vector<PlacementRange>& ranges) {
  size_t count = 0;
  size_t next = 0;
  for (const PlacementRange& range : ranges) {
    auto [from, to] = routing.slots_of(range.min, range.max);
    count += to - std::max(from, std::min(next, to));
    next = std::max(next, to);
  }
  return count;
}

}  // namespace

void Service::read_query_plan(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  auto request = parse_query_request(call->body);
  if (!request) return call->fail(request.error());
  auto plan = query::make_gateway_plan(request->parsed, plan_context(*routing->container),
                                       request->parameters);
  if (!plan) return call->fail(plan.error());
  if (auto checked = query::check_features(*plan, call->headers.supported_query_features);
      !checked) {
    return call->fail(checked.error());
  }
  call->charge(0);
  call->reply(200, query::plan_json(*plan));
}

void Service::query_items(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  const int64_t started_us = clock_.steady_us();
  auto request = parse_query_request(call->body);
  if (!request) return call->fail(request.error());
  auto bound = query::bind_query(request->parsed, request->parameters);
  if (!bound) return call->fail(query::to_error(bound.error()));
  auto size = page_size(call->headers.max_item_count, kDefaultPage, engine_.limits().feed_items);
  if (!size) return call->fail(size.error());
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(*call);
  if (!factor) return call->fail(factor.error());
  auto bounds = bounds_of(call->headers, container);
  if (!bounds) return call->fail(bounds.error().error, bounds.error().substatus);

  const std::vector<PlacementRange> ranges = ranges_of(*request, container, *bounds);
  const bool several = partitions_of(*routing, ranges) > 1;
  const bool one_key = ranges.size() <= 1 && (ranges.empty() || ranges.front().is_point());
  if (!one_key && call->headers.partition_key.empty() &&
      call->headers.partition_key_range.empty() && !container.spec.key.paths.empty() &&
      !is_true(call->headers.enable_cross_partition)) {
    return call->fail(
        {.code = Code::invalid,
         .message =
             "the query may touch several partition keys: fix the partition key in its filter "
             "or in x-ms-documentdb-partitionkey, or allow it with "
             "x-ms-documentdb-query-enablecrosspartition: true"});
  }
  if (several && !query::can_concatenate(request->parsed) && !is_true(call->headers.whole_query)) {
    auto plan =
        query::make_gateway_plan(request->parsed, plan_context(container), request->parameters);
    if (!plan) return call->fail(plan.error());
    return call->fail_with(400, kSubstatusCrossPartition, query::cross_partition_error(*plan));
  }

  // A position that counts rows means nothing in another range.
  uint64_t seal = request->hash;
  if (!(*bound)->streams()) {
    const auto range_hash = murmur3_x64_128(bounds->min + '\0' + bounds->max, 0);
    seal ^= load_u64_be(range_hash.data());
  }
  std::optional<query::Position> position;
  if (!call->headers.continuation.empty()) {
    auto from = continuations_.decode_query(call->headers.continuation, container.number, seal);
    if (!from) return call->fail(from.error());
    position = std::move(*from);
  }
  std::string start = ranges.empty() ? bounds->min : ranges.front().min;
  if (position && !position->key.empty()) {
    auto key = partition::parse_item_key(position->key);
    if (!key) return call->fail(key.error());
    start = key->placement;
  }
  auto admitted = engine_.admit_query(routing, start);
  if (!admitted) return call->fail(admitted.error());

  cluster::Receipt receipt;
  receipt.range = routing->slot_of(start)->range.id;
  receipt.would_throttle_ms = *admitted;
  query::Context context;
  prepare(context);
  query::PageLimits limits;
  limits.rows = *size;
  limits.bytes = engine_.limits().response_bytes;
  limits.stop = [this, started_us] { return clock_.steady_us() - started_us > kPageTimeUs; };
  EngineSpace space(engine_, routing, ranges, *demand, receipt);
  auto page = query::run_page(**bound, space, position ? &*position : nullptr, limits, context);
  if (!page) return call->fail(page.error());

  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  for (const std::string& row : page->rows) append_feed_element(json, row);
  receipt.charge =
      partition::query_charge(page->read.items, page->read.bytes, json.size()) * *factor;
  engine_.pay_for_query(routing, start, receipt.charge);
  finish_feed(json, page->rows.size());
  if (page->next) {
    call->response.add("x-ms-continuation",
                       continuations_.encode(QueryPosition{container.number, seal, *page->next}));
  }
  call->receipt(receipt, *routing);
  if (is_true(call->headers.populate_query_metrics)) {
    const double took_ms = static_cast<double>(clock_.steady_us() - started_us) / 1000;
    call->response.add(
        "x-ms-documentdb-query-metrics",
        fmt::format("totalExecutionTimeInMs={:.2f};queryCompileTimeInMs=0.00;"
                    "queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;"
                    "queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs={:.2f};"
                    "indexLookupTimeInMs=0.00;documentLoadTimeInMs=0.00;"
                    "systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;"
                    "retrievedDocumentCount={};retrievedDocumentSize={};outputDocumentCount={};"
                    "outputDocumentSize={};writeOutputTimeInMs=0.00;indexUtilizationRatio=0.00",
                    took_ms, took_ms, page->read.items, page->read.bytes, page->rows.size(),
                    json.size()));
  }
  call->response.add("x-ms-item-count", std::to_string(page->rows.size()));
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
