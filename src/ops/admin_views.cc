// What an operator can look at: all containers, the partitions of one, the server's figures over
// time. See pages.h.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "ops/pages.h"

namespace orrery::ops {
namespace {

constexpr int64_t kKeysMax = 20;    // of one partition
constexpr size_t kPointsMax = 720;  // of one answer about the history

// A parameter that is a whole number.
int64_t number_of(const PageRequest& call, std::string_view name, int64_t otherwise) {
  const std::string text = call.parameter(name);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

std::string_view placement_name(value::Placement placement) {
  switch (placement) {
    case value::Placement::hash_v1:
      return "hash-1";
    case value::Placement::hash_v2:
      return "hash-2";
    case value::Placement::multi_hash:
      return "multi-hash";
    case value::Placement::range:
      break;
  }
  return "range";
}

std::string throughput_json(const cluster::Routing& routing,
                            const std::optional<catalog::Throughput>& used) {
  if (!used) return "null";
  return fmt::format(R"({{"units":{},"autoscale":{},"shared":{}}})", used->units, used->autoscale,
                     !routing.container->throughput);
}

}  // namespace

std::optional<catalog::Throughput> Pages::throughput_of(const cluster::Routing& routing) const {
  if (routing.container->throughput) return routing.container->throughput;
  // Not the routing's copy of the database, which may be of before a change.
  const catalog::DatabasePtr database = engine_.catalog().database(routing.container->database);
  return database ? database->throughput : std::nullopt;
}

void Pages::partitions(PageRequestPtr call) {
  constexpr size_t kLargestKeys = 10;
  const std::string database = call->parameter("database");
  const std::string container = call->parameter("container");
  cluster::RoutingPtr routing = find(call->parameter("face"), database, container);
  if (!routing) {
    return call->fail({.code = Code::not_found,
                       .message = fmt::format("there is no container '{}' in database '{}'",
                                              container, database)});
  }
  const uint32_t number = routing->container->number;
  // Asked first: partitions that are counted after the last split are all there.
  const bool is_scaling = engine_.is_scaling(number);
  const int64_t of_each = std::clamp(number_of(*call, "keys", kLargestKeys), int64_t{0}, kKeysMax);
  auto figures = figures_.of(number, static_cast<size_t>(of_each));
  if (!figures) return call->fail(figures.error());
  routing = engine_.find(number);
  if (!routing) return call->fail({.code = Code::not_found, .message = "the container has gone"});

  std::string json =
      fmt::format(R"({{"partitions":{},"keys":{},"largestKeys":{})", ranges_json(*figures),
                  keys_json(*figures), largest_keys_json(*figures, kLargestKeys));
  json += ",\"splits\":[";
  for (const catalog::PastSplit& one : routing->container->map->splits) {
    if (json.back() != '[') json += ',';
    json += fmt::format(R"({{"at":{},"cause":"{}","parent":{},"children":[{},{}]}})", one.why.at_s,
                        to_text(one.why.cause), one.parent, one.left, one.right);
  }
  json += "],\"merges\":[";
  for (const catalog::PastMerge& one : routing->container->map->merges) {
    if (json.back() != '[') json += ',';
    json += fmt::format(R"({{"at":{},"cause":"{}","parents":[{},{}],"child":{}}})", one.why.at_s,
                        to_text(one.why.cause), one.left, one.right, one.child);
  }
  const Limits& limits = engine_.limits();
  json += fmt::format(
      R"(],"placement":"{}","throughput":{},"scaling":{},"at":{},"limits":{{"partitionBytes":{},)"
      R"("keyBytes":{},"partitionUnits":{},"containerUnitsMax":{}}}}})",
      placement_name(routing->container->spec.key.placement),
      throughput_json(*routing, throughput_of(*routing)), is_scaling, clock_.now_ms(),
      limits.physical_partition_bytes, limits.logical_partition_bytes, limits.partition_throughput,
      limits.container_throughput_max);
  call->reply_json(std::move(json));
}

void Pages::containers(PageRequestPtr call) {
  std::string json = "{\"containers\":[";
  for (const auto& [number, one] : all_containers_.figures(other_nodes())) {
    const cluster::RoutingPtr routing = engine_.find(number);
    if (!routing) continue;
    if (json.back() != '[') json += ',';
    json += fmt::format(
        R"({{"face":{},"database":{},"container":{},"partitions":{},"bytes":{},"largest":{},)"
        R"("items":{},"throttled":{},"requestUnits":{:.2f},"throughput":{},"scaling":{}}})",
        quoted(routing->database->face), quoted(routing->database->name),
        quoted(routing->container->spec.name), routing->slots.size(), one.bytes, one.largest,
        one.items ? std::to_string(*one.items) : "null", one.throttled, one.charge,
        throughput_json(*routing, throughput_of(*routing)), engine_.is_scaling(number));
  }
  json += fmt::format("],\"at\":{}}}", clock_.now_ms());
  call->reply_json(std::move(json));
}

void Pages::history(PageRequestPtr call) {
  const int64_t now_s = clock_.now_s();
  const int64_t step_s = number_of(*call, "step", kFineStepS);
  if (step_s != kFineStepS && step_s != kCoarseStepS) {
    return call->fail({.code = Code::invalid,
                       .message = fmt::format("step={} is not one of {} and {}", step_s, kFineStepS,
                                              kCoarseStepS)});
  }
  const int64_t kept_s = step_s == kFineStepS ? 3600 : 7 * 24 * 3600;
  const int64_t from_s = std::clamp(number_of(*call, "from", now_s - 3600), now_s - kept_s, now_s);
  call->reply_json(
      sampler_.history().json(static_cast<uint32_t>(step_s), from_s, now_s, kPointsMax));
}

}  // namespace orrery::ops
