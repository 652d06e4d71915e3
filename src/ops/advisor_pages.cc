// What the advisor says of a container, and what was recorded for it. See pages.h.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "advise/advise.h"
#include "advise/recorder.h"
#include "ops/pages.h"
#include "value/json.h"

namespace orrery::ops {
namespace {

// Items that are read for an answer, in small runs at places all over the log of changes. A run is
// of items that were written one after the other, whatever their keys.
constexpr size_t kSampledItems = 6'000;
constexpr size_t kItemsOfRun = 20;

advise::RecordedContainer about(const cluster::Routing& routing,
                                const std::vector<cluster::PartitionStatus>& partitions,
                                const std::optional<catalog::Throughput>& throughput) {
  advise::RecordedContainer out;
  out.name = routing.database->name + "/" + routing.container->spec.name;
  out.throughput = throughput ? throughput->units : 0;
  for (const value::Path& path : routing.container->spec.key.paths) {
    out.partition_key.push_back(to_string(path));
  }
  for (const cluster::PartitionStatus& one : partitions) {
    out.items += static_cast<double>(one.usage.items);
    out.bytes += static_cast<double>(one.usage.bytes);
  }
  const auto life = routing.container->spec.default_life_ms;
  out.ttl_s = life && *life > 0 ? static_cast<double>(*life) / 1000 : 0;
  return out;
}

// Reads a sample of one partition's items: all of them when there are few.
Status sample_partition(cluster::Engine& engine, const cluster::RoutingPtr& routing,
                        const cluster::PartitionStatus& partition, size_t wanted,
                        advise::ItemReader& reader, double& read) {
  const bool all = partition.usage.items <= wanted;
  const size_t runs = all ? 1 : std::max<size_t>(1, wanted / kItemsOfRun);
  advise::Random random(partition.range.id + 1);
  for (size_t run = 0; run < runs; ++run) {
    cluster::ChangesFrom from;
    // One place in each piece of the log.
    const uint64_t piece = std::max<uint64_t>(1, partition.lsn / runs);
    if (!all) from.position = std::min(partition.lsn, run * piece + random.below(piece));
    size_t left = all ? wanted : kItemsOfRun;
    while (left > 0) {
      auto page =
          engine.changes(routing, partition.range.min, partition.range.max, from, left, {}, 0);
      if (!page) return pass(std::move(page.error()));
      for (const partition::Change& change : page->page.changes) {
        const auto document = value::JsonDocument::parse(change.item.body);
        if (!document) continue;  // of another encoding
        reader.add(document->root(), document->text().size());
        ++read;
      }
      left -= std::min(left, page->page.changes.size());
      if (!page->page.more || !all) break;
      from.position = page->page.lsn;
    }
  }
  return {};
}

}  // namespace

Result<Pages::Watched> Pages::watched(const PageRequest& call) {
  const std::string database = call.parameter("database");
  const std::string container = call.parameter("container");
  Watched watched;
  watched.routing = find(call.parameter("face"), database, container);
  if (!watched.routing) return pass(no_such_container(database, container));
  const uint32_t number = watched.routing->container->number;
  auto partitions = engine_.status(number);
  if (!partitions) return pass(std::move(partitions.error()));
  watched.partitions = std::move(*partitions);
  watched.routing = engine_.find(number);
  if (!watched.routing) return pass(no_such_container(database, container));
  return watched;
}

void Pages::workload(PageRequestPtr call) {
  if (recorder_ == nullptr) {
    return call->fail({.code = Code::unsupported, .message = "this server records no requests"});
  }
  auto watched = this->watched(*call);
  if (!watched) return call->fail(watched.error());
  call->reply(200, "application/x-ndjson",
              recorder_->lines(
                  watched->routing->container->number,
                  about(*watched->routing, watched->partitions, throughput_of(*watched->routing)),
                  call->parameter("key") == "1"));
}

void Pages::advise(PageRequestPtr call) {
  auto watched = this->watched(*call);
  if (!watched) return call->fail(watched.error());
  const advise::RecordedContainer container =
      about(*watched->routing, watched->partitions, throughput_of(*watched->routing));
  advise::PathTable paths;
  advise::WorkloadReader workload_reader(paths);
  if (recorder_ != nullptr) {
    const std::string lines =
        recorder_->lines(watched->routing->container->number, container, true);
    for (size_t at = 0; at < lines.size();) {
      const size_t end = std::min(lines.find('\n', at), lines.size());
      const auto added = workload_reader.add_line(std::string_view(lines).substr(at, end - at));
      if (!added) return call->fail(added.error());
      at = end + 1;
    }
  }
  auto workload = workload_reader.finish();
  if (!workload) return call->fail(workload.error());

  const Limits& limits = engine_.limits();
  advise::Settings settings;
  settings.logical_limit_bytes = static_cast<double>(limits.logical_partition_bytes);
  settings.physical_limit_bytes = static_cast<double>(limits.physical_partition_bytes);
  settings.partition_throughput = static_cast<double>(limits.partition_throughput);
  settings.longest_key_bytes = static_cast<double>(limits.partition_key_bytes);
  if (const std::string key = call->parameter("key"); !key.empty()) {
    auto parsed = advise::parse_key(key, paths);
    if (!parsed) return call->fail(parsed.error());
    settings.keys.push_back(std::move(*parsed));
  }
  advise::ItemReader reader(paths, advise::wanted_paths(*workload, settings));
  double read = 0;
  for (const cluster::PartitionStatus& one : watched->partitions) {
    if (one.usage.items == 0) continue;
    // Each partition in proportion to what it holds.
    const double share = static_cast<double>(one.usage.items) / std::max(1.0, container.items);
    const auto wanted = static_cast<size_t>(kSampledItems * share) + 1;
    auto sampled = sample_partition(engine_, watched->routing, one, wanted, reader, read);
    if (!sampled) return call->fail(sampled.error());
  }
  if (read == 0) {
    return call->fail(
        {.code = Code::not_found, .message = "the container has no items to judge a key by"});
  }
  const bool has_workload = !workload->shapes.empty();
  const advise::Facts facts =
      make_facts(paths, settings, reader.finish(), std::move(*workload), has_workload);
  call->reply_json(to_json(advise::advise(facts)));
}

}  // namespace orrery::ops
