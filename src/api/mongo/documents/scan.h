// The documents of a collection, or of one of its shard key values, in the order of their keys, or
// from the last to the first. For a collection without a shard key that is the order of _id.
//
// A scan reads one snapshot of a partition at a time, and lets go of it every some thousand
// documents, and when it is paused: a snapshot keeps old data on the disk. It goes on after the
// last key, so a split or a pause in between is not noticed. What is written meanwhile may be seen
// or not.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/documents/document_view.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"

namespace orrery::mongo {

struct ScanRange {
  std::string min;  // placement keys, [min, max)
  std::string max;
  std::string from;  // stored keys of items; empty: from the first
  std::string to;    // empty: to the last
};
ScanRange whole_collection();
ScanRange one_placement(const std::string& placement);

enum class ScanOrder : uint8_t { ascending, descending };

class Scan {
 public:
  // A descending one is of one placement key.
  Scan(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range,
       ScanOrder order = ScanOrder::ascending);

  // The next document's bytes, valid until the next call; nothing at the end.
  Answer<std::optional<std::string_view>> next();
  // Of the document that next() gave: placement and row.
  std::string_view key() const { return last_; }
  void pause();

  const ScanRange& range() const { return range_; }
  bool has_begun() const { return cursor_ != nullptr || is_done_ || !last_.empty(); }
  uint64_t items_read() const { return items_; }
  uint64_t bytes_read() const { return bytes_; }
  const cluster::RoutingPtr& routing() const { return routing_; }

 private:
  Answer<bool> open();
  Answer<void> open_cursor();
  // Whether the cursor has left the range.
  bool is_out_of_range() const;

  const HandlerContext& context_;
  cluster::RoutingPtr routing_;
  const ScanRange range_;
  const ScanOrder order_;
  std::string placement_;  // where the view that is open, or to be opened, begins
  std::string last_;       // the key of the last document that was seen
  DocumentView view_;
  std::unique_ptr<query::ItemCursor> cursor_;  // of the view
  int lost_views_ = 0;                         // in a row
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;
  uint64_t in_view_ = 0;
  bool is_done_ = false;
};

// One command's, or one batch's, use of a collection's throughput: admitted before it reads, paid
// after. Over budget, it waits for a while; then it fails with code 16500.
Answer<void> admit(const HandlerContext& context, const cluster::RoutingPtr& routing,
                   std::string_view placement);
// The charge.
double pay(const HandlerContext& context, const cluster::RoutingPtr& routing,
           std::string_view placement, uint64_t items, uint64_t bytes, uint64_t bytes_returned);

// How long a command waits, all in all, for throughput.
inline constexpr int64_t kThrottledWaitMs = 3'000;
// Waits as long as an error says, if that is within `left_ms`, and takes it off. False: it is not.
bool wait_for_throughput(const orrery::Error& error, int64_t& left_ms);

}  // namespace orrery::mongo
