// See near_scan.h.
#include "api/mongo/documents/near_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/match/geo_region.h"
#include "api/mongo/match/geo_shapes.h"
#include "value/spatial.h"
#include "value/terms.h"

namespace orrery::mongo {
namespace {

constexpr double kFirstReachM = 100;
// A distance that leaves fewer entries to read is too small to be worth a round.
constexpr uint64_t kRoundEntries = 64;
constexpr size_t kNearPage = 128;
constexpr uint64_t kStepsOfEntry = 8;
constexpr int32_t kNearPlanKilled = 175;
constexpr double kHalfAroundM = std::numbers::pi * kEarthRadiusM;

// Those of `ranges` that are not in `taken`. Both are ascending and apart.
std::vector<TermRange> without(const std::vector<TermRange>& ranges,
                               const std::vector<TermRange>& taken) {
  std::vector<TermRange> rest;
  size_t at = 0;
  for (const auto& [from, to] : ranges) {
    std::string start = from;
    while (at < taken.size() && taken[at].second <= start) ++at;
    for (size_t i = at; i < taken.size() && taken[i].first < to; ++i) {
      if (start < taken[i].first) rest.emplace_back(start, taken[i].first);
      start = std::max(start, taken[i].second);
    }
    if (start < to) rest.emplace_back(std::move(start), to);
  }
  return rest;
}

std::vector<TermRange> joined(std::vector<TermRange> ranges) {
  std::ranges::sort(ranges);
  std::vector<TermRange> all;
  for (TermRange& range : ranges) {
    if (!all.empty() && range.first <= all.back().second) {
      all.back().second = std::max(all.back().second, range.second);
    } else {
      all.push_back(std::move(range));
    }
  }
  return all;
}

uint64_t entries_in(const std::vector<IndexLane>& lanes, const std::vector<TermRange>& ranges) {
  uint64_t entries = 0;
  for (const IndexLane& lane : lanes) {
    for (const auto& [from, to] : ranges) entries += lane.view().estimate({from, to});
  }
  return entries;
}

}  // namespace

NearScan::NearScan(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range,
                   const Matcher::Near& near, const IndexSpec& index, Evaluation& evaluation)
    : context_(context),
      routing_(std::move(routing)),
      range_(std::move(range)),
      near_(near),
      index_(index),
      evaluation_(evaluation),
      farthest_m_(std::min(near.max_distance_m.value_or(kHalfAroundM), kHalfAroundM)),
      queue_(near, evaluation) {
  for (const value::Path& path : with_arrays(path_of(near.path), false)) {
    term_paths_.push_back(value::term_path(path));
  }
}

Answer<std::unique_ptr<NearScan>> NearScan::open(const HandlerContext& context,
                                                 cluster::RoutingPtr routing,
                                                 const ScanRange& range, const Matcher::Near& near,
                                                 const IndexSpec& index, Evaluation& evaluation) {
  if (!has_places(routing->container->spec, near.path)) return nullptr;
  auto lanes = IndexWalk::open_lanes(context, routing, range);
  // The scan that comes in its place tells why.
  if (!lanes || !*lanes) return nullptr;
  const bool is_whole =
      std::ranges::all_of(**lanes, [](const IndexLane& lane) { return lane.view().is_indexed(); });
  if (!is_whole) return nullptr;
  return std::unique_ptr<NearScan>(
      new NearScan(context, std::move(routing), range, near, index, evaluation));
}

std::vector<TermRange> NearScan::ranges_within(double distance_m) const {
  std::vector<TermRange> ranges;
  const auto region = region_around(near_, distance_m);
  if (!region) return ranges;
  for (const std::string& path : term_paths_) {
    for (auto& [from, to] : value::spatial_ranges(path, region->shape, region->widened_m)) {
      ranges.emplace_back(std::move(from), std::move(to));
    }
  }
  return joined(std::move(ranges));
}

Answer<void> NearScan::fetch(IndexLane& lane, std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  auto bodies = lane.view().fetch(keys);
  if (!bodies) return pass(engine_error(bodies.error()));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!seen_.insert(keys[i]).second) continue;
    seen_bytes_ += keys[i].size() + sizeof(keys[i]);
    const std::string_view body = (*bodies)[i];
    if (body.empty()) continue;  // gone since, or expired
    ++items_;
    bytes_ += body.size();
    if (auto added = queue_.add(keys[i], body); !added) return added;
  }
  if (seen_bytes_ > kSeenBytesMax) {
    return refuse(kQueryExceededMemory,
                  fmt::format("more than {} bytes of keys were read around a point: ask for a "
                              "smaller $maxDistance",
                              kSeenBytesMax));
  }
  keys.clear();
  return {};
}

Answer<void> NearScan::read_lane(IndexLane& lane, const std::vector<TermRange>& ranges) {
  std::vector<std::string> page;
  for (const auto& [from, to] : ranges) {
    auto cursor = lane.view().entries({from, to}, false, nullptr);
    if (!cursor) return pass(engine_error(cursor.error()));
    for (;;) {
      auto found = (*cursor)->next();
      if (!found) return pass(engine_error(found.error()));
      if (!*found) break;
      ++entries_;
      // A large shape has many entries: they take time also when its document was read before.
      if (auto spent = evaluation_.spend(kStepsOfEntry); !spent) return spent;
      std::string key((*cursor)->key());
      if (!seen_.contains(key)) page.push_back(std::move(key));
      if (page.size() < kNearPage) continue;
      if (auto fetched = fetch(lane, page); !fetched) return fetched;
    }
  }
  return fetch(lane, page);
}

Answer<void> NearScan::widen() {
  auto lanes = IndexWalk::open_lanes(context_, routing_, range_);
  if (!lanes) return pass(std::move(lanes.error()));
  const bool is_there = *lanes && std::ranges::all_of(**lanes, [](const IndexLane& lane) {
    return lane.view().is_indexed();
  });
  if (!is_there) {
    return refuse(kNearPlanKilled,
                  fmt::format("the indexes were changed while '{}' was read", index_.name));
  }
  double reach = std::max(2 * reach_m_, kFirstReachM);
  std::vector<TermRange> rest;
  for (;; reach *= 4) {
    reach = std::min(reach, farthest_m_);
    rest = without(ranges_within(reach), read_);
    if (reach >= farthest_m_ || entries_in(**lanes, rest) >= kRoundEntries) break;
  }
  for (IndexLane& lane : **lanes) {
    if (auto read = read_lane(lane, rest); !read) return read;
  }
  rest.insert(rest.end(), read_.begin(), read_.end());
  read_ = joined(std::move(rest));
  reach_m_ = reach;
  is_all_read_ = reach >= farthest_m_;
  return {};
}

Answer<std::optional<std::string_view>> NearScan::next() {
  for (;;) {
    if (!queue_.empty() && (is_all_read_ || queue_.distance_m() <= reach_m_)) {
      given_ = queue_.take();
      return std::optional<std::string_view>(given_.body);
    }
    if (is_all_read_) return std::optional<std::string_view>();
    auto widened = widen();
    // A view at another node is gone: what it gave is seen, and the rest is read again.
    if (!widened && context_.remote && widened.error().code == kWriteConflict &&
        ++lost_views_ < kLostViewsMax) {
      continue;
    }
    if (!widened) return pass(std::move(widened.error()));
    lost_views_ = 0;
  }
}

}  // namespace orrery::mongo
