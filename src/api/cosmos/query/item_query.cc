// See item_query.h.
#include "api/cosmos/query/item_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/query/container_settings.h"
#include "api/cosmos/query/index_metrics.h"
#include "api/cosmos/query/tie_rids.h"
#include "api/cosmos/wire/continuation.h"
#include "api/cosmos/wire/feed_json.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "prices/request_units.h"
#include "query/evaluate/order_values.h"
#include "query/run/execute.h"

namespace orrery::cosmos {
namespace {

// What is tried on an event loop, where others wait meanwhile.
constexpr int64_t kTrialTimeUs = 1'000;
// What a page may do however slow the machine is: a 500th of what its time is good for.
constexpr uint64_t kFreeStepsOfMs = 200;

std::unexpected<Error> would_wait() {
  return fail(Code::would_wait, "");
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

}  // namespace

Result<GatewayPlan> plan_of(const QueryRequest& request, const cluster::Routing& routing) {
  auto settings = settings_of(routing);
  if (!settings) return pass(settings.error());
  auto plan = make_gateway_plan(
      *request.parsed, {routing.container->spec.key, (*settings)->vectors}, request.parameters);
  // By the values that an item shows nobody can tell where another face has placed it.
  if (plan && !is_own(*routing.database) && request.parsed->from) {
    plan->ranges = {{std::string(value::placement_min()), std::string(value::placement_max())}};
  }
  return plan;
}

ItemQuery::ItemQuery(const HandlerContext& context, Call& call, cluster::RoutingPtr routing,
                     partition::Reach reach)
    : context_(context),
      call_(call),
      routing_(std::move(routing)),
      reach_(reach),
      started_us_(context.clock.steady_us()),
      prepared_(context.scripts, context.engine.catalog(), *routing_) {}

std::expected<void, Refusal> ItemQuery::answer() {
  if (auto prepared = prepare(); !prepared) return prepared;
  const Status answered = is_left_to_client() ? answer_with_plan() : run();
  if (!answered) return std::unexpected(Refusal{answered.error()});
  return {};
}

std::expected<void, Refusal> ItemQuery::prepare() {
  const auto refuse = [](const Error& error) { return std::unexpected(Refusal{error}); };
  auto parsed = prepared_.parse(call_.body, context_.options.query_rules);
  if (!parsed) return refuse(parsed.error());
  start_clock();
  // A client that names a range follows a plan, and adds up what the ranges give. Some SDKs take a
  // page without rows for the end of an aggregate.
  limits_.gives_parts =
      !call_.headers.partition_key_range.empty() && !is_true(call_.headers.whole_query);
  auto bound = prepared_.bind(limits_);
  if (is_trial() && is_over_) return refuse(would_wait().error());
  if (!bound) return refuse(bound.error());
  if (is_trial() && prepared_.uses_scripts()) return refuse(would_wait().error());
  auto asked = feed_request_of(context_, call_.headers, *routing_->container, GoneRange::its_keys);
  if (!asked) return std::unexpected(std::move(asked.error()));
  asked_ = std::move(*asked);
  const QueryRequest& request = prepared_.request();
  if (is_own(*routing_->database)) {
    query_.emplace(std::in_place_type<cluster::ContainerQuery>, context_.engine, routing_,
                   *request.parsed, request.parameters, asked_.bounds, context_.remote_views.get());
  } else {
    query_.emplace(std::in_place_type<ForeignQuery>, context_.engine, routing_, *request.parsed,
                   asked_.bounds);
  }
  if (auto allowed = check_cross_partition(); !allowed) return refuse(allowed.error());
  return {};
}

void ItemQuery::start_clock() {
  const uint64_t page_time_ms = context_.engine.limits().query_time_ms;
  const auto page_time_us = static_cast<int64_t>(page_time_ms * 1000);
  const int64_t time_us = is_trial() ? std::min(kTrialTimeUs, page_time_us) : page_time_us;
  if (!is_trial()) limits_.free_steps = page_time_ms * kFreeStepsOfMs;
  limits_.stop = [this, time_us] {
    is_over_ = context_.clock.steady_us() - started_us_ > time_us || call_.client_is_gone();
    return is_over_;
  };
}

// Whoever means one partition key, and forgets to say which, is told so.
Status ItemQuery::check_cross_partition() const {
  const RequestHeaders& headers = call_.headers;
  if (is_about_one_key() || !headers.partition_key.empty() ||
      !headers.partition_key_range.empty() || routing_->container->spec.key.paths.empty() ||
      is_true(headers.enable_cross_partition)) {
    return {};
  }
  return fail(Code::invalid,
              "the query may touch several partition keys: fix the partition key in its filter "
              "or in x-ms-documentdb-partitionkey, or allow it with "
              "x-ms-documentdb-query-enablecrosspartition: true");
}

// Whether the client has to run it by a plan.
bool ItemQuery::is_left_to_client() const {
  const RequestHeaders& headers = call_.headers;
  const query::Query& parsed = *prepared_.request().parsed;
  // Where there is a continuation, there was one partition when the query began.
  const bool is_whole = is_true(headers.whole_query) || !headers.continuation.empty();
  if (is_whole || !headers.partition_key_range.empty() || can_concatenate(parsed)) return false;
  // The service leaves every order over several keys to clients, wherever the keys lie.
  const bool is_order_over_keys = context_.options.query_rules == QueryRules::service &&
                                  !is_about_one_key() && !parsed.order_by.empty() &&
                                  headers.partition_key.empty();
  return is_order_over_keys || partitions() > 1;
}

Status ItemQuery::answer_with_plan() {
  auto plan = plan_of(prepared_.request(), *routing_);
  if (!plan) return pass(plan.error());
  call_.fail_with(400, kSubstatusCrossPartition, cross_partition_error(*plan));
  return {};
}

Status ItemQuery::run() {
  auto token_max = continuation_limit(call_.headers.continuation_limit_kb);
  if (!token_max) return pass(token_max.error());
  auto position = start();
  if (!position) return pass(position.error());
  const catalog::Container& container = *routing_->container;
  limits_.rows = asked_.items_max;
  limits_.made = ItemAge();
  const auto tie_rids = tie_rids_of(*prepared_.request().parsed, container.spec.key.placement,
                                    container.database, container.number);
  if (tie_rids) limits_.ties = tie_rids->numbering();
  limits_.bytes = context_.engine.limits().response_bytes;
  limits_.position_bytes = position_bytes(*token_max);
  // Where there is nothing to divide, nobody is asked: to see whether a page can be divided takes a
  // plan of its own.
  if (!is_trial() && partitions() > 1) limits_.helpers = context_.query_helpers;
  auto ran = std::visit(
      [&](auto& query) {
        return query.run(prepared_.bound(), *position ? &**position : nullptr, asked_.terms.demand,
                         reach_, limits_, prepared_.context());
      },
      *query_);
  if (is_trial() && is_over_) return would_wait();
  if (!ran) return pass(ran.error());
  return answer_page(*ran, tie_rids ? &*tie_rids : nullptr, *token_max);
}

Status ItemQuery::answer_page(cluster::ContainerQuery::Result& ran, const TieRids* tie_rids,
                              size_t token_max) {
  const catalog::Container& container = *routing_->container;
  query::QueryPage& page = ran.page;
  std::string json = feed_head(container_rid(container.database, container.number), "Documents");
  append_feed_elements(json, page.rows);
  ran.receipt.charge =
      asked_.terms.charge_factor * prices::query_charge({.items = page.read.items,
                                                         .bytes = page.read.bytes,
                                                         .entries_read = page.read.entries,
                                                         .bytes_returned = json.size(),
                                                         .bytes_asked = call_.body.size()});
  std::visit([&](auto& query) { query.pay(ran.receipt); }, *query_);
  finish_feed(json, page.rows.size());
  if (page.next) {
    if (auto added = add_continuation(std::move(*page.next), token_max); !added) return added;
  }
  if (tie_rids != nullptr) {
    call_.response.add("x-ms-cosmos-query-execution-info", tie_rids->execution_info());
  }
  call_.receipt(ran.receipt, *routing_);
  add_metrics(page, json.size());
  call_.response.add("x-ms-item-count", std::to_string(page.rows.size()));
  call_.reply(200, std::move(json));
  return {};
}

Status ItemQuery::add_continuation(query::Position next, size_t token_max) {
  const bool is_of_range = prepared_.bound().rank || !next.gathered.empty();
  const QueryPosition position{routing_->container->number, prepared_.request().identity(),
                               is_of_range ? range_hash() : 0, std::move(next)};
  auto token = context_.continuations.encode(position, token_max);
  if (!token) return pass(token.error());
  call_.response.add("x-ms-continuation", *token);
  return {};
}

// What the client asked to be told of how the page was made.
void ItemQuery::add_metrics(const query::QueryPage& page, size_t bytes) {
  const RequestHeaders& headers = call_.headers;
  if (is_true(headers.populate_query_metrics)) {
    const int64_t took_us = context_.clock.steady_us() - started_us_;
    call_.response.add("x-ms-documentdb-query-metrics", metrics_of(page, bytes, took_us));
  }
  const bool is_newer = is_true(headers.populate_index_metrics_v2);
  if (!is_newer && !is_true(headers.populate_index_metrics)) return;
  const query::BoundQuery& bound = prepared_.bound();
  query::Context& context = prepared_.context();
  context.budget.start({.bytes = query::kEvaluationBytesMax});  // the page's time may be over
  const auto plan = is_own(*routing_->database)
                        ? query::plan_index_use(bound, routing_->schema->index, context)
                        : query::IndexPlan();
  call_.response.add("x-ms-cosmos-index-utilization",
                     encode_index_metrics(
                         query::index_use_of(bound, plan),
                         is_newer ? IndexMetricsForm::percent_encoded : IndexMetricsForm::base64));
}

uint64_t ItemQuery::range_hash() const {
  const KeyBounds& bounds = asked_.bounds;
  const auto hash = murmur3_x64_128(bounds.min + '\0' + bounds.max + '\0' + bounds.only.levels, 0);
  return load_u64_be(hash.data()) ^ prepared_.request().hash;
}

Result<query::Position> ItemQuery::position_here(QueryPosition from) const {
  if (from.range_hash == range_hash()) return std::move(from.at);
  if (prepared_.bound().rank) {
    return fail(Code::invalid,
                "a continuation of ORDER BY RANK counts the rows of its range, and this is another "
                "range: start the query again");
  }
  return std::move(from.at).in_part();
}

Result<std::optional<query::Position>> ItemQuery::start() const {
  const QueryRequest& request = prepared_.request();
  std::optional<query::Position> position;
  if (const std::string_view token = call_.headers.continuation; !token.empty()) {
    auto from =
        context_.continuations.decode_query(token, routing_->container->number, request.identity());
    if (!from) return pass(from.error());
    auto here = position_here(std::move(*from));
    if (!here) return pass(here.error());
    position = std::move(*here);
  }
  if (request.resume) {
    auto from =
        query::at_order_values(prepared_.bound(), request.resume->values, request.resume->exclude,
                               position.value_or(query::Position()));
    if (!from) return pass(from.error());
    position = std::move(*from);
  }
  return position;
}

}  // namespace orrery::cosmos
