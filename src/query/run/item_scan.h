// The items that a query reads: those of each view of a space, one view after the other, each open
// only while it is read. Which items of a view a query has to look at is found through the index
// (index_source.h). They come in the order of their keys, or, where that is asked for and the index
// serves it, in the order of ORDER BY.
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
#include "query/run/read_counts.h"
#include "value/json.h"

namespace orrery::query {

class ItemScan {
 public:
  ItemScan(ItemSpace& space, const BoundQuery& query, Context& context, ReadCounts& counts);

  // Before the first next(), to go on after an item, or at it.
  void start(std::string key, bool inclusive);
  // The same in the order of ORDER BY; null: from the first. A view whose index does not serve this
  // order gives all its items by their keys. With start() too, the views before that key are left
  // out, and its own goes on from there if it is one of the latter.
  void start_in_order(std::optional<SourceStart> start);
  // The same from the first, for a caller that does not mind which item is which: those that the
  // query cannot tell apart may come as one.
  void start_alike() { wants_alike_ = true; }
  // For a caller that shows items whole: those that are known to pass the filter, and whose order
  // is known where that is asked for, come as their text alone.
  void show_whole() { shows_whole_ = true; }
  // Moves to the next item; false after the last one. `wanted` is how many more the caller thinks
  // it will take.
  Result<bool> next(size_t wanted);
  // Of the item at hand; valid until the next one is asked for. There may be a key without an item:
  // a place where to look at the clock, and to stop.
  std::string_view key() const { return at_->key; }
  bool has_item() const { return alike_ || !at_->body.empty(); }
  const value::Node& item() const { return json_->root(); }
  // Whether the item passes the filter and is there as body() alone, and not as item().
  bool is_text_alone() const {
    return !alike_ && shows_whole_ && at_->passes && (!wants_order_ || at_->order != nullptr);
  }
  std::string_view body() const { return at_->body; }
  // What ORDER BY sorts it by, for a text alone that comes in order.
  const value::Value& order_value() const { return *at_->order; }
  // Instead of key() and item(), for items that come as one; null when one came alone.
  const AlikeItems* alike() const { return alike_ ? alike_at_ : nullptr; }

  // Whether the items of the view at hand come in the order of ORDER BY.
  bool in_order() const { return in_order_; }
  // No further item of the view at hand is wanted.
  void leave_view();
  // How many views were opened so far, the one at hand included.
  size_t views() const { return views_; }
  // The placement key at which the view after the one at hand starts; null when there is none.
  Result<std::optional<std::string>> next_view();

  // The item with this key, as a copy; null when it is not there. Not while items are being read.
  static Result<std::optional<std::string>> find(ItemSpace& space, const std::string& key);

 private:
  Result<bool> open_next_view(size_t wanted);
  // The place between the view that was left and the next one.
  bool stand_between_views();

  ItemSpace& space_;
  Context& context_;
  ReadCounts& counts_;
  const IndexPlan plan_;
  std::optional<SourceStart> start_;           // by key
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
  std::optional<value::JsonDocument> json_;
};

}  // namespace orrery::query
