// See replica_choice.h.
#include "nodes/replica_choice.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace orrery::nodes {
namespace {

// FNV-1a: the same at every node, whatever it was built with.
uint64_t rank_of(RangeRef ref, std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  const auto mix = [&](uint64_t byte) { hash = (hash ^ (byte & 0xFF)) * 0x100000001B3; };
  for (const uint32_t part : {ref.container, ref.range}) {
    for (int shift = 0; shift < 32; shift += 8) mix(part >> shift);
  }
  for (const char c : name) mix(static_cast<unsigned char>(c));
  // The high bits of FNV depend little on the last bytes.
  hash ^= hash >> 32;
  return hash * 0x9E3779B97F4A7C15;
}

}  // namespace

bool has_replica(const Plan& plan, uint32_t count, RangeRef ref, const std::string& member) {
  const auto owner = plan.owners.find(ref);
  if (count == 0 || owner == plan.owners.end()) return false;
  const auto can = [&](const Member& one) {
    return !one.draining && &one != &plan.members[owner->second];
  };
  const auto self = std::ranges::find(plan.members, member, &Member::name);
  if (self == plan.members.end() || !can(*self)) return false;
  const auto rank = [&](const Member& one) {
    return std::pair(rank_of(ref, one.name), std::string_view(one.name));
  };
  const auto before = std::ranges::count_if(
      plan.members, [&](const Member& one) { return can(one) && rank(one) < rank(*self); });
  return static_cast<uint64_t>(before) < count;
}

}  // namespace orrery::nodes
