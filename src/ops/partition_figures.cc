// See partition_figures.h.
#include "ops/partition_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "cluster/placement.h"
#include "ops/ask_nodes.h"
#include "ops/figures_json.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::ops {
namespace {

using value::Node;

constexpr double kHotKeysMax = 100;
std::string key_json(uint32_t range, const partition::Partition::LogicalPartition& key) {
  return fmt::format(R"({{"key":{},"range":{},"bytes":{},"items":{}}})",
                     value::quoted(key.key_text), range, key.usage.bytes, key.usage.items);
}

RangeFigures* find_range(std::vector<RangeFigures>& all, uint64_t id) {
  const auto found = std::ranges::find_if(
      all, [id](const RangeFigures& one) { return one.status.range.id == id; });
  return found == all.end() ? nullptr : &*found;
}

// Takes what an owner told of ranges that are not known here.
void take_answer(const std::string& json, std::vector<RangeFigures>& all) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return;
  const Node* ranges = document->root().find("partitions");
  const Node* keys = document->root().find("keys");
  if (ranges == nullptr || keys == nullptr) return;
  std::set<uint64_t> taken;
  for (const Node* one = ranges->first; one != nullptr; one = one->next) {
    RangeFigures* range = find_range(all, count_in(*one, "id"));
    if (range == nullptr || range->is_known) continue;
    cluster::PartitionStatus& status = range->status;
    status.usage = {.bytes = count_in(*one, "bytes"), .items = count_in(*one, "items")};
    status.lsn = count_in(*one, "lsn");
    status.reads = count_in(*one, "reads");
    status.writes = count_in(*one, "writes");
    status.throttled = count_in(*one, "throttled");
    status.charge = number_in(*one, "requestUnits");
    status.indexed_percent =
        static_cast<uint32_t>(std::min<uint64_t>(100, count_in(*one, "indexed")));
    status.read_only_reason = text_in(*one, "problem");
    const Node* splitting = one->find("splitting");
    range->is_splitting = splitting != nullptr && splitting->boolean;
    range->is_known = true;
    taken.insert(status.range.id);
  }
  for (const Node* one = keys->first; one != nullptr; one = one->next) {
    const uint64_t id = count_in(*one, "range");
    if (!taken.contains(id)) continue;
    find_range(all, id)->largest.push_back(
        {.key_text = text_in(*one, "key"),
         .usage = {.bytes = count_in(*one, "bytes"), .items = count_in(*one, "items")}});
  }
}

}  // namespace

Result<std::vector<RangeFigures>> PartitionFigures::of(uint32_t container, size_t keys_of_each) {
  auto all = known_here(container, keys_of_each);
  if (all && link_.load() != nullptr) ask_owners(container, keys_of_each, *all);
  return all;
}

Result<std::vector<RangeFigures>> PartitionFigures::known_here(uint32_t container,
                                                               size_t keys_of_each) {
  auto statuses = engine_.status(container);  // opens what has files
  if (!statuses) return pass(statuses.error());
  const cluster::RoutingPtr routing = engine_.find(container);
  if (!routing) return fail(Code::not_found, "the container has gone");
  std::vector<RangeFigures> all;
  for (cluster::PartitionStatus& status : *statuses) {
    RangeFigures& one = all.emplace_back();
    one.status = std::move(status);
    const auto slot = std::ranges::find_if(
        routing->slots, [&](const auto& other) { return other->range.id == one.status.range.id; });
    one.is_known = slot == routing->slots.end() || (*slot)->here.load();
    if (slot == routing->slots.end()) continue;  // split since
    one.share = routing->budget(**slot).rate();
    one.is_splitting = (*slot)->split_wanted.load();
    const auto opened = keys_of_each > 0 ? (*slot)->opened() : nullptr;
    if (!opened) continue;
    auto largest = opened->largest(keys_of_each);
    if (!largest) return pass(largest.error());
    one.largest = std::move(*largest);
  }
  return all;
}

void PartitionFigures::ask_owners(uint32_t container, size_t keys_of_each,
                                  std::vector<RangeFigures>& all) {
  const cluster::Placement* placement = engine_.placement();
  const cluster::RoutingPtr routing = engine_.find(container);
  peer::Link* link = link_.load();
  if (placement == nullptr || link == nullptr || !routing) return;
  std::set<std::string> addresses;
  for (const auto& slot : routing->slots) {
    const auto address = placement->address_of(*slot);
    if (address && !address->empty()) addresses.insert(*address);
  }
  if (addresses.empty()) return;
  const std::string question =
      fmt::format(R"({{"container":{},"keys":{}}})", container, keys_of_each);
  for (const std::string& answer : ask_nodes(*link, addresses, kCall, question)) {
    take_answer(answer, all);
  }
}

void PartitionFigures::answer(std::string kind, std::string bytes, peer::Done done) {
  if (kind != kCall) return done(fail(Code::unsupported, "there is no call " + kind));
  auto document = value::JsonDocument::parse(bytes);
  if (!document) return done(pass(document.error()));
  const auto container = count_in(document->root(), "container");
  const auto keys = std::min(static_cast<double>(count_in(document->root(), "keys")), kHotKeysMax);
  auto all = known_here(static_cast<uint32_t>(container), static_cast<size_t>(keys));
  if (!all) return done(pass(all.error()));
  std::erase_if(*all, [](const RangeFigures& one) { return !one.is_known; });
  done(fmt::format(R"({{"partitions":{},"keys":{}}})", ranges_json(*all), keys_json(*all)));
}

std::string ranges_json(const std::vector<RangeFigures>& all) {
  std::string json = "[";
  for (const RangeFigures& each : all) {
    const cluster::PartitionStatus& one = each.status;
    if (json.size() > 1) json += ',';
    json += fmt::format(
        R"({{"id":{},"min":"{}","max":"{}","bytes":{},"items":{},"lsn":{},"reads":{},)"
        R"("writes":{},"throttled":{},"requestUnits":{:.2f},"indexed":{},"problem":{},)"
        R"("parents":[{}],"share":{:.1f},"splitting":{},"node":{},"known":{}}})",
        one.range.id, to_hex_upper(one.range.min), to_hex_upper(one.range.max), one.usage.bytes,
        one.usage.items, one.lsn, one.reads, one.writes, one.throttled, one.charge,
        one.indexed_percent, value::quoted(one.read_only_reason), fmt::join(one.range.parents, ","),
        each.share, each.is_splitting, value::quoted(one.node), each.is_known);
  }
  return json + "]";
}

std::string keys_json(const std::vector<RangeFigures>& all) {
  std::string json = "[";
  for (const RangeFigures& each : all) {
    for (const auto& key : each.largest) {
      json += (json.size() > 1 ? "," : "") + key_json(each.status.range.id, key);
    }
  }
  return json + "]";
}

std::string largest_keys_json(const std::vector<RangeFigures>& all, size_t count) {
  std::vector<std::pair<uint32_t, const partition::Partition::LogicalPartition*>> keys;
  for (const RangeFigures& each : all) {
    for (const auto& key : each.largest) keys.emplace_back(each.status.range.id, &key);
  }
  std::ranges::sort(keys, std::greater<>(),
                    [](const auto& one) { return one.second->usage.bytes; });
  if (keys.size() > count) keys.resize(count);
  std::string json = "[";
  for (const auto& [range, key] : keys)
    json += (json.size() > 1 ? "," : "") + key_json(range, *key);
  return json + "]";
}

}  // namespace orrery::ops
