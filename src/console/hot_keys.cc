// See hot_keys.h.
#include "console/hot_keys.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"

namespace orrery::console {
namespace {

// Rates are looked at so often: after so many requests that were taken, or the first after so long.
constexpr uint32_t kTakenBetweenChecks = 64;
constexpr int64_t kCheckMs = 1'000;

// One segment of a path, decoded; the path loses it.
std::optional<std::string> take_segment(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view one = path.substr(0, path.find('/'));
  path.remove_prefix(one.size());
  if (one.empty() || one.size() > HotKeys::kKeyBytesMax) return std::nullopt;
  if (one.find('%') == std::string_view::npos) return std::string(one);
  auto decoded = percent_decode(one);
  if (!decoded) return std::nullopt;
  return std::move(*decoded);
}

// No name has a slash in it.
std::string name_of(std::string_view database, std::string_view container) {
  return std::string(database).append("/").append(container);
}

std::optional<std::string> container_of(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  if (take_segment(path) != "dbs") return std::nullopt;
  const auto database = take_segment(path);
  if (!database || take_segment(path) != "colls") return std::nullopt;
  const auto container = take_segment(path);
  if (!container || take_segment(path) != "docs") return std::nullopt;
  return name_of(*database, *container);
}

}  // namespace

void HotKeys::Counts::decay(int64_t now_ms) {
  const int64_t halvings = (now_ms - halved_ms) / kHalfLifeMs;
  if (halvings <= 0) return;
  halved_ms += halvings * kHalfLifeMs;
  const double left = halvings > 30 ? 0 : 1.0 / static_cast<double>(1ULL << halvings);
  for (Counter& one : counters) one.units *= left;
  for (double* sum : {&requests, &served, &charged, &units}) *sum *= left;
  // So many seconds would have given the counts that are left at the rate that there was.
  for (int64_t i = 0; i < std::min<int64_t>(halvings, 30); ++i) {
    watched_s = (watched_s + kHalfLifeMs / 1000.0) / 2;
  }
  std::erase_if(counters, [](const Counter& one) { return one.units < kSampled / 4.0; });
}

uint32_t HotKeys::next(Pace& pace, int64_t now_ms) {
  const uint32_t stands_for = pace.period;
  uint32_t period = stands_for;
  const uint32_t taken = pace.taken + 1;
  const int64_t took_ms = now_ms - pace.since_ms;
  if (taken >= kTakenBetweenChecks || took_ms >= kCheckMs) {
    const int64_t per_s = taken * 1'000 / std::max<int64_t>(1, took_ms);
    if (per_s > kMostPerS) period = std::min(kSampledLeast, 2 * period);
    // At once, since the next one that is taken may be long in coming.
    if (per_s < kFewPerS) {
      period = std::max(kSampled, static_cast<uint32_t>(period * per_s / kFewPerS));
    }
    pace.period = period;
    pace.since_ms = now_ms;
    pace.taken = 0;
  } else {
    pace.taken = taken;
  }
  pace.left = period;
  return stands_for;
}

void HotKeys::note(std::string_view target, std::string_view key, std::optional<double> charge,
                   int64_t now_ms, uint32_t stands_for) {
  if (key.empty() || key.size() > kKeyBytesMax) return;
  auto name = container_of(target);
  if (!name) return;
  const MutexLock lock(mutex_);
  auto found = containers_.find(*name);
  if (found == containers_.end()) {
    if (containers_.size() >= kContainersMax) {
      for (auto& one : containers_) one.second.decay(now_ms);
      containers_.erase(std::ranges::min_element(containers_, {},
                                                 [](const auto& one) { return one.second.units; }));
    }
    found = containers_.emplace(std::move(*name), Counts()).first;
    found->second.halved_ms = now_ms;
  }
  Counts& counts = found->second;
  counts.decay(now_ms);
  counts.requests += 1;
  if (charge) {
    counts.served += 1;
    counts.charged += *charge;
  }
  const double each = charge ? *charge : counts.served > 0 ? counts.charged / counts.served : 1;
  const double units = each * stands_for;
  counts.units += units;
  auto counter = std::ranges::find(counts.counters, key, &Counter::key);
  if (counter == counts.counters.end()) {
    if (counts.counters.size() < kKeys) {
      counts.counters.push_back({.key = std::string(key), .units = 0});
      counter = counts.counters.end() - 1;
    } else {
      counter = std::ranges::min_element(counts.counters, {}, &Counter::units);
      counter->key = key;
    }
  }
  counter->units += units;
}

HotKeyList HotKeys::of(std::string_view database, std::string_view container, int64_t now_ms) {
  HotKeyList list;
  const MutexLock lock(mutex_);
  const auto found = containers_.find(name_of(database, container));
  if (found == containers_.end()) return list;
  Counts& counts = found->second;
  counts.decay(now_ms);
  list.sampled = counts.requests;
  if (counts.units <= 0) return list;
  const double seconds =
      std::max(1.0, counts.watched_s + static_cast<double>(now_ms - counts.halved_ms) / 1000);
  for (const Counter& one : counts.counters) {
    list.keys.push_back(
        {.key = one.key, .part = one.units / counts.units, .units_per_s = one.units / seconds});
  }
  std::ranges::sort(list.keys, std::greater<>(), &HotKey::part);
  return list;
}

}  // namespace orrery::console
