// See score.h.
#include "advise/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "advise/key_values.h"
#include "advise/sequences.h"
#include "advise/spread.h"
#include "advise/words.h"

namespace orrery::advise {
namespace {

constexpr double kMostUse = 0.7;  // of a partition's throughput that one plans with
constexpr double kLeastThroughput = 400;
constexpr double kMostOfPartition = 0.8;
constexpr double kEvenEnough = 1.5;
constexpr double kSplitUnevenness = 1.33;  // partitions after splits hold 2/3 to 4/3 of the mean

class Judge {
 public:
  Judge(const Facts& facts, const KeyExpression& key, const Rows& rows)
      : facts_(facts),
        rows_(rows),
        values_(facts, key),
        holdings_(facts, values_, rows),
        bytes_(spread_of(holdings_.full())),
        n_(facts.partitions) {
    out_.key = key;
    out_.name = to_text(key, *facts.paths);
  }

  Scored judge() {
    judge_parts();
    judge_distinct();
    judge_bytes();
    judge_requests();
    judge_simplicity();
    out_.score = 100 * out_.cost * out_.locality * out_.storage * out_.values * out_.headroom *
                 out_.simplicity;
    return std::move(out_);
  }

 private:
  void disqualify(std::string code, std::string text) {
    out_.hard.push_back({std::move(code), std::move(text)});
  }
  void warn(std::string code, std::string text) {
    out_.warnings.push_back({std::move(code), std::move(text)});
  }

  void judge_parts() {
    double missing = 0;
    double nulls = 0;
    double mixed = 0;
    double containers = 0;
    double longest = 0;
    double bound = 0;
    for (const KeyLevel& level : out_.key.levels) {
      for (const KeyPart& part : level.parts) {
        const auto place = facts_.place_of(part.path);
        if (!place) continue;
        const PathStatistics& statistics = facts_.statistics[*place];
        const double all = std::max(1.0, facts_.items_read);
        missing = std::max(missing, 1 - statistics.present / all);
        nulls = std::max(nulls, statistics.nulls / all);
        const double types[] = {statistics.numbers, statistics.strings, statistics.booleans};
        const double scalars = types[0] + types[1] + types[2];
        mixed = std::max(mixed, (scalars - std::ranges::max(types)) / all);
        containers = std::max(containers, statistics.containers / all);
        longest += statistics.longest;
        const TrackedPath& tracked = facts_.tracked[*place];
        judge_change(tracked, part);
        bound = std::max(
            bound, tracked.updates < 1 ? 1 : std::max(3.0, tracked.changed) / tracked.updates);
      }
    }
    out_.changes_bound = std::min(1.0, bound);
    if (containers > 0) {
      disqualify("not_scalar",
                 fmt::format("in {} of the items it is an array or an object, which cannot be a "
                             "key: such a write would be refused",
                             percent(containers)));
    }
    if (longest > facts_.settings.longest_key_bytes) {
      disqualify("too_long",
                 fmt::format("its longest value has {:.0f} bytes; a key may have {:.0f}", longest,
                             facts_.settings.longest_key_bytes));
    }
    if (missing + nulls > 0.05) {
      warn("missing_values",
           fmt::format("{} of the items do not have it and in {} it is null: each of these two "
                       "would be one logical partition",
                       percent(missing), percent(nulls)));
    }
    if (mixed > 0.01) {
      warn("mixed_types", fmt::format("in {} of the items it has another type than in most: 1 and "
                                      "\"1\" are different keys",
                                      percent(mixed)));
    }
  }

  void judge_change(const TrackedPath& tracked, const KeyPart& part) {
    constexpr double kLeastUpdates = 20;
    constexpr double kMostChanges = 0.01;
    if (tracked.updates < kLeastUpdates || tracked.changed <= kMostChanges * tracked.updates ||
        out_.has("changes")) {
      return;
    }
    disqualify("changes",
               fmt::format("{} changed in {:.0f} of {:.0f} updates: a key cannot change, each "
                           "would be a delete and a create",
                           facts_.paths->name(part.path), tracked.changed, tracked.updates));
  }

  void judge_distinct() {
    const auto d = static_cast<double>(bytes_.groups.size());
    const double sampled = std::max(1.0, static_cast<double>(rows_.items.size()));
    const double q = std::min(1.0, sampled / std::max(1.0, facts_.container_items));
    out_.distinct_low = d;
    out_.distinct = std::sqrt(1 / q) * bytes_.once + d - bytes_.once;
    out_.distinct_high = d + bytes_.once * (1 / q - 1);
    const bool is_property = out_.key == single_key(out_.key.levels[0].parts[0].path);
    const auto place = facts_.place_of(out_.key.levels[0].parts[0].path);
    if (is_property && place) {
      // The sketch has seen all items that were read, which may be more than the sample.
      constexpr double kSketchError = 3 * 0.016;
      const double seen = facts_.statistics[*place].distinct.estimate();
      out_.distinct_low = std::max(d, seen * (1 - kSketchError));
      out_.distinct = std::max(out_.distinct, seen);
      out_.distinct_high = std::max(out_.distinct_high, seen * (1 + kSketchError));
      if (facts_.items_seen >= facts_.container_items) {
        out_.distinct = seen;
        out_.distinct_high = std::max(d, seen * (1 + kSketchError));
      }
    }
    const double least = std::max(50.0, 10 * n_);
    if (out_.distinct_high < least) {
      disqualify("few_values",
                 fmt::format("it has {} values, at most {}: too few for {:.0f} partitions, which "
                             "want {:.0f}",
                             number(out_.distinct), number(out_.distinct_high), n_, least));
    }
    judge_first_level(q);
    const double at_horizon = distinct_at_horizon(d);
    out_.values = std::min(1.0, 0.75 + 0.1 * std::log10(std::max(1.0, at_horizon)));
  }

  void judge_first_level(double q) {
    if (values_.levels() < 2 || facts_.cut_by_bytes) return;
    const Spread first = spread_of(holdings_.first());
    const double high = static_cast<double>(first.groups.size()) + first.once * (1 / q - 1);
    if (high >= 2 * n_) return;
    disqualify("few_first_level",
               fmt::format("its first level has {} values, and alone decides which of {:.0f} "
                           "partitions an item is in until storage splits them",
                           number(high), n_));
  }

  // Values that came in the second half of the time will go on coming. Only small numbers matter.
  double distinct_at_horizon(double d) const {
    constexpr double kEnough = 1'000;
    if (out_.distinct >= kEnough || !facts_.has_times) return out_.distinct;
    const double middle = facts_.now - facts_.age_s / 2;
    std::unordered_set<uint64_t> before;
    for (const Entry& entry : holdings_.full()) {
      if (facts_.items[entry.row].t < middle) before.insert(entry.hash);
    }
    const double more = d - static_cast<double>(before.size());
    return out_.distinct + 2 * more * (facts_.growth - 1);
  }

  // Whether a value's items go on coming, as opposed to those of a day that is over.
  bool keeps_growing(const Group& group) const {
    if (!facts_.has_times) return true;
    constexpr size_t kWindows = 8;
    std::array<bool, kWindows> seen{};
    for (const Entry& entry : holdings_.full()) {
      if (entry.hash != group.hash) continue;
      const double since = facts_.items[entry.row].t - (facts_.now - facts_.age_s);
      const double at = since / facts_.age_s * kWindows;
      seen[static_cast<size_t>(std::clamp(at, 0.0, kWindows - 1.0))] = true;
    }
    // A value seen a few times only cannot be in five windows.
    const double expected = kWindows * (1 - std::pow(1 - 1.0 / kWindows, group.count));
    return static_cast<double>(std::ranges::count(seen, true)) >= std::min(5.0, 0.8 * expected);
  }

  void judge_bytes() {
    const double limit = facts_.settings.logical_limit_bytes;
    constexpr size_t kLargest = 8;
    const double mean = 1 / std::max(1.0, out_.distinct);
    double largest = 0;  // at the horizon, as far as the sample proves it
    if (!bytes_.groups.empty()) {
      out_.largest_value =
          values_.text_of(facts_.items[bytes_.groups.front().row], values_.levels());
    }
    for (size_t i = 0; i < std::min(kLargest, bytes_.groups.size()); ++i) {
      const Group& group = bytes_.groups[i];
      const double share = std::max(bytes_.lower_share(group), i == 0 ? mean : 0);
      const double now = share * facts_.container_bytes;
      const bool grows = keeps_growing(group);
      const double then = now * (grows ? facts_.growth : 1);
      if (then <= largest) continue;
      largest = then;
      out_.largest_value = values_.text_of(facts_.items[group.row], values_.levels());
      out_.largest_bytes = now;
      out_.largest_at_horizon = then;
      const double per_s = grows && facts_.growth > 1 ? now / facts_.age_s : 0;
      out_.limit_day = now >= limit                 ? facts_.now
                       : then >= limit && per_s > 0 ? facts_.now + (limit - now) / per_s
                                                    : 0;
    }
    largest = std::max(largest, largest_of_all_read(largest));
    // All together prove what no single one does.
    const double mean_at_least = facts_.container_bytes / std::max(1.0, out_.distinct_high);
    const double r = std::max(largest, mean_at_least) / limit;
    if (r >= 1) {
      disqualify("limit", fmt::format("'{}' has {} and will have {}: the limit of a logical "
                                      "partition is {}{}",
                                      out_.largest_value, bytes_text(out_.largest_bytes),
                                      bytes_text(std::max(largest, mean_at_least)),
                                      bytes_text(limit), when_text()));
    } else if (r > 0.5) {
      warn("limit_soon",
           fmt::format("'{}' will have {} of the {} that a logical partition may have",
                       out_.largest_value, bytes_text(largest), bytes_text(limit)));
    }
    out_.headroom = r <= 0.5 ? 1 : std::max(0.4, 1 - 1.2 * (r - 0.5));

    const Spread first = spread_of(holdings_.first());
    const Place place = [this](const Group& group) {
      return values_.place(facts_.items[group.row], static_cast<uint32_t>(n_));
    };
    double m = busiest_share(first, n_, place);
    if (facts_.cut_by_bytes) m = share_after_splits(first, bytes_, 0);
    out_.byte_skew = n_ * m;
    out_.storage = std::pow(std::min(1.0, kEvenEnough / out_.byte_skew), 0.3);
    if (out_.byte_skew > kEvenEnough) {
      warn("uneven", fmt::format("the fullest partition holds {:.1f} times its share of the bytes",
                                 out_.byte_skew));
    }
    if (bytes_.hot_by_time() && facts_.has_times) {
      by_time_ = true;
      warn("hot_by_time",
           fmt::format("{} of items written one after the other share a value: what is new goes "
                       "to one partition",
                       percent(bytes_.near)));
    }
  }

  // Of a property, when more items were read than the sample has: what the sketch of all of them
  // proves, if it is more than `sampled` bytes at the horizon.
  double largest_of_all_read(double sampled) {
    const KeyPart& part = out_.key.levels.front().parts.front();
    const auto place = facts_.place_of(part.path);
    const bool read_more = facts_.items_seen > static_cast<double>(facts_.items.size());
    if (!place || out_.key != single_key(part.path) || !read_more) return sampled;
    const SpaceSaving& sketch = facts_.statistics[*place].heaviest;
    const auto heaviest = sketch.heaviest();
    if (heaviest.empty() || sketch.total() <= 0) return sampled;
    const auto& first = *std::ranges::max_element(
        heaviest, {}, [](const SpaceSaving::Counter& one) { return one.lower_bound(); });
    const double now = first.lower_bound() / sketch.total() * facts_.container_bytes;
    const double then = now * (facts_.tracked[*place].is_time ? 1 : facts_.growth);
    if (then <= sampled) return sampled;
    out_.largest_value = value_text(first.value);
    out_.largest_bytes = now;
    out_.largest_at_horizon = then;
    return then;
  }

  std::string when_text() const {
    if (out_.limit_day <= 0) return "";
    if (out_.limit_day <= facts_.now) return ", which it has passed";
    return fmt::format(", which it reaches on {}", date_text(out_.limit_day));
  }

  // The busiest partition's share where boundaries follow bytes. `full_share`: of the busiest whole
  // key, which no split divides.
  double share_after_splits(const Spread& first, const Spread& full, double full_share) const {
    double m = kSplitUnevenness / n_;
    // One standard error less than seen: the largest of many is seen too large.
    const auto sober = [](const Spread& spread) {
      const double f = spread.largest_share();
      return spread.count == 0 ? 0 : std::max(0.0, f - std::sqrt(f / spread.count));
    };
    if (!first.groups.empty()) {
      m = std::max(
          m, sober(first) / partitions_filled(first.groups.front().hash, first.largest_share()));
    }
    return std::max({m, sober(full), full_share});
  }

  // Partitions that a value of the first level fills, when splits made most of them. `share`: its
  // share of the requests.
  double partitions_filled(uint64_t first, double share) const {
    if (values_.levels() < 2) return 1;
    // Marks that cannot be compared with items: what is asked for the most is taken to be large.
    const double held =
        facts_.marks_only ? std::min(share, holdings_.largest_share()) : holdings_.share(1, first);
    return std::max(1.0, held * n_);
  }

  void judge_requests();
  void judge_heat(const std::vector<Entry>& first_entries, const std::vector<Entry>& full_entries);
  void judge_batches();

  void judge_simplicity() {
    double s = std::pow(0.98, static_cast<double>(values_.levels() - 1));
    for (const KeyLevel& level : out_.key.levels) {
      if (level.parts.size() > 1) s *= 0.96;
      if (level.suffix != 0) s *= 0.96;
      for (const KeyPart& part : level.parts) {
        if (part.period != Period::none) s *= 0.97;
      }
    }
    out_.simplicity = s;
  }

  const Facts& facts_;
  const Rows& rows_;
  KeyValues values_;
  Holdings holdings_;
  Spread bytes_;
  double n_;
  Scored out_;
  bool by_time_ = false;
  double proven_busiest_ru_ = 0;
  double demand_per_ru_ = 0;  // RU/s to plan for, for one RU of the sample
};

void Judge::judge_requests() {
  const double t = facts_.settings.partition_throughput;
  double charged = 0;
  double ideal = 0;
  double keyed = 0;
  double fanned = 0;
  double reads = 0;
  double fan_out = 0;
  double requests = 0;
  std::vector<Entry> first;
  std::vector<Entry> full;
  out_.shapes.resize(facts_.shapes.size());
  for (const uint32_t row : rows_.requests) {
    const FactRequest& request = facts_.requests[row];
    const Asked asked = ask(facts_, values_, holdings_, row);
    const double cost = asked.cost * request.weight;
    charged += request.ru * request.weight;
    ideal += ideal_cost(facts_, request) * request.weight;
    requests += request.weight;
    (asked.keyed ? keyed : fanned) += cost;
    if (asked.keyed) {
      first.push_back({asked.first, cost, row});
      full.push_back({asked.full != 0 ? asked.full : mix(asked.first, row), cost, row});
    }
    if (!has_body(facts_.shapes[request.shape].operation)) {
      reads += request.weight;
      fan_out += request.weight * (asked.partitions - 1) / (n_ - 1);
    }
    ShapeCost& shape = out_.shapes[request.shape];
    shape.requests += request.weight;
    shape.partitions += asked.partitions * request.weight;
    shape.ru += cost;
    shape.fan_out_ru += kPageRu * (asked.partitions - 1) * request.weight;
  }
  for (ShapeCost& shape : out_.shapes) {
    if (shape.requests <= 0) continue;
    shape.partitions /= shape.requests;
    shape.ru /= shape.requests;
    shape.fan_out_ru /= shape.requests;
    shape.requests /= requests;
  }
  out_.fan_out = reads > 0 ? fan_out / reads : 0;
  out_.locality = 1 - 0.35 * out_.fan_out;
  if (out_.fan_out > 0.3) {
    warn("fan_out", fmt::format("reads and queries ask {:.1f} of {:.0f} partitions on average",
                                1 + out_.fan_out * (n_ - 1), n_));
  }
  demand_per_ru_ = charged > 0 ? facts_.peak_ru / charged / kMostUse : 0;
  out_.keyed_ru = keyed * demand_per_ru_;
  out_.ideal_ru = ideal * demand_per_ru_;
  judge_heat(first, full);
  out_.needed_ru = out_.keyed_ru * out_.request_skew + fanned * demand_per_ru_;
  out_.cost =
      std::max(kLeastThroughput, out_.ideal_ru) / std::max(kLeastThroughput, out_.needed_ru);
  out_.cost = std::min(1.0, out_.cost);
  judge_batches();
  // One value's need, whatever is bought.
  if (proven_busiest_ru_ > kMostOfPartition * t) {
    disqualify("hot_key", fmt::format("'{}' alone needs {} RU/s, and a partition serves {}: no "
                                      "throughput helps",
                                      out_.busiest_value, number(out_.busiest_ru), number(t)));
  } else if (out_.busiest_ru > 0.5 * facts_.throughput / n_) {
    warn("hot_key",
         fmt::format("'{}' alone needs {} RU/s, of {} that each partition has", out_.busiest_value,
                     number(out_.busiest_ru), number(facts_.throughput / n_)));
  }
}

void Judge::judge_heat(const std::vector<Entry>& first_entries,
                       const std::vector<Entry>& full_entries) {
  const Place place = [this](const Group& group) {
    return values_.place(facts_.requests[group.row], group.row, static_cast<uint32_t>(n_));
  };
  const Spread first = spread_of(first_entries);
  const Spread full = spread_of(full_entries);
  double m =
      facts_.cut_by_bytes ? share_after_splits(first, full, 0) : busiest_share(first, n_, place);
  if (first.groups.empty()) {
    out_.request_skew = 1;
    return;
  }
  // The busiest value: of the whole key, or of the first level as far as that is one partition.
  // Twice: as far as the sample proves it, and as seen.
  const double filled =
      facts_.cut_by_bytes ? partitions_filled(first.groups.front().hash, first.largest_share()) : 1;
  double proven = std::max(first.lower_share(first.groups.front()) / filled,
                           full.lower_share(full.groups.front()));
  double busiest = std::max(first.largest_share() / filled, full.largest_share());
  // `fills`: whether a value may lie in several partitions, as a first level does after splits.
  const auto in_time = [&](const Spread& spread, const std::vector<Entry>& entries, bool fills) {
    if (spread.near <= 2 * spread.concentration) return;
    double mean_m = 0;
    double mean_proven = 0;
    double mean_busiest = 0;
    const auto windows = windows_of(entries);
    for (const auto window : windows) {
      const Spread one = spread_of(window);
      if (one.groups.empty()) continue;
      const Group& front = one.groups.front();
      const double part = 1 / static_cast<double>(windows.size()) /
                          (fills ? partitions_filled(front.hash, one.largest_share()) : 1);
      mean_proven += one.lower_share(front) * part;
      mean_busiest += one.largest_share() * part;
      mean_m +=
          facts_.cut_by_bytes ? one.largest_share() * part : busiest_share(one, n_, place) * part;
    }
    m = std::max(m, mean_m);
    if (!fills) {
      const double deviation =
          std::sqrt(2 * std::log(n_)) * std::sqrt(spread.near * (1 - 1 / n_) / n_);
      m = std::max(m, std::min(1.0, 1 / n_ + deviation));
    }
    proven = std::max(proven, mean_proven);
    busiest = std::max(busiest, mean_busiest);
  };
  in_time(full, full_entries, false);
  if (values_.levels() > 1) in_time(first, first_entries, facts_.cut_by_bytes);
  out_.request_skew = std::max(1.0, n_ * m);
  out_.busiest_share = busiest;
  out_.busiest_ru = busiest * out_.keyed_ru;
  proven_busiest_ru_ = proven * out_.keyed_ru;
  out_.busiest_value =
      values_.text_of(facts_.requests[first.groups.front().row], first.groups.front().row, 1);
  if (full.hot_by_time() && !by_time_) {
    warn("hot_by_time",
         fmt::format("{} of requests one after the other go to the same value: one partition "
                     "works while the others wait",
                     percent(full.near)));
  }
  if (out_.request_skew > kEvenEnough && !out_.has("uneven")) {
    warn("uneven", fmt::format("the busiest partition gets {:.1f} times its share of the requests",
                               out_.request_skew));
  }
}

void Judge::judge_batches() {
  double batches = 0;
  double broken = 0;
  for (const uint32_t row : rows_.requests) {
    const FactRequest& request = facts_.requests[row];
    if (request.batch.empty()) continue;
    batches += request.weight;
    if (!values_.keeps_together(request, row)) broken += request.weight;
  }
  if (batches <= 0 || broken <= 0.01 * batches) return;
  disqualify("breaks_transactions",
             fmt::format("the items of {} of the batches would have different keys, and a "
                         "transaction is within one",
                         percent(broken / batches)));
}

}  // namespace

bool Scored::has(std::string_view code) const {
  return contains(hard, code, &Finding::code) || contains(warnings, code, &Finding::code);
}

Scored score_key(const Facts& facts, const KeyExpression& key, const Rows& rows) {
  return Judge(facts, key, rows).judge();
}

}  // namespace orrery::advise
