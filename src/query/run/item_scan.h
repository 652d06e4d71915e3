// Reads the items that a query needs from all views of a space. One view is open at a time. Within
// a view the scan goes through the index where that is cheaper (index_source.h). Items come in key
// order, or, on request and where an index has it, in the order of ORDER BY within each view.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/functions/context.h"
#include "query/plan/index_plan.h"
#include "query/plan/item_view.h"
#include "query/run/index_only.h"
#include "query/run/index_source.h"
#include "query/run/page.h"
#include "query/run/read_counts.h"
#include "value/document.h"

namespace orrery::query {

// The index plan of a scan for this query.
IndexPlan plan_scan(ItemSpace& space, const BoundQuery& query, Context& context);

class ItemScan {
 public:
  ItemScan(const PageInput& input, const BoundQuery& query, ReadCounts& counts);

  // Starts after the item with this key, or at it. To be called before the first next().
  void start(std::string key, bool inclusive);
  // Starts in the order of ORDER BY; null: at the first item. A view without an index in this order
  // gives all its items in key order. After start() as well, the views before that key are skipped.
  // The view that holds the key starts there if it is in key order.
  void start_in_order(std::optional<SourceStart> start);
  // Allows an index-only scan (index_only.h), from the first item on: items that the query cannot
  // tell apart may come as one, through alike().
  void start_alike() { wants_alike_ = true; }
  // For a query that returns whole items: the body of an item is not parsed when it is
  // known to pass the filter, and, in a scan in order, its order value is known.
  void show_whole() { shows_whole_ = true; }
  // Moves to the next item; false at the end. `wanted` is how many items the caller expects to
  // read.
  Result<bool> next(size_t wanted);
  // Valid until next(). A key without an item (has_item() is false) is a position at which the
  // caller can check its deadline and stop.
  std::string_view key() const { return at_->key; }
  bool has_item() const { return alike_ || !at_->body.empty(); }
  const value::Node& item() const { return item_->root(); }
  // Whether the item passes the filter and was not parsed: there is body(), and no item().
  bool is_text_alone() const {
    return !alike_ && shows_whole_ && at_->passes && (!wants_order_ || at_->order != nullptr);
  }
  std::string_view body() const { return at_->body; }
  // The value of ORDER BY, for an item that was not parsed, in a scan in order.
  const value::Value& order_value() const { return *at_->order; }
  // Of an index-only scan, instead of key() and item(); null when this view is read in another way.
  const AlikeItems* alike() const { return alike_ ? alike_at_ : nullptr; }

  // Whether the items of the view at hand come in the order of ORDER BY.
  bool in_order() const { return in_order_; }
  // Skips the rest of the current view.
  void leave_view();
  // How many views were opened so far, the one at hand included.
  size_t views() const { return views_; }
  // The placement key at which the next view starts; null when the current one is the last.
  Result<std::optional<std::string>> next_view();

  // Looks an item up and copies its body; null when there is none. Not to be called during a scan.
  static Result<std::optional<std::string>> find(ItemSpace& space, const std::string& key);

 private:
  Result<bool> open_next_view(size_t wanted);
  // Moves to the position between the view that was closed and the next one.
  bool stand_between_views();

  ItemSpace& space_;
  Context& context_;
  ReadCounts& counts_;
  const std::optional<IndexPlan> own_plan_;
  const IndexPlan& plan_;
  std::optional<SourceStart> start_;           // in key order
  std::optional<SourceStart> start_in_order_;  // by ORDER BY
  bool wants_order_ = false;
  bool in_order_ = false;
  bool wants_alike_ = false;
  bool shows_whole_ = false;
  size_t views_ = 0;      // opened so far
  std::string view_end_;  // the placement key at which the next view starts
  std::unique_ptr<ItemView> view_;
  std::unique_ptr<ItemSource> items_;   // of view_
  std::unique_ptr<AlikeSource> alike_;  // of view_, instead of items_
  const SourceItem* at_ = nullptr;
  std::string between_;  // as a key, where it stands between two views
  SourceItem place_between_;
  const AlikeItems* alike_at_ = nullptr;
  std::optional<value::Document> item_;
};

}  // namespace orrery::query
