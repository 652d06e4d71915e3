// See spread.h.
#include "advise/spread.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery::advise {
namespace {

// The largest concentration among neighbours of several distances that rests on enough
// coincidences.
double near_concentration(std::span<const Entry> entries) {
  constexpr size_t kDistances[] = {1, 3, 12};
  constexpr size_t kLeastCoincidences = 10;
  double most = 0;
  double same = 0;
  double all = 0;
  size_t coincidences = 0;
  size_t distance = 1;
  for (const size_t to : kDistances) {
    for (; distance <= to; ++distance) {
      for (size_t i = 0; i + distance < entries.size(); ++i) {
        const double pair = entries[i].weight * entries[i + distance].weight;
        all += pair;
        if (entries[i].hash != entries[i + distance].hash) continue;
        same += pair;
        ++coincidences;
      }
    }
    if (coincidences >= kLeastCoincidences && all > 0) most = std::max(most, same / all);
  }
  return most;
}

}  // namespace

double Spread::lower_share(const Group& group) const {
  const double f = share(group);
  return count == 0 ? 0 : std::max(0.0, f - 2 * std::sqrt(f / count));
}

Spread spread_of(std::span<const Entry> entries) {
  Spread spread;
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) order.emplace_back(entries[i].hash, i);
  std::ranges::sort(order);
  double squares = 0;
  double same = 0;
  for (size_t i = 0; i < order.size();) {
    Group group{.hash = order[i].first,
                .weight = 0,
                .squares = 0,
                .count = 0,
                .row = entries[order[i].second].row};
    for (; i < order.size() && order[i].first == group.hash; ++i) {
      const double weight = entries[order[i].second].weight;
      group.weight += weight;
      group.squares += weight * weight;
      ++group.count;
    }
    spread.total += group.weight;
    squares += group.squares;
    same += group.weight * group.weight - group.squares;
    spread.once += group.count == 1 ? 1 : 0;
    spread.groups.push_back(group);
  }
  spread.count = static_cast<double>(entries.size());
  const double pairs = spread.total * spread.total - squares;
  if (pairs > 0) spread.concentration = std::max(0.0, same / pairs);
  std::ranges::sort(spread.groups, [](const Group& a, const Group& b) {
    return std::tuple(-a.weight, a.hash) < std::tuple(-b.weight, b.hash);
  });
  spread.near = near_concentration(entries);
  return spread;
}

double busiest_share(const Spread& spread, double partitions, const Place& place) {
  if (spread.total <= 0) return 1 / partitions;
  // Fewer sightings than this are luck.
  constexpr uint32_t kLeastSeen = 4;
  std::vector<double> heavy(static_cast<size_t>(partitions));
  double tail = 1;
  double tail_same = 0;
  double squares = 0;
  for (const Group& group : spread.groups) {
    const double share = spread.share(group);
    squares += group.squares;
    if (share > 1 / (4 * partitions) && group.count >= kLeastSeen) {
      heavy[place(group) % heavy.size()] += share;
      tail -= share;
    } else {
      tail_same += group.weight * group.weight - group.squares;
    }
  }
  const double pairs = spread.total * spread.total - squares;
  const double tail_concentration = pairs > 0 ? std::max(0.0, tail_same / pairs) : 0;
  // The largest of N sums of many small parts: the mean, and about √(2 ln N) standard deviations.
  const double deviation = std::sqrt(2 * std::log(partitions)) *
                           std::sqrt(tail_concentration * (1 - 1 / partitions) / partitions);
  return std::min(1.0, std::ranges::max(heavy) + std::max(0.0, tail) / partitions + deviation);
}

std::vector<std::span<const Entry>> windows_of(std::span<const Entry> entries) {
  constexpr size_t kMostSpreadWindows = 16;
  constexpr size_t kLeastEntries = 200;
  const size_t count = std::clamp<size_t>(entries.size() / kLeastEntries, 1, kMostSpreadWindows);
  std::vector<std::span<const Entry>> windows;
  for (size_t i = 0; i < count; ++i) {
    const size_t from = entries.size() * i / count;
    windows.push_back(entries.subspan(from, entries.size() * (i + 1) / count - from));
  }
  return windows;
}

}  // namespace orrery::advise
