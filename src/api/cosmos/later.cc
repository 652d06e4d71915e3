// See later.h.
#include "api/cosmos/later.h"

#include <memory>
#include <utility>

#include "api/cosmos/resources/lookup.h"

namespace orrery::cosmos {
namespace {

CallJob job_of(const HandlerContext& context, Handler handler) {
  return [&context, handler](CallPtr running) { handler(context, std::move(running)); };
}

}  // namespace

void later(const HandlerContext& context, CallPtr call, Lane lane, Handler handler) {
  context.lanes.submit(
      lane, 0,
      std::make_unique<face::WaitingCall<Call>>(std::move(call), job_of(context, handler)));
}

void later_in_container(const HandlerContext& context, CallPtr call, Lane lane, CallJob job) {
  // By its number: whoever names containers that are not there would get a share for each.
  const cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  context.lanes.submit(lane, routing->container->number,
                       std::make_unique<face::WaitingCall<Call>>(std::move(call), std::move(job)));
}

void later_in_container(const HandlerContext& context, CallPtr call, Lane lane, Handler handler) {
  later_in_container(context, std::move(call), lane, job_of(context, handler));
}

}  // namespace orrery::cosmos
