// See document_view.h.
#include "api/mongo/documents/document_view.h"

#include <utility>

#include "value/placement.h"

namespace orrery::mongo {
namespace {

constexpr int kMovedTriesMax = 16;

const value::LevelFilter& no_filter() {
  static const value::LevelFilter kNone;
  return kNone;
}

std::unexpected<orrery::Error> is_dropped() {
  return orrery::fail(Code::not_found, "the collection was dropped");
}

Result<DocumentView> open_here(const HandlerContext& context, const cluster::RoutingPtr& routing,
                               std::string_view placement, std::string_view min,
                               std::string_view max) {
  auto opened = context.engine.open_view(routing, placement, min, max, {});
  if (!opened) return orrery::pass(opened.error());
  DocumentView made;
  made.allowance = std::make_unique<cluster::ReadAllowance>();
  made.view = cluster::view_for_queries(std::move(opened->view), no_filter(), *made.allowance);
  made.max = std::move(opened->max);
  made.lsn = opened->receipt.lsn;
  return made;
}

}  // namespace

Result<DocumentView> open_view(const HandlerContext& context, cluster::RoutingPtr& routing,
                               std::string_view placement, std::string_view min,
                               std::string_view max) {
  if (!context.remote) {
    for (int moved = 0;;) {
      auto opened = open_here(context, routing, placement, min, max);
      if (opened || opened.error().code != Code::moved || ++moved >= kMovedTriesMax) return opened;
      cluster::RoutingPtr now = context.engine.find(routing->container->number);
      if (!now) return is_dropped();
      routing = std::move(now);
    }
  }
  DocumentView made;
  const Status done = context.items.patiently([&]() -> Status {
    cluster::RoutingPtr now = context.engine.find(routing->container->number);
    if (!now) return is_dropped();
    routing = std::move(now);
    if (!context.items.is_elsewhere(*routing, placement)) {
      auto opened = open_here(context, routing, placement, min, max);
      if (!opened) return orrery::pass(opened.error());
      made = std::move(*opened);
      return {};
    }
    auto opened = context.remote->open(*routing, placement, min, max, no_filter(), {});
    if (!opened) return orrery::pass(opened.error());
    made = {.allowance = nullptr,
            .view = std::move(opened->view),
            .max = std::move(opened->max),
            .lsn = opened->receipt.lsn};
    return {};
  });
  if (!done) return orrery::pass(done.error());
  return made;
}

Result<bool> has_documents(const HandlerContext& context, cluster::RoutingPtr routing) {
  std::string from(value::placement_min());
  int lost = 0;
  while (from < value::placement_max()) {
    auto opened = open_view(context, routing, from, value::placement_min(), value::placement_max());
    if (!opened) return orrery::pass(opened.error());
    auto cursor = opened->view->items(nullptr, true);
    if (!cursor) return orrery::pass(cursor.error());
    auto found = (*cursor)->next();
    if (!found && is_lost_view(found.error()) && ++lost < kLostViewsMax) continue;
    if (!found) return orrery::pass(found.error());
    // One that is not to be seen any more counts: whether there are others is not known yet.
    if (*found) return true;
    from = opened->max;
  }
  return false;
}

}  // namespace orrery::mongo
