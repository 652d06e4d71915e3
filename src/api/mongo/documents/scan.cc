// See scan.h.
#include "api/mongo/documents/scan.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "api/mongo/call.h"
#include "partition/format.h"
#include "value/placement.h"

namespace orrery::mongo {
namespace {

// After so many a snapshot is let go of.
constexpr uint64_t kItemsInView = 8'192;
constexpr int64_t kShortestWaitMs = 1;

}  // namespace

ScanRange whole_collection() {
  return {std::string(value::placement_min()), std::string(value::placement_max()), {}, {}};
}

ScanRange one_placement(const std::string& placement) {
  return {placement, placement + '\0', {}, {}};
}

Scan::Scan(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range,
           ScanOrder order)
    : context_(context),
      routing_(std::move(routing)),
      range_(std::move(range)),
      order_(order),
      placement_(range_.min) {}

void Scan::pause() {
  cursor_.reset();
  view_ = {};
}

// False: there is nothing more.
Answer<bool> Scan::open() {
  auto opened = open_view(context_, routing_, placement_, range_.min, range_.max);
  if (!opened) {
    // The collection was dropped.
    if (!context_.engine.find(routing_->container->number)) return false;
    return pass(engine_error(opened.error()));
  }
  view_ = std::move(*opened);
  if (auto cursor = open_cursor(); !cursor) return pass(std::move(cursor.error()));
  return true;
}

Answer<void> Scan::open_cursor() {
  Result<std::unique_ptr<query::ItemCursor>> cursor;
  if (order_ == ScanOrder::descending) {
    const std::string& before = last_.empty() ? range_.to : last_;
    cursor = view_.view->items_descending(before.empty() ? nullptr : &before);
  } else {
    std::string from = std::max(partition::items_from(placement_), range_.from);
    const bool goes_on = last_ >= from;
    if (goes_on) from = last_;
    cursor = view_.view->items(&from, !goes_on);
  }
  if (!cursor) return pass(engine_error(cursor.error()));
  cursor_ = std::move(*cursor);
  in_view_ = 0;
  return {};
}

bool Scan::is_out_of_range() const {
  if (order_ == ScanOrder::descending) return cursor_->key() < range_.from;
  return !range_.to.empty() && cursor_->key() >= range_.to;
}

Answer<std::optional<std::string_view>> Scan::next() {
  if (in_view_ >= kItemsInView) pause();
  while (!is_done_) {
    if (!cursor_) {
      auto opened = open();
      if (!opened) return pass(std::move(opened.error()));
      if (!*opened) break;
    }
    auto found = cursor_->next();
    if (!found && is_lost_view(found.error()) && ++lost_views_ < kLostViewsMax) {
      pause();  // and goes on after the last one
      continue;
    }
    if (!found) return pass(engine_error(found.error()));
    lost_views_ = 0;
    if (!*found) {
      if (view_.max >= range_.max) break;
      placement_ = view_.max;
      pause();
      continue;
    }
    if (is_out_of_range()) break;
    last_ = cursor_->key();
    const std::string_view body = cursor_->body();
    if (body.empty()) continue;  // not to be seen
    ++items_;
    bytes_ += body.size();
    ++in_view_;
    return body;
  }
  is_done_ = true;
  pause();
  return std::optional<std::string_view>();
}

bool wait_for_throughput(const orrery::Error& error, int64_t& left_ms) {
  if (error.code != Code::throttled) return false;
  const int64_t wait_ms = std::max<int64_t>(error.retry_after_ms, kShortestWaitMs);
  if (wait_ms > left_ms) return false;
  left_ms -= wait_ms;
  std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
  return true;
}

Answer<void> admit(const HandlerContext& context, const cluster::RoutingPtr& routing,
                   std::string_view placement) {
  int64_t left_ms = kThrottledWaitMs;
  for (;;) {
    auto admitted = context.engine.admit_query(routing, placement);
    if (admitted) return {};
    if (!wait_for_throughput(admitted.error(), left_ms))
      return pass(engine_error(admitted.error()));
  }
}

double pay(const HandlerContext& context, const cluster::RoutingPtr& routing,
           std::string_view placement, uint64_t items, uint64_t bytes, uint64_t bytes_returned) {
  partition::Work work;
  work.kind = partition::WorkKind::query;
  work.items = items;
  work.bytes = bytes;
  work.bytes_returned = bytes_returned;
  const double charge = routing->prices->charge(work);
  context.engine.pay_for_query(routing, placement, charge);
  return charge;
}

}  // namespace orrery::mongo
