// See routing.h.
#include "cluster/routing.h"

#include <algorithm>

namespace orrery::cluster {

const std::shared_ptr<Slot>& Routing::slot_of(std::string_view placement) const {
  // The map covers everything from the empty string on, so there is always one before.
  auto after = std::ranges::upper_bound(
      slots, placement, {},
      [](const std::shared_ptr<Slot>& slot) -> std::string_view { return slot->range.min; });
  return *(after - 1);
}

std::pair<size_t, size_t> Routing::slots_of(std::string_view min, std::string_view max) const {
  size_t from = 0;
  while (from < slots.size() && slots[from]->range.max <= min) ++from;
  size_t to = from;
  while (to < slots.size() && slots[to]->range.min < max) ++to;
  return {from, to};
}

}  // namespace orrery::cluster
