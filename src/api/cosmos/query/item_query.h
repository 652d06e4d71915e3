// One page of a query over the items of a container.
//
// A query that names its partition (by key, by range, or by fixing the key in its filter) runs
// there. A query over several partitions runs on one after the other, if concatenating their rows
// gives the answer. Otherwise the client is told to run it by its plan (400/1004), unless it
// requests the whole answer with x-orrery-whole-query: then the rows are merged here. They are also
// merged here after a split of the range, or of the only partition, that the client began with: not
// all clients can switch to the children, or to a plan. (The JavaScript SDK 4.4 retries for ever
// when its pipelines are told that a range is gone, and fails when it is told to use a plan.)
//
// Threading: one thread at a time. It may hold a script worker: it lives for one page.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <variant>

#include "api/cosmos/call.h"
#include "api/cosmos/foreign/foreign_query.h"
#include "api/cosmos/handler_context.h"
#include "api/cosmos/items/feed_request.h"
#include "api/cosmos/query/gateway_plan.h"
#include "api/cosmos/query/prepared_query.h"
#include "api/cosmos/query/query_request.h"
#include "api/cosmos/query/tie_rids.h"
#include "api/cosmos/wire/continuation.h"
#include "api/cosmos/wire/error_body.h"
#include "cluster/query/container_query.h"
#include "query/run/page.h"

namespace orrery::cosmos {

// The plan by which a client runs a query itself.
Result<GatewayPlan> plan_of(const QueryRequest& request, const cluster::Routing& routing);

class ItemQuery {
 public:
  // `call` and `context` outlive it. Reach::memory: it is only tried, within an allowance, on a
  // thread that must not block.
  ItemQuery(const HandlerContext& context, Call& call, cluster::RoutingPtr routing,
            partition::Reach reach);
  ItemQuery(const ItemQuery&) = delete;
  ItemQuery& operator=(const ItemQuery&) = delete;

  // Runs it and answers the call; on failure that is the caller's. Code::would_wait: it was only
  // tried, and that did not suffice.
  std::expected<void, Refusal> answer();

 private:
  bool is_about_one_key() const {
    return std::visit([](const auto& query) { return query.is_about_one_key(); }, *query_);
  }
  size_t partitions() const {
    return std::visit([](const auto& query) { return query.partitions(); }, *query_);
  }
  bool is_trial() const { return reach_ == partition::Reach::memory; }
  void start_clock();
  // Parses and binds the query, reads the headers, and finds the partitions.
  std::expected<void, Refusal> prepare();
  Status check_cross_partition() const;
  bool is_left_to_client() const;
  Status answer_with_plan();
  Status run();
  Status answer_page(cluster::ContainerQuery::Result& ran, const TieRids* tie_rids,
                     size_t token_max);
  Status add_continuation(query::Position next, size_t token_max);
  void add_metrics(const query::QueryPage& page, size_t bytes);

  // Of what is read: the range, and by which filter.
  uint64_t range_hash() const;
  // Where the page begins; nothing for the first one.
  Result<std::optional<query::Position>> start() const;
  // The position of a continuation within these bounds, which may be a part of those that it was
  // made in, and with this filter, which may be another than it was made with.
  Result<query::Position> position_here(QueryPosition from) const;

  const HandlerContext& context_;
  Call& call_;
  const cluster::RoutingPtr routing_;
  const partition::Reach reach_;
  const int64_t started_us_;
  PreparedQuery prepared_;
  query::PageLimits limits_;
  bool is_over_ = false;  // its time is up, or its client is gone
  FeedRequest asked_;
  // Over an own container, or over another face's.
  std::optional<std::variant<cluster::ContainerQuery, ForeignQuery>> query_;
};

}  // namespace orrery::cosmos
