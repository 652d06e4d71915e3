// See map_publisher.h.
#include "cluster/splitting/map_publisher.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/fault.h"
#include "base/log.h"
#include "base/survive.h"

namespace orrery::cluster {
namespace {

// A new partition begins with what of the samples of those before is its own.
void adopt_load(const Routing& before, Slot& child) {
  for (const auto& slot : before.slots) {
    if (slot->range.max <= child.range.min || slot->range.min >= child.range.max) continue;
    if (slot->load) child.load->adopt(*slot->load, child.range.min, child.range.max);
  }
}

// Whether a commit of the catalog's that ended so may have been made, or may succeed later.
bool leaves_doubt(Code code) {
  return code == Code::read_only || code == Code::corrupt || code == Code::overloaded ||
         code == Code::elsewhere || code == Code::internal;
}

}  // namespace

Result<MapPublisher::Slots> MapPublisher::publish(
    uint32_t container, const std::function<Result<catalog::ContainerPtr>()>& commit, Made made,
    std::string_view point) {
  for (bool first = true;; first = false) {
    Result<Slots> slots;
    // Memory that runs out in the middle leaves the same doubt.
    const bool known = survive("storing a partition map", [&] {
      MutexLock change(table_.change_mutex);
      auto updated = commit();
      if (!updated) {
        slots = pass(updated.error());
        return;
      }
      if (auto injected = fault::point(point); !injected) {
        log::warn("fault after a map was published", {{"error", injected.error().message}});
      }
      slots = route_to(*updated, made);
    });
    if (known && slots) return slots;
    if (known) {
      const Code code = slots.error().code;
      if (!leaves_doubt(code)) return slots;
      if (first) {
        log::error("a split or merge waits until the catalog takes writes again",
                   {{"container", container}, {"error", slots.error().message}});
      }
    }
    if (stop_.is_set()) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

MapPublisher::Slots MapPublisher::route_to(const catalog::ContainerPtr& container, Made made) {
  const RoutingPtr before = table_.find(container->number);
  const RoutingPtr after = table_.make(container, before.get());
  Slots slots;
  for (const auto& slot : after->slots) {
    for (const auto& child : made) {
      if (slot->range.id != child->identity().range) continue;
      slot->bytes = child->usage().bytes;
      if (slot->load) adopt_load(*before, *slot);
      slot->last_used_us = clock_.steady_us();
      slots.push_back(slot);
      // While the commit was in doubt another node can have been named for it. That one waits until
      // it is closed here, and nothing but this would close it: the plan was followed already.
      if (!slot->here) continue;
      MutexLock lock(slot->mutex);
      slot->partition = child;
    }
  }
  table_.install(after);
  // Before the parents let go of the writes that wait: whoever has one acknowledged by a child must
  // not read from a parent afterwards, with an old routing either.
  for (const auto& slot : before->slots) {
    if (std::ranges::find(after->slots, slot) != after->slots.end()) continue;
    slot->close_for_good();
  }
  return slots;
}

}  // namespace orrery::cluster
