// The items that a query reads: those of each view of a space, one view after the other, each open
// only while it is read. The items of a view come in the order of their keys.
//
// This is the one place that decides which items of a view a query looks at, and how it finds them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/bound.h"
#include "query/item_view.h"
#include "value/json.h"

namespace orrery::query {

// What was done to find the rows of a page: what it is charged for, and what its metrics tell.
struct ReadCounts {
  uint64_t items = 0;    // whose bodies were looked at
  uint64_t bytes = 0;    // of them
  uint64_t entries = 0;  // of the index
  bool operator==(const ReadCounts&) const = default;
};

class ItemReader {
 public:
  ItemReader(ItemSpace& space, ReadCounts& counts) : space_(space), counts_(counts) {}

  // Goes on after an item, or at it. Before the first next().
  void start(std::string key, bool inclusive);
  // Moves to the next item; false after the last one.
  Result<bool> next();
  // Of the item at hand; valid until the next one is asked for.
  std::string_view key() const { return items_->key(); }
  const value::Node& item() const { return json_->root(); }

  // The item with this key, as a copy; null when it is not there. Not while items are being read.
  static Result<std::optional<std::string>> find(ItemSpace& space, const std::string& key);

 private:
  Result<bool> open_next_view();

  ItemSpace& space_;
  ReadCounts& counts_;
  std::optional<std::string> after_;
  bool inclusive_ = false;
  std::string view_end_;  // the placement key at which the next view starts
  std::unique_ptr<ItemView> view_;
  std::unique_ptr<ItemCursor> items_;  // of view_
  std::optional<value::JsonDocument> json_;
};

}  // namespace orrery::query
