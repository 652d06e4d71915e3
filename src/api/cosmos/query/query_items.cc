// Queries over the items of a container: POST …/docs with a query, and the plan for one.
//
// A query that names its partition (by key, by range, or by fixing the key in its filter) runs
// there. A query over several partitions runs on one after the other, if concatenating their rows
// gives the answer. Otherwise the client is told to run it by its plan (400/1004), unless it
// requests the whole answer with x-orrery-whole-query: then the rows are merged here. They are also
// merged here after a split of the range, or of the only partition, that the client began with: not
// all clients can switch to the children, or to a plan. (The JavaScript SDK 4.4 retries for ever
// when its pipelines are told that a range is gone, and fails when it is told to use a plan.)
//
// A short query is answered on the event loop's thread, from memory: handing it to another thread
// would cost as much as the query. It is tried there within an allowance. If that does not suffice,
// it runs again on a thread that may block.
#include <fmt/format.h>

#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/query/container_settings.h"
#include "api/cosmos/query/gateway_plan.h"
#include "api/cosmos/query/index_metrics.h"
#include "api/cosmos/query/prepared_query.h"
#include "api/cosmos/query/query_request.h"
#include "api/cosmos/query/tie_rids.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "cluster/query/container_query.h"
#include "prices/request_units.h"
#include "query/evaluate/order_values.h"
#include "query/run/execute.h"

namespace orrery::cosmos {
namespace {

// What is tried on an event loop, where others wait meanwhile.
constexpr int64_t kTrialTimeUs = 1'000;
// What a page may do however slow the machine is: a 500th of what its time is good for.
constexpr uint64_t kFreeStepsOfMs = 200;
constexpr size_t kTrialBodyMax = 4096;

Result<GatewayPlan> plan_of(const QueryRequest& request, const cluster::Routing& routing) {
  auto settings = settings_of(routing);
  if (!settings) return pass(settings.error());
  return make_gateway_plan(*request.parsed, {routing.container->spec.key, (*settings)->vectors},
                           request.parameters);
}

// Of what is read: the range, and by which filter.
uint64_t hash_of(const KeyBounds& bounds, const QueryRequest& request) {
  const auto hash = murmur3_x64_128(bounds.min + '\0' + bounds.max + '\0' + bounds.only.levels, 0);
  return load_u64_be(hash.data()) ^ request.hash;
}

// The position of a continuation within these bounds, which may be a part of those that it was made
// in, and with this filter, which may be another than it was made with.
Result<query::Position> position_in(const KeyBounds& bounds, const QueryRequest& request,
                                    QueryPosition from, const query::BoundQuery& query) {
  if (from.range_hash == hash_of(bounds, request)) return std::move(from.at);
  if (query.rank) {
    return fail(Code::invalid,
                "a continuation of ORDER BY RANK counts the rows of its range, and this is another "
                "range: start the query again");
  }
  return std::move(from.at).in_part();
}

std::string metrics_of(const query::QueryPage& page, size_t bytes, int64_t took_us) {
  const double took_ms = static_cast<double>(took_us) / 1000;
  const query::ReadCounts& read = page.read;
  const double used =
      read.items == 0 ? 1 : static_cast<double>(read.matched) / static_cast<double>(read.items);
  return fmt::format(
      "totalExecutionTimeInMs={:.2f};queryCompileTimeInMs=0.00;"
      "queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;"
      "queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs={:.2f};"
      "indexLookupTimeInMs=0.00;documentLoadTimeInMs=0.00;"
      "systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;"
      "retrievedDocumentCount={};retrievedDocumentSize={};outputDocumentCount={};"
      "outputDocumentSize={};writeOutputTimeInMs=0.00;indexHitDocumentCount={};"
      "indexUtilizationRatio={:.2f}",
      took_ms, took_ms, read.items, read.bytes, page.rows.size(), bytes, read.matched, used);
}

// What the steps of answering a query share.
struct ItemQuery {
  Call& call;
  const cluster::Routing& routing;
  const KeyBounds& bounds;
  PreparedQuery& prepared;
  const cluster::ContainerQuery& run;
};

// Whoever means one partition key, and forgets to say which, is told so.
Status check_cross_partition(const ItemQuery& query) {
  const RequestHeaders& headers = query.call.headers;
  if (query.run.is_about_one_key() || !headers.partition_key.empty() ||
      !headers.partition_key_range.empty() || query.routing.container->spec.key.paths.empty() ||
      is_true(headers.enable_cross_partition)) {
    return {};
  }
  return fail(Code::invalid,
              "the query may touch several partition keys: fix the partition key in its filter "
              "or in x-ms-documentdb-partitionkey, or allow it with "
              "x-ms-documentdb-query-enablecrosspartition: true");
}

// Whether the client has to run it by a plan.
bool is_left_to_client(const ItemQuery& query, QueryRules rules) {
  const RequestHeaders& headers = query.call.headers;
  const query::Query& parsed = *query.prepared.request().parsed;
  // Where there is a continuation, there was one partition when the query began.
  const bool is_whole = is_true(headers.whole_query) || !headers.continuation.empty();
  if (is_whole || !headers.partition_key_range.empty() || can_concatenate(parsed)) return false;
  // The service leaves every order over several keys to clients, wherever the keys lie.
  const bool is_order_over_keys = rules == QueryRules::service && !query.run.is_about_one_key() &&
                                  !parsed.order_by.empty() && headers.partition_key.empty();
  return is_order_over_keys || query.run.partitions() > 1;
}

// Where the page begins; nothing for the first one.
Result<std::optional<query::Position>> start_of(const ItemQuery& query,
                                                const Continuations& continuations) {
  const QueryRequest& request = query.prepared.request();
  const query::BoundQuery& bound = query.prepared.bound();
  std::optional<query::Position> position;
  if (const std::string_view token = query.call.headers.continuation; !token.empty()) {
    auto from =
        continuations.decode_query(token, query.routing.container->number, request.identity());
    if (!from) return pass(from.error());
    auto here = position_in(query.bounds, request, std::move(*from), bound);
    if (!here) return pass(here.error());
    position = std::move(*here);
  }
  if (request.resume) {
    auto from = query::at_order_values(bound, request.resume->values, request.resume->exclude,
                                       position.value_or(query::Position()));
    if (!from) return pass(from.error());
    position = std::move(*from);
  }
  return position;
}

// What the client asked to be told of how the page was made.
void tell_metrics(const ItemQuery& query, const query::QueryPage& page, size_t bytes,
                  int64_t took_us) {
  const RequestHeaders& headers = query.call.headers;
  if (is_true(headers.populate_query_metrics)) {
    query.call.response.add("x-ms-documentdb-query-metrics", metrics_of(page, bytes, took_us));
  }
  const bool is_newer = is_true(headers.populate_index_metrics_v2);
  if (!is_newer && !is_true(headers.populate_index_metrics)) return;
  const query::BoundQuery& bound = query.prepared.bound();
  query::Context& context = query.prepared.context();
  context.budget.start({.bytes = query::kEvaluationBytesMax});  // the page's time may be over
  const auto plan = query::plan_index_use(bound, query.routing.schema->index, context);
  query.call.response.add("x-ms-cosmos-index-utilization",
                          encode_index_metrics(query::index_use_of(bound, plan),
                                               is_newer ? IndexMetricsForm::percent_encoded
                                                        : IndexMetricsForm::base64));
}

}  // namespace

void Service::read_query_plan(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  auto request = parse_query_request(call->body);
  if (!request) return call->fail(request.error());
  if (options_.query_rules == QueryRules::service && request->refused) {
    return call->fail(*request->refused);
  }
  auto plan = plan_of(*request, *routing);
  if (!plan) return call->fail(plan.error());
  if (auto checked = check_features(*plan, call->headers.supported_query_features); !checked) {
    return call->fail(checked.error());
  }
  call->charge(0);
  call->reply(200, plan_json(*plan));
}

void Service::query_items(CallPtr call) {
  if (call->body.size() > kTrialBodyMax) {
    return later_in_container(std::move(call), Lane::queries, &Service::query_items_patiently);
  }
  run_item_query(std::move(call), partition::Reach::memory);
}

void Service::query_items_patiently(CallPtr call) {
  run_item_query(std::move(call), partition::Reach::files);
}

void Service::run_item_query(CallPtr call, partition::Reach reach) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const catalog::Container& container = *routing->container;
  const int64_t started_us = clock_.steady_us();
  PreparedQuery prepared(scripts_, engine_.catalog(), *routing);
  if (auto parsed = prepared.parse(call->body, options_.query_rules); !parsed) {
    return call->fail(parsed.error());
  }
  const QueryRequest* request = &prepared.request();
  const bool is_trial = reach == partition::Reach::memory;
  bool is_over = false;
  const auto page_time_us = static_cast<int64_t>(engine_.limits().query_time_ms * 1000);
  const int64_t time_us = is_trial ? std::min(kTrialTimeUs, page_time_us) : page_time_us;
  query::PageLimits limits;
  if (!is_trial) limits.free_steps = engine_.limits().query_time_ms * kFreeStepsOfMs;
  limits.stop = [&] {
    is_over = clock_.steady_us() - started_us > time_us || call->client_is_gone();
    return is_over;
  };
  // A client that names a range follows a plan, and adds up what the ranges give. Some SDKs take a
  // page without rows for the end of an aggregate.
  limits.gives_parts =
      !call->headers.partition_key_range.empty() && !is_true(call->headers.whole_query);
  auto bound = prepared.bind(limits);
  if (is_trial && is_over) {
    return later_in_container(std::move(call), Lane::queries, &Service::query_items_patiently);
  }
  if (!bound) return call->fail(bound.error());
  if (is_trial && prepared.uses_scripts()) {
    return later_in_container(std::move(call), Lane::queries, &Service::query_items_patiently);
  }
  auto size = page_size(call->headers.max_item_count, kDefaultPage, engine_.limits().feed_items);
  if (!size) return call->fail(size.error());
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(call->headers.consistency, options_.consistency);
  if (!factor) return call->fail(factor.error());
  auto bounds = bounds_of(call->headers, container, engine_.limits(), GoneRange::its_children);
  if (!bounds) return call->fail(bounds.error());

  cluster::ContainerQuery run(engine_, routing, *request->parsed, request->parameters, *bounds);
  const ItemQuery query{*call, *routing, *bounds, prepared, run};
  if (auto allowed = check_cross_partition(query); !allowed) return call->fail(allowed.error());
  if (is_left_to_client(query, options_.query_rules)) {
    auto plan = plan_of(*request, *routing);
    if (!plan) return call->fail(plan.error());
    return call->fail_with(400, kSubstatusCrossPartition, cross_partition_error(*plan));
  }

  auto token_max = continuation_limit(call->headers.continuation_limit_kb);
  if (!token_max) return call->fail(token_max.error());
  auto position = start_of(query, continuations_);
  if (!position) return call->fail(position.error());
  limits.rows = *size;
  limits.made = ItemAge();
  const auto tie_rids = tie_rids_of(*request->parsed, container.spec.key.placement,
                                    container.database, container.number);
  if (tie_rids) limits.ties = tie_rids->numbering();
  limits.bytes = engine_.limits().response_bytes;
  limits.position_bytes = position_bytes(*token_max);
  auto ran = run.run(prepared.bound(), *position ? &**position : nullptr, *demand, reach, limits,
                     prepared.context());
  if (is_trial && (is_over || (!ran && ran.error().code == Code::would_wait))) {
    return later_in_container(std::move(call), Lane::queries, &Service::query_items_patiently);
  }
  if (!ran) return call->fail(ran.error());
  query::QueryPage& page = ran->page;
  cluster::Receipt& receipt = ran->receipt;

  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  append_feed_elements(json, page.rows);
  receipt.charge = *factor * prices::query_charge({.items = page.read.items,
                                                   .bytes = page.read.bytes,
                                                   .entries_read = page.read.entries,
                                                   .bytes_returned = json.size(),
                                                   .bytes_asked = call->body.size()});
  run.pay(receipt);
  finish_feed(json, page.rows.size());
  if (page.next) {
    const bool is_of_range = prepared.bound().rank || !page.next->gathered.empty();
    const uint64_t range = is_of_range ? hash_of(*bounds, *request) : 0;
    auto token = continuations_.encode(
        QueryPosition{container.number, request->identity(), range, std::move(*page.next)},
        *token_max);
    if (!token) return call->fail(token.error());
    call->response.add("x-ms-continuation", *token);
  }
  if (tie_rids) call->response.add("x-ms-cosmos-query-execution-info", tie_rids->execution_info());
  call->receipt(receipt, *routing);
  tell_metrics(query, page, json.size(), clock_.steady_us() - started_us);
  call->response.add("x-ms-item-count", std::to_string(page.rows.size()));
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
