// What the advisor knows of a container: its sampled items and requests as tables of small numbers,
// its size, its throughput, and the number of partitions that all keys are judged with.
//
// Made once from an ItemSample and a Workload; not changed after that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/item_sample.h"
#include "advise/key_expression.h"
#include "advise/values.h"
#include "advise/workload.h"

namespace orrery::advise {

struct Settings {
  std::optional<double> throughput;  // RU/s; else the workload's, else 400
  double horizon_s = 365.0 * 86'400;
  std::optional<double> growth_bytes_per_month;  // else as the items grew until now
  std::vector<uint32_t> known;                   // paths that callers of point operations have too
  std::vector<KeyExpression> keys;               // further keys to score
  std::optional<std::vector<uint32_t>> partition_key;  // the present one; else the workload's
  double logical_limit_bytes = 0;
  double physical_limit_bytes = 0;
  double partition_throughput = 0;
  double longest_key_bytes = 0;
};

struct TrackedPath {
  uint32_t path = 0;
  bool is_time = false;
  TimeForm form = TimeForm::instant;
  double used_ru = 0;  // of requests that name it in an equality; bodies do not count
  double updates = 0;  // that would have shown a change
  double changed = 0;
};

struct FactItem {
  std::vector<uint32_t> values;  // by tracked path
  std::vector<double> times;
  double t = 0;
  double bytes = 0;
};

struct FactRequest {
  // Besides numbers of values:
  static constexpr uint32_t kNotKnown = UINT32_MAX;
  static constexpr uint32_t kUnseen = UINT32_MAX - 1;  // the caller has it, the recording does not

  double t = 0;
  uint32_t shape = 0;
  double ru = 0;
  double weight = 1;             // requests of the container that it stands for
  std::vector<uint32_t> values;  // by tracked path
  std::vector<double> times;     // by tracked path: the newest time it names; NaN: none
  std::vector<double> widths;
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> lists;  // by tracked path
  std::vector<std::vector<uint32_t>> batch;                       // values of its further items
};

struct Facts {
  Facts(const PathTable& table, Marker marker) : paths(&table), values(std::move(marker)) {}

  const PathTable* paths;
  Settings settings;
  ValueTable values;
  std::vector<TrackedPath> tracked;
  uint32_t id = 0;  // the tracked path /id
  std::vector<PathStatistics> statistics;
  std::vector<FactItem> items;        // by time
  std::vector<FactRequest> requests;  // by time
  std::vector<Shape> shapes;
  std::optional<KeyExpression> present_key;

  double items_read = 0;       // versions included
  double items_seen = 0;       // without earlier versions
  double container_items = 0;  // at least items_seen
  double container_bytes = 0;
  double sampled_requests = 0;  // single requests that were recorded
  double refused_share = 0;     // of all that were sent: over the throughput that there was
  bool has_workload = false;
  bool marks_only = false;  // marks of the requests cannot be compared with items
  bool has_times = false;
  double now = 0;
  double age_s = 0;
  double growth = 1;          // size at the horizon, of the present one
  double throughput = 0;      // RU/s
  double peak_ru = 0;         // RU/s in the busiest hours, as charged
  double partitions = 4;      // N
  bool cut_by_bytes = false;  // most partitions came from splits, whose boundaries follow bytes

  // The tracked path's place, if it is tracked.
  std::optional<uint32_t> place_of(uint32_t path) const;
};

// Paths that the items must be read for, the most important first.
std::vector<uint32_t> wanted_paths(const Workload& workload, const Settings& settings);

Facts make_facts(const PathTable& paths, const Settings& settings, ItemSample sample,
                 Workload workload, bool has_workload);

}  // namespace orrery::advise
