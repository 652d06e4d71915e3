// See query_items.h.
#include "api/cosmos/query/query_items.h"

#include <chrono>
#include <thread>
#include <utility>

#include "api/cosmos/later.h"
#include "api/cosmos/query/gateway_plan.h"
#include "api/cosmos/query/item_query.h"
#include "api/cosmos/query/query_request.h"
#include "api/cosmos/resources/lookup.h"

namespace orrery::cosmos {
namespace {

constexpr size_t kTrialBodyMax = 4096;
// Three seconds in all.
constexpr int kTriesMax = 8;
constexpr std::chrono::milliseconds kPause{12};

void read_query_plan(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  auto request = parse_query_request(call->body);
  if (!request) return call->fail(request.error());
  if (context.options.query_rules == QueryRules::service && request->refused) {
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

void query_patiently(const HandlerContext& context, CallPtr call) {
  for (int tries = 1;; ++tries) {
    cluster::RoutingPtr routing = container_of(context, call);
    if (!routing) return;
    ItemQuery query(context, *call, routing, partition::Reach::files);
    auto answered = query.answer();
    if (answered) return;
    // A partition that it reads at another node is at a third one now, or soon.
    const Code code = answered.error().error.code;
    if ((code == Code::retry || code == Code::elsewhere) && tries < kTriesMax &&
        context.remote_views) {
      std::this_thread::sleep_for(kPause * (1 << tries));
      continue;
    }
    return call->fail(answered.error());
  }
}

void try_query(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  ItemQuery query(context, *call, routing, partition::Reach::memory);
  auto answered = query.answer();
  if (answered) return;
  if (answered.error().error.code == Code::would_wait) {
    return later_in_container(context, std::move(call), Lane::queries, query_patiently);
  }
  call->fail(answered.error());
}

}  // namespace

void handle_item_query(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::item_query;
  if (is_true(call->headers.is_query_plan)) {
    return later_in_container(context, std::move(call), Lane::queries, read_query_plan);
  }
  if (call->body.size() > kTrialBodyMax) {
    return later_in_container(context, std::move(call), Lane::queries, query_patiently);
  }
  try_query(context, std::move(call));
}

}  // namespace orrery::cosmos
