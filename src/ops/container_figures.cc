// See container_figures.h.
#include "ops/container_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ops/ask_nodes.h"
#include "ops/figures_json.h"
#include "value/json.h"

namespace orrery::ops {
namespace {

ContainerFigures of_slots(const cluster::Routing& routing) {
  ContainerFigures sums;
  for (const auto& slot : routing.slots) {
    if (!slot->here.load()) continue;
    const uint64_t stored = slot->bytes.load();
    const auto opened = slot->opened();
    ContainerFigures one{.ranges = 1,
                         .bytes = stored,
                         .largest = stored,
                         .items = 0U,
                         .throttled = slot->counters.throttled.load(),
                         .charge = slot->counters.charge.load()};
    if (opened) {
      one.items = opened->usage().items;
    } else if (stored > 0) {
      one.items.reset();
    }
    sums.add(one);
  }
  return sums;
}

void take_answer(const std::string& json, std::map<uint32_t, ContainerFigures>& all) {
  auto document = value::JsonDocument::parse(json);
  const value::Node* told = document ? document->root().find("containers") : nullptr;
  if (told == nullptr) return;
  for (const value::Node* one = told->first; one != nullptr; one = one->next) {
    const auto found = all.find(static_cast<uint32_t>(count_in(*one, "number")));
    if (found == all.end()) continue;
    const value::Node* items = one->find("items");
    const bool has_items = items != nullptr && items->type == value::Type::number;
    found->second.add({.ranges = count_in(*one, "ranges"),
                       .bytes = count_in(*one, "bytes"),
                       .largest = count_in(*one, "largest"),
                       .items = has_items ? std::optional(count_in(*one, "items")) : std::nullopt,
                       .throttled = count_in(*one, "throttled"),
                       .charge = number_in(*one, "requestUnits")});
  }
}

}  // namespace

void ContainerFigures::add(const ContainerFigures& other) {
  ranges += other.ranges;
  bytes += other.bytes;
  largest = std::max(largest, other.largest);
  items = items && other.items ? std::optional(*items + *other.items) : std::nullopt;
  throttled += other.throttled;
  charge += other.charge;
}

std::map<uint32_t, ContainerFigures> AllContainers::here() const {
  std::map<uint32_t, ContainerFigures> all;
  for (const catalog::ContainerPtr& container : engine_.catalog().all_containers()) {
    if (const auto routing = engine_.find(container->number)) {
      all.emplace(container->number, of_slots(*routing));
    }
  }
  return all;
}

std::map<uint32_t, ContainerFigures> AllContainers::figures(
    const std::set<std::string>& others) const {
  auto all = here();
  peer::Link* link = link_.load();
  if (link == nullptr || others.empty()) return all;
  for (const std::string& answer : ask_nodes(*link, others, kCall, "")) take_answer(answer, all);
  for (auto& [number, figures] : all) {
    const auto routing = engine_.find(number);
    if (routing && figures.ranges < routing->slots.size()) figures.items.reset();
  }
  return all;
}

void AllContainers::answer(std::string kind, std::string /*bytes*/, peer::Done done) {
  if (kind != kCall) return done(fail(Code::unsupported, "there is no call " + kind));
  std::string json = "{\"containers\":[";
  for (const auto& [number, one] : here()) {
    if (one.ranges == 0) continue;
    if (json.back() != '[') json += ',';
    json += fmt::format(
        R"({{"number":{},"ranges":{},"bytes":{},"largest":{},"items":{},"throttled":{},"requestUnits":{:.2f}}})",
        number, one.ranges, one.bytes, one.largest, one.items ? std::to_string(*one.items) : "null",
        one.throttled, one.charge);
  }
  done(json + "]}");
}

}  // namespace orrery::ops
