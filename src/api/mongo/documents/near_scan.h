// The documents around a point, the nearest first, from a 2dsphere index.
//
// It reads the cells (value/spatial.h) within a distance of the point, then those within a larger
// one, and so on. A document is given once everything that is as near has been read: so no more of
// the index is read than the documents that are asked for need, within a factor. Snapshots are let
// go of between one distance and the next. What is written meanwhile may be seen or not; no
// document is given twice.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/index_plan.h"
#include "api/mongo/documents/index_walk.h"
#include "api/mongo/documents/near_queue.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {

class NearScan {
 public:
  static constexpr size_t kSeenBytesMax = size_t{100} << 20;

  // `index` has places of near.path. Null: the container's index does not have them, or not all of
  // them yet. `near` and `evaluation` outlive it.
  static Answer<std::unique_ptr<NearScan>> open(const HandlerContext& context,
                                                cluster::RoutingPtr routing, const ScanRange& range,
                                                const Matcher::Near& near, const IndexSpec& index,
                                                Evaluation& evaluation);

  // As Scan's.
  Answer<std::optional<std::string_view>> next();
  std::string_view key() const { return given_.key; }
  uint64_t items_read() const { return items_; }
  uint64_t bytes_read() const { return bytes_; }
  uint64_t keys_read() const { return entries_; }
  const cluster::RoutingPtr& routing() const { return routing_; }
  const IndexSpec& index() const { return index_; }
  size_t memory() const { return queue_.bytes() + seen_bytes_; }

 private:
  NearScan(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range,
           const Matcher::Near& near, const IndexSpec& index, Evaluation& evaluation);
  // Reads what is farther than what was read.
  Answer<void> widen();
  Answer<void> read_lane(IndexLane& lane, const std::vector<TermRange>& ranges);
  Answer<void> fetch(IndexLane& lane, std::vector<std::string>& keys);
  // The ranges of the index that have what is within a distance.
  std::vector<TermRange> ranges_within(double distance_m) const;

  const HandlerContext& context_;
  cluster::RoutingPtr routing_;
  const cluster::RoutingPtr definition_ = routing_;  // has what index_ refers to
  const ScanRange range_;
  const Matcher::Near& near_;
  const IndexSpec& index_;
  Evaluation& evaluation_;
  const double farthest_m_;              // nothing is asked for beyond it
  std::vector<std::string> term_paths_;  // with arrays on the way and without
  std::vector<TermRange> read_;          // ascending and apart
  double reach_m_ = 0;                   // everything within it was read
  bool is_all_read_ = false;
  int lost_views_ = 0;  // in a row
  std::unordered_set<std::string> seen_;
  size_t seen_bytes_ = 0;
  NearQueue queue_;
  NearQueue::Document given_;
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace orrery::mongo
