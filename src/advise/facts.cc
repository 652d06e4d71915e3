// See facts.h.
#include "advise/facts.h"
#include "advise/sequences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace orrery::advise {
namespace {

constexpr double kDay = 86'400;
constexpr double kHour = 3'600;
constexpr double kMonth = 30.4 * kDay;
constexpr double kDefaultThroughput = 400;
constexpr double kMostGrowth = 8;
constexpr double kLeastPartitions = 4;
constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

// RU by path: those that a request names in an equality. What has the whole item names nothing.
std::map<uint32_t, double> used_ru(const Workload& workload) {
  std::map<uint32_t, double> used;
  std::vector<double> sampled(workload.shapes.size());
  for (const Request& request : workload.requests) {
    const Shape& shape = workload.shapes[request.shape];
    sampled[request.shape] += request.ru;
    if (has_body(shape.operation)) continue;
    // Of what the shape does not name, each request tells by itself.
    for (const Known& known : request.known) {
      if (!contains(shape.equal, known.path)) used[known.path] += request.ru;
    }
  }
  for (size_t i = 0; i < workload.shapes.size(); ++i) {
    const Shape& shape = workload.shapes[i];
    if (has_body(shape.operation)) continue;
    const double ru = sampled[i] > 0 ? sampled[i] : shape.ru;
    for (const uint32_t path : shape.equal) used[path] += ru;
    for (const uint32_t path : shape.in) used[path] += ru;
  }
  return used;
}

// How many requests of the container one of the sample stands for, hour by hour.
class SampleWeights {
 public:
  explicit SampleWeights(const Workload& workload) {
    for (const Request& request : workload.requests) ++hours_[hour_of(request.t)].sampled;
    for (const Bucket& bucket : workload.buckets) {
      hours_[hour_of(bucket.t)].in_all += bucket.requests;
    }
  }
  double at(double t) const {
    const auto found = hours_.find(hour_of(t));
    if (found == hours_.end() || found->second.in_all <= 0) return 1;
    return std::max(1.0, found->second.in_all / found->second.sampled);
  }

 private:
  struct Hour {
    double sampled = 0;
    double in_all = 0;
  };
  static double hour_of(double t) { return std::floor(t / kHour); }
  std::map<double, Hour> hours_;
};

std::vector<uint32_t> values_of(Facts& facts, const std::vector<Known>& known, uint32_t otherwise) {
  std::vector<uint32_t> values(facts.tracked.size(), otherwise);
  for (const Known& one : known) {
    if (const auto at = facts.place_of(one.path)) values[*at] = facts.values.add_mark(one.mark);
  }
  return values;
}

FactRequest fact_of(Facts& facts, const Shape& shape, const Request& request, double weight) {
  const uint32_t otherwise =
      has_body(shape.operation) ? ValueTable::kUndefined : FactRequest::kNotKnown;
  FactRequest fact;
  fact.t = request.t;
  fact.shape = request.shape;
  fact.ru = request.ru;
  fact.weight = weight;
  fact.values =
      values_of(facts, request.batch.empty() ? request.known : request.batch.front(), otherwise);
  fact.times.assign(facts.tracked.size(), kNoTime);
  fact.widths.assign(facts.tracked.size(), 0);
  // A query for a value that is undefined names it, too.
  for (const uint32_t path : shape.equal) {
    const auto at = facts.place_of(path);
    if (at && fact.values[*at] == FactRequest::kNotKnown) {
      fact.values[*at] = ValueTable::kUndefined;
    }
  }
  for (const KnownTime& time : request.times) {
    if (const auto at = facts.place_of(time.path)) {
      fact.times[*at] = request.t - time.lag_s;
      fact.widths[*at] = time.width_s;
    }
  }
  for (const KnownList& list : request.lists) {
    const auto at = facts.place_of(list.path);
    if (!at || list.marks.empty()) continue;
    auto& [path, values] = fact.lists.emplace_back(*at, std::vector<uint32_t>());
    for (const uint64_t mark : list.marks) values.push_back(facts.values.add_mark(mark));
  }
  for (size_t i = 1; i < request.batch.size(); ++i) {
    fact.batch.push_back(values_of(facts, request.batch[i], ValueTable::kUndefined));
  }
  return fact;
}

// Of a shape of which no request was kept: it counts with values that nobody has seen.
FactRequest unseen_fact(const Facts& facts, uint32_t index, const Shape& shape, double t) {
  const size_t paths = facts.tracked.size();
  FactRequest fact;
  fact.t = t;
  fact.shape = index;
  fact.ru = shape.ru / shape.count;
  fact.weight = shape.count;
  fact.values.assign(paths,
                     has_body(shape.operation) ? FactRequest::kUnseen : FactRequest::kNotKnown);
  fact.times.assign(paths, kNoTime);
  fact.widths.assign(paths, 0);
  for (const auto* named : {&shape.equal, &shape.in}) {
    for (const uint32_t path : *named) {
      if (const auto at = facts.place_of(path)) fact.values[*at] = FactRequest::kUnseen;
    }
  }
  return fact;
}

// What callers of point operations have besides, by the operator's word.
void add_what_callers_know(Facts& facts) {
  for (FactRequest& fact : facts.requests) {
    const RequestKind operation = facts.shapes[fact.shape].operation;
    if (operation == RequestKind::query || has_body(operation)) continue;
    for (const uint32_t path : facts.settings.known) {
      const auto at = facts.place_of(path);
      if (at && fact.values[*at] == FactRequest::kNotKnown) fact.values[*at] = FactRequest::kUnseen;
    }
  }
}

void add_requests(Facts& facts, const Workload& workload) {
  const SampleWeights weights(workload);
  std::vector<bool> is_sampled(workload.shapes.size());
  for (const Request& request : workload.requests) {
    is_sampled[request.shape] = true;
    facts.requests.push_back(
        fact_of(facts, workload.shapes[request.shape], request, weights.at(request.t)));
  }
  facts.sampled_requests = static_cast<double>(facts.requests.size());
  for (uint32_t i = 0; i < workload.shapes.size(); ++i) {
    const Shape& shape = workload.shapes[i];
    if (is_sampled[i] || shape.count <= 0) continue;
    facts.requests.push_back(unseen_fact(
        facts, i, shape, facts.requests.empty() ? workload.to : facts.requests.back().t));
  }
  add_what_callers_know(facts);
}

// The 95th percentile of the buckets, in RU/s; without buckets from the totals.
double refused_share_of(const Workload& workload) {
  double answered = 0;
  double refused = 0;
  for (const auto& bucket : workload.buckets) {
    answered += bucket.requests;
    refused += bucket.throttled;
  }
  return refused > 0 ? refused / (answered + refused) : 0;
}

double peak_of(const Workload& workload) {
  std::vector<double> rates;
  for (const Bucket& bucket : workload.buckets) rates.push_back(bucket.ru / bucket.s);
  if (!rates.empty()) {
    std::ranges::sort(rates);
    return rates[std::min(rates.size() - 1,
                          static_cast<size_t>(0.95 * static_cast<double>(rates.size())))];
  }
  double ru = 0;
  for (const Shape& shape : workload.shapes) ru += shape.ru;
  const double s = workload.to - workload.from;
  constexpr double kPeakOfMean = 1.5;
  return s > 0 ? kPeakOfMean * ru / s : 0;
}

void set_sizes(Facts& facts, const ItemSample& sample, const Workload& workload) {
  facts.items_read = sample.read;
  facts.items_seen = sample.count;
  facts.container_items = std::max(sample.count, workload.items.value_or(sample.count));
  facts.container_bytes = workload.bytes.value_or(
      sample.count > 0 ? sample.bytes * facts.container_items / sample.count : 0);
  facts.has_times = sample.has_times;
  facts.now = std::max(workload.to, sample.has_times ? sample.to : 0);
  facts.age_s = std::max(kDay, sample.has_times ? sample.to - sample.from : 0);
  const double horizon_s = facts.settings.horizon_s;
  if (facts.settings.growth_bytes_per_month) {
    const double more = *facts.settings.growth_bytes_per_month * horizon_s / kMonth;
    facts.growth = 1 + more / std::max(1.0, facts.container_bytes);
  } else if (workload.ttl_s > 0 || !sample.has_times) {
    facts.growth = 1;
  } else {
    facts.growth = std::min(kMostGrowth, 1 + horizon_s / facts.age_s);
  }
}

void set_partitions(Facts& facts) {
  const Settings& settings = facts.settings;
  const double by_throughput = std::ceil(facts.throughput / settings.partition_throughput);
  const double by_bytes = std::ceil(facts.container_bytes / settings.physical_limit_bytes);
  const double at_horizon =
      std::ceil(facts.growth * facts.container_bytes / settings.physical_limit_bytes);
  const double now = std::max({1.0, by_throughput, by_bytes});
  const double needed = std::max(now, std::min(2 * now, at_horizon));
  facts.partitions = std::max(kLeastPartitions, needed);
  facts.cut_by_bytes = needed >= 2 * by_throughput;
}

}  // namespace

std::optional<uint32_t> Facts::place_of(uint32_t path) const {
  const auto found = std::ranges::find(tracked, path, &TrackedPath::path);
  if (found == tracked.end()) return std::nullopt;
  return static_cast<uint32_t>(found - tracked.begin());
}

std::vector<uint32_t> wanted_paths(const Workload& workload, const Settings& settings) {
  constexpr size_t kMostFacts = 8;
  std::vector<uint32_t> wanted;
  const auto& present = settings.partition_key ? settings.partition_key : workload.partition_key;
  if (present) wanted = *present;
  for (const KeyExpression& key : settings.keys) {
    for (const KeyLevel& level : key.levels) {
      for (const KeyPart& part : level.parts) wanted.push_back(part.path);
    }
  }
  std::vector<std::pair<double, uint32_t>> used;
  for (const auto& [path, ru] : used_ru(workload)) used.emplace_back(-ru, path);
  std::ranges::sort(used);
  for (size_t i = 0; i < std::min(kMostFacts, used.size()); ++i) wanted.push_back(used[i].second);
  // Times in ranges make periods.
  for (const Shape& shape : workload.shapes) {
    wanted.insert(wanted.end(), shape.range.begin(), shape.range.end());
  }
  return wanted;
}

Facts make_facts(const PathTable& paths, const Settings& settings, ItemSample sample,
                 Workload workload, bool has_workload) {
  Facts facts(paths, workload.marker);
  facts.settings = settings;
  facts.has_workload = has_workload;
  facts.marks_only = workload.hashed && !workload.has_secret;
  facts.shapes = workload.shapes;
  facts.throughput = settings.throughput.value_or(workload.throughput.value_or(kDefaultThroughput));
  set_sizes(facts, sample, workload);
  set_partitions(facts);
  facts.peak_ru = peak_of(workload);
  facts.refused_share = refused_share_of(workload);

  const auto used = used_ru(workload);
  const value::Path id{.steps = {{.name = "id"}}};
  for (size_t i = 0; i < sample.paths.size(); ++i) {
    const PathStatistics& statistics = sample.paths[i];
    TrackedPath tracked;
    tracked.path = statistics.path;
    // A few values that are no times do not matter.
    tracked.is_time = statistics.times > 0.95 * statistics.present;
    tracked.form = statistics.form;
    if (const auto found = used.find(tracked.path); found != used.end()) {
      tracked.used_ru = found->second;
    }
    tracked.updates = sample.updates;
    tracked.changed = sample.changed[i];
    for (const PathChange& change : workload.changes) {
      if (change.path != tracked.path) continue;
      tracked.updates += change.replaced;
      tracked.changed += change.changed;
    }
    if (paths.path(tracked.path) == id) facts.id = static_cast<uint32_t>(i);
    facts.tracked.push_back(tracked);
  }
  for (SampledItem& item : sample.items) {
    FactItem fact;
    fact.t = item.t;
    fact.bytes = item.bytes;
    fact.times = std::move(item.times);
    for (const std::string& value : item.values) {
      fact.values.push_back(value.empty() ? ValueTable::kUndefined : facts.values.add_bytes(value));
    }
    facts.items.push_back(std::move(fact));
  }
  sample.items.clear();
  for (const std::string& value : workload.plain_values) facts.values.add_bytes(value);
  add_requests(facts, workload);
  facts.statistics = std::move(sample.paths);

  const auto& key = settings.partition_key ? settings.partition_key : workload.partition_key;
  if (key && !key->empty()) {
    KeyExpression present;
    for (const uint32_t path : *key) {
      present.levels.push_back({.parts = {{.path = path, .period = Period::none}}, .suffix = 0});
    }
    facts.present_key = std::move(present);
  }
  return facts;
}

}  // namespace orrery::advise
