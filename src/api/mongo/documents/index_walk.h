// The documents that a part of an index has, in the order of the index or against it, read as they
// are asked for. A collection of several partitions is read from all of them at once, and merged.
//
// Documents are read some at a time, from one snapshot of each partition. Snapshots are let go of
// every some thousand documents and when the walk is paused; it goes on behind the last entry. What
// is written meanwhile may be seen or not, and a document whose fields change may be seen twice: so
// it is not for who changes many documents as they come.
//
// Of texts that are too long for the index it has the first part. Documents that are alike as far
// as the index tells are sorted in memory, within kAlikeMax.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/documents/document_view.h"
#include "api/mongo/documents/index_plan.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/match/sort.h"
#include "cluster/engine.h"

namespace orrery::mongo {

// A partition that is read, and what it has of the range.
struct IndexLane {
  DocumentView opened;
  std::unique_ptr<query::EntryCursor> cursor = nullptr;  // of the view

  query::ItemView& view() const { return *opened.view; }
  bool has_entry = false;  // the cursor is at an entry that was not taken yet
};

class IndexWalk {
 public:
  static constexpr size_t kAlikeMax = 10'000;
  static constexpr size_t kLanesMax = 64;

  // The views of all partitions in a range. Nothing: they are too many.
  static Answer<std::optional<std::vector<IndexLane>>> open_lanes(
      const HandlerContext& context, const cluster::RoutingPtr& routing, const ScanRange& range);

  // `lanes` as open_lanes() gave them. `wanted`: how many documents are likely to be read.
  IndexWalk(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range,
            IndexPlan plan, bool is_backwards, std::vector<IndexLane> lanes, uint64_t wanted);

  // As Scan's.
  Answer<std::optional<std::string_view>> next();
  std::string_view key() const { return key_; }
  void pause();
  uint64_t items_read() const { return items_; }
  uint64_t bytes_read() const { return bytes_; }
  uint64_t keys_read() const { return entries_; }
  const cluster::RoutingPtr& routing() const { return routing_; }
  const IndexPlan& plan() const { return plan_; }
  bool is_backwards() const { return is_backwards_; }

  // The keys of all documents that are left, without reading them. Nothing: more than `most`.
  Answer<std::optional<std::vector<std::string>>> take_keys(size_t most);

 private:
  struct Place {
    std::string term;
    std::string key;
  };
  struct Entry {
    Place at;
    size_t lane = 0;
    std::string kept = {};  // its document, when the walk is paused among documents that are alike
  };
  // False: the collection is not there any more.
  Answer<bool> open_again();
  Answer<void> open_range();
  // The lane that has the next entry; nothing at the end.
  Answer<std::optional<size_t>> next_lane();
  Entry take(size_t lane);
  Answer<void> fill();
  Answer<void> fill_alike(const std::string& start);
  Answer<void> fetch();
  Answer<void> sort_page();

  const HandlerContext& context_;
  cluster::RoutingPtr routing_;
  const cluster::RoutingPtr definition_ = routing_;  // has what plan_ refers to
  const ScanRange range_;
  const IndexPlan plan_;
  const bool is_backwards_;
  std::vector<IndexLane> lanes_;  // empty: paused
  size_t ranges_done_ = 0;
  bool has_cursors_ = false;          // of the next range
  std::optional<Place> taken_;        // the last entry that was read
  std::optional<Place> before_page_;  // the last one before page_
  std::optional<Place> resume_;       // where the next range is read from, after a pause
  std::vector<Entry> page_;
  std::vector<std::string_view> bodies_;  // of page_
  size_t next_ = 0;
  bool is_alike_ = false;  // page_ has documents that are alike, sorted
  bool is_done_ = false;
  size_t page_size_;
  int lost_views_ = 0;  // in a row
  uint64_t in_view_ = 0;
  std::string key_;
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace orrery::mongo
