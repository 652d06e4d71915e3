// Splitting partitions: on demand, when one is full, and until the throughput asked for is served.
// What happens inside a partition is told in src/partition/split.cc; here the map changes.
#include <fmt/format.h>

#include <algorithm>

#include <future>

#include "base/fault.h"
#include "base/log.h"
#include "cluster/engine.h"
#include "cluster/throughput.h"

namespace orrery::cluster {

using partition::Partition;

bool Engine::may_split_by_itself(const Routing& routing) const {
  const catalog::Container& container = *routing.container;
  if (container.spec.key.paths.empty()) return false;
  return !container.throughput || container.throughput->rus >= limits().split_throughput_min;
}

catalog::PartitionMap Engine::split_map(const catalog::PartitionMap& map, uint32_t range,
                                        const std::string& cut) {
  catalog::PartitionMap next = map;
  next.version = map.version + 1;
  for (auto it = next.ranges.begin(); it != next.ranges.end(); ++it) {
    if (it->id != range) continue;
    const size_t dash = it->volume_name.rfind("-p");
    const std::string stem = it->volume_name.substr(0, dash);
    catalog::PartitionRange left = *it;
    left.parents.push_back(range);
    catalog::PartitionRange right = left;
    left.id = next.next_id++;
    right.id = next.next_id++;
    left.max = cut;
    right.min = cut;
    left.volume_name = fmt::format("{}-p{}", stem, left.id);
    right.volume_name = fmt::format("{}-p{}", stem, right.id);
    *it = std::move(left);
    next.ranges.insert(it + 1, std::move(right));
    break;
  }
  return next;
}

Result<SplitReport> Engine::split(uint32_t container, std::optional<uint32_t> range) {
  // On the splitter's thread, so that splits never overlap.
  auto promise = std::make_shared<std::promise<Result<SplitReport>>>();
  auto future = promise->get_future();
  splitter_.post([this, container, range, promise] {
    std::optional<uint32_t> chosen = range;
    RoutingPtr routing = find(container);
    if (!chosen && routing) {
      uint64_t most = 0;
      for (const auto& slot : routing->slots) {
        auto opened = open_if_there(*slot);
        const uint64_t bytes = opened && *opened ? (*opened)->usage().bytes : 0;
        if (!chosen || bytes > most) {
          chosen = slot->range.id;
          most = bytes;
        }
      }
    }
    promise->set_value(split_slot(container, chosen.value_or(0)));
  });
  return future.get();
}

// A partition that was never written to has no files: only the map changes.
Result<SplitReport> Engine::split_empty(const RoutingPtr& routing, Slot& slot) {
  const std::string cut =
      value::middle_of(routing->container->spec.key.placement, slot.range.min, slot.range.max);
  if (cut.empty()) return fail(Code::conflict, "the partition's range is too small to be split");
  const uint32_t number = routing->container->number;
  SplitReport report;
  MutexLock change(change_mutex_);
  auto updated = catalog_->update_container(number, [&](catalog::Container& container) -> Status {
    report = {slot.range.id, container.map->next_id, container.map->next_id + 1, 0, 0};
    container.map =
        std::make_shared<catalog::PartitionMap>(split_map(*container.map, slot.range.id, cut));
    return {};
  });
  if (!updated) return pass(updated.error());
  slot.gone = true;
  rebuild(number);
  return report;
}

Result<SplitReport> Engine::split_slot(uint32_t number, uint32_t range) {
  const int64_t started_us = clock_.steady_us();
  RoutingPtr routing = find(number);
  if (!routing) return fail(Code::not_found, "the container is not there");
  std::shared_ptr<Slot> slot;
  for (const auto& each : routing->slots) {
    if (each->range.id == range) slot = each;
  }
  if (!slot) {
    return fail(Code::not_found, fmt::format("container '{}' has no partition key range {}",
                                             routing->container->spec.name, range));
  }
  if (routing->container->spec.key.paths.empty()) {
    return fail(Code::conflict,
                fmt::format("container '{}' has no partition key, so all of it is one logical "
                            "partition, which cannot be split",
                            routing->container->spec.name));
  }
  {
    MutexLock opening(slot->open_mutex);
    if (!slot->opened() && !volume_.exists(slot->range.volume_name)) {
      return split_empty(routing, *slot);
    }
  }
  auto opened = open_slot(*slot);
  if (!opened) return pass(opened.error());
  std::shared_ptr<Partition> parent = std::move(*opened);
  auto cut = parent->begin_split(
      value::middle_of(routing->container->spec.key.placement, slot->range.min, slot->range.max));
  if (!cut) return pass(cut.error());

  SplitReport report{.parent = range};
  const catalog::PartitionMap next = split_map(*routing->container->map, range, cut->at);
  auto child = [&](uint32_t id) -> const catalog::PartitionRange& {
    return *std::ranges::find(next.ranges, id, &catalog::PartitionRange::id);
  };
  report.left = routing->container->map->next_id;
  report.right = report.left + 1;
  Partition::Children children;
  auto publish = [&](const Partition::Children& made) -> Status {
    MutexLock change(change_mutex_);
    auto updated = catalog_->update_container(number, [&](catalog::Container& container) {
      container.map = std::make_shared<catalog::PartitionMap>(next);
      return Status();
    });
    if (!updated) return pass(updated.error());
    if (auto injected = fault::point("split.published"); !injected) {
      log::warn("fault after a split was published", {{"error", injected.error().message}});
    }
    children = made;
    RoutingPtr before = find(number);
    RoutingPtr after = make_routing(*updated, before.get());
    for (const auto& each : after->slots) {
      MutexLock lock(each->mutex);
      if (each->range.id == report.left) each->partition = made.first;
      if (each->range.id == report.right) each->partition = made.second;
      each->last_used_us = clock_.steady_us();
    }
    install(after);
    return {};
  };
  auto times = parent->finish_split(*cut, {report.left, child(report.left).volume_name},
                                    {report.right, child(report.right).volume_name}, publish);
  if (!times) return pass(times.error());
  {
    MutexLock opening(slot->open_mutex);
    slot->gone = true;
    MutexLock lock(slot->mutex);
    slot->partition = nullptr;
  }
  retire(std::move(parent), slot->range.volume_name);
  trim_later(children.first);
  trim_later(children.second);
  report.pause_us = times->pause_us;
  report.total_us = clock_.steady_us() - started_us;
  log::info("split a partition", {{"container", routing->container->spec.name},
                                  {"range", report.parent},
                                  {"left", report.left},
                                  {"right", report.right},
                                  {"pause_us", report.pause_us},
                                  {"total_us", report.total_us}});
  return report;
}

void Engine::trim_later(const std::shared_ptr<Partition>& child) {
  trimmer_.post([weak = std::weak_ptr<Partition>(child)] {
    auto partition = weak.lock();
    if (!partition) return;
    if (auto trimmed = partition->trim(); !trimmed) {
      log::warn("trimming after a split failed and will be done at the next start",
                {{"range", partition->identity().range}, {"error", trimmed.error().message}});
    }
  });
}

void Engine::scale(uint32_t number) {
  RoutingPtr routing = find(number);
  if (!routing || !routing->container->throughput || !may_split_by_itself(*routing)) return;
  if (routing->slots.size() >= partitions_for(*routing->container->throughput, limits())) return;
  {
    MutexLock lock(scaling_mutex_);
    ++scaling_[number];
  }
  splitter_.post([this, number] {
    for (;;) {
      RoutingPtr now = find(number);
      if (!now || !now->container->throughput ||
          now->slots.size() >= partitions_for(*now->container->throughput, limits())) {
        break;
      }
      // The largest first; one that cannot be split gives way to the next.
      std::vector<std::pair<uint64_t, uint32_t>> by_size;
      for (const auto& slot : now->slots) {
        auto opened = open_if_there(*slot);
        by_size.emplace_back(opened && *opened ? (*opened)->usage().bytes : 0, slot->range.id);
      }
      // Of equal ones the oldest, so that empty partitions are halved evenly.
      std::ranges::sort(by_size, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      });
      bool split_one = false;
      for (const auto& [bytes, range] : by_size) {
        auto report = split_slot(number, range);
        if (report) {
          split_one = true;
          break;
        }
        log::warn("cannot split towards the throughput asked for",
                  {{"container", number}, {"range", range}, {"error", report.error().message}});
      }
      if (!split_one) break;
    }
    MutexLock lock(scaling_mutex_);
    if (--scaling_[number] == 0) scaling_.erase(number);
  });
}

}  // namespace orrery::cluster
