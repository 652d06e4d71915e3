// See advice.h.
#include "advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "advise/key_values.h"
#include "advise/sequences.h"
#include "advise/spread.h"
#include "advise/words.h"

namespace orrery::advise {
namespace {

constexpr size_t kMostOwnContainers = 25;

bool names(const FactRequest& request, uint32_t place) {
  return request.values[place] != FactRequest::kNotKnown ||
         contains(request.lists, place, [](const auto& list) { return list.first; });
}

struct NamedPath {
  uint32_t place = 0;
  double named = 0;      // share of the requests that name it
  double asked_for = 0;  // share of those without a body that do
};

// Paths that nearly every request names, the likeliest tenant first.
std::vector<NamedPath> named_by_most(const Facts& facts) {
  constexpr double kMost = 0.85;
  std::vector<NamedPath> out;
  for (uint32_t place = 0; place < facts.tracked.size(); ++place) {
    if (facts.tracked[place].is_time || place == facts.id) continue;
    double all = 0;
    double named = 0;
    double asking = 0;
    double asked_for = 0;
    for (const FactRequest& request : facts.requests) {
      all += request.weight;
      const bool body = has_body(facts.shapes[request.shape].operation);
      if (!body) asking += request.weight;
      if (!names(request, place)) continue;
      named += request.weight;
      if (!body) asked_for += request.weight;
    }
    // What only bodies name is in every item, and nobody's tenant.
    if (all <= 0 || named < kMost * all || asked_for < 0.5 * asking || asking <= 0) continue;
    out.push_back({place, named / all, asked_for / asking});
  }
  sort_stable(out, [&](const NamedPath& a, const NamedPath& b) {
    return std::tuple(-std::round(10 * a.asked_for),
                      facts.statistics[a.place].distinct.estimate()) <
           std::tuple(-std::round(10 * b.asked_for), facts.statistics[b.place].distinct.estimate());
  });
  return out;
}

// Values that pass the limit of a logical partition, or half of what a partition serves.
std::vector<std::string> too_large_alone(const Facts& facts, uint32_t place) {
  const KeyExpression key = single_key(facts.tracked[place].path);
  const KeyValues values(facts, key);
  const Rows rows = all_rows(facts);
  const Scored scored = score_key(facts, key, rows);
  if (scored.has("changes") || scored.has("not_scalar")) return {};
  std::vector<Entry> held;
  for (const uint32_t row : rows.items) {
    held.push_back({values.of_item(facts.items[row])[0], facts.items[row].bytes, row});
  }
  const std::vector<Asked> asked = requests_with(facts, key, rows.requests);
  std::vector<Entry> load;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!asked[i].keyed) continue;
    load.push_back(
        {asked[i].first, asked[i].cost * facts.requests[i].weight, static_cast<uint32_t>(i)});
  }
  const double mean = 1 / std::max(1.0, scored.distinct);
  std::vector<std::pair<double, std::string>> found;
  const auto take = [&](double share, std::string value) {
    if (value == "(none)" || value == "null") return;
    if (!contains(found, value, &std::pair<double, std::string>::second)) {
      found.emplace_back(share, std::move(value));
    }
  };
  const Spread bytes = spread_of(held);
  for (const Group& group : bytes.groups) {
    const double share = bytes.lower_share(group);
    const bool passes =
        share * facts.container_bytes * facts.growth >= facts.settings.logical_limit_bytes;
    if (share > 2 * mean && passes) take(share, values.text_of(facts.items[group.row], 1));
  }
  const Spread heat = spread_of(load);
  for (const Group& group : heat.groups) {
    const double share = heat.lower_share(group);
    const bool passes = share * scored.keyed_ru > 0.5 * facts.settings.partition_throughput;
    if (share > 2 * mean && passes) {
      take(share, values.text_of(facts.requests[group.row], group.row, 1));
    }
  }
  sort_stable(found, std::ranges::greater(), &std::pair<double, std::string>::first);
  std::vector<std::string> out;
  for (auto& [share, value] : found) {
    if (out.size() < kMostOwnContainers) out.push_back(std::move(value));
  }
  return out;
}

void advise_own_containers(const Facts& facts, Report& report) {
  for (const NamedPath& path : named_by_most(facts)) {
    std::vector<std::string> values = too_large_alone(facts, path.place);
    if (values.empty()) continue;
    report.own_container_path = facts.paths->name(facts.tracked[path.place].path);
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(5, values.size()); ++i) {
      list += (i == 0 ? "" : ", ") + values[i];
    }
    if (values.size() > 5) list += fmt::format(" and {} more", values.size() - 5);
    report.advice.push_back(
        {"own_container",
         fmt::format("{} of the requests name {}. Of its values {} {} more than twice the mean and "
                     "{} the limit of a logical partition or half of what a partition serves: give "
                     "each a container of its own, and the others this one",
                     percent(path.named), report.own_container_path, list,
                     values.size() == 1 ? "is" : "are", values.size() == 1 ? "passes" : "pass")});
    report.own_container = std::move(values);
    return;
  }
}

void advise_periods(const Facts& facts, Report& report) {
  double all = 0;
  double creates = 0;
  double queries = 0;
  double with_time = 0;
  for (const FactRequest& request : facts.requests) {
    const Shape& shape = facts.shapes[request.shape];
    all += request.weight;
    if (shape.operation == RequestKind::create || shape.operation == RequestKind::upsert) {
      creates += request.weight;
    }
    if (shape.operation != RequestKind::query) continue;
    queries += request.weight;
    const bool by_time = std::ranges::any_of(shape.range, [&](uint32_t path) {
      const auto place = facts.place_of(path);
      return place && facts.tracked[*place].is_time;
    });
    if (by_time) with_time += request.weight;
  }
  const KeyExpression& best = report.candidates.front().key;
  bool has_period = best.has_period();
  for (const KeyLevel& level : best.levels) {
    for (const KeyPart& part : level.parts) {
      const auto place = facts.place_of(part.path);
      has_period = has_period || (place && facts.tracked[*place].is_time);
    }
  }
  if (has_period || creates < 0.3 * all || with_time < 0.3 * queries || queries <= 0) return;
  report.advice.push_back(
      {"container_per_period",
       fmt::format("{} of the requests create items and {} of the queries ask for a range of time: "
                   "a container for each month, with the key {}, lets old ones have little "
                   "throughput and be deleted whole",
                   percent(creates / all), percent(with_time / queries),
                   report.candidates.front().name)});
}

void advise_hierarchy(const Facts& facts, Report& report) {
  const Scored& best = report.candidates.front();
  if (!best.key.is_hierarchy()) return;
  const KeyExpression first{.levels = {best.key.levels.front()}};
  const auto alone = std::ranges::find(report.candidates, first, &Scored::key);
  if (alone == report.candidates.end() || !alone->has("limit")) return;
  report.advice.push_back(
      {"hierarchy",
       fmt::format("{} is what most requests name, and too large alone. The further levels lift "
                   "the limit of size; items still lie where the first level's hash puts them "
                   "until storage splits a partition, so they do not lift heat",
                   to_text(first, *facts.paths))});
}

}  // namespace

void add_advice(const Facts& facts, Report& report) {
  advise_own_containers(facts, report);
  advise_periods(facts, report);
  advise_hierarchy(facts, report);
}

}  // namespace orrery::advise
