// The keys of a view in the order of the values at one path: a scan of the path's entries in either
// direction. Items without a value come first in ascending order, and last in descending order.
//
// Ties are broken by key, in the direction of the scan. The index does not hold the order of
// arrays, of objects, and of long strings with a common prefix. The items of such a run are fetched
// and sorted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/plan/term_ranges.h"
#include "query/run/index_source.h"
#include "query/run/key_cursor.h"
#include "query/run/order_cursor.h"

namespace orrery::query {

class PathOrderCursor final : public OrderCursor {
 public:
  // `narrowed` is the part of the filter on this path. Null: there is none, and the scan includes
  // items without a value.
  PathOrderCursor(const SourceSetting& setting, const IndexNode* narrowed,
                  const SourceStart* start);

  Result<bool> next() override;
  std::string_view key() const override { return key_; }
  bool is_doubtful() const override { return is_doubtful_; }
  bool is_pause() const override { return is_pause_; }
  value::Value value() const override { return value_; }

  // Estimate of the items that the index has in no order: in the json order those with an array or
  // an object at the path. Those of either type are one run, which is fetched and sorted at once.
  static uint64_t unordered_items(const ItemView& view, const IndexPlan& plan);

 private:
  struct Stretch {
    std::optional<TermRange> range;  // of entries; none: the items without a value
    std::optional<ItemView::Place> after;
    bool seek_first = false;  // `after` itself is part of it
  };
  struct Shape {
    std::unique_ptr<EntryCursor> cursor;
    bool is_doubtful = false;
  };
  struct Ordered {
    value::Value value;
    std::string key;
  };

  void lay_out(const IndexNode* narrowed);
  // Where undefined stands among the terms. No entry has it.
  std::string term_of_undefined() const;
  void start_at(const SourceStart& start);
  Status open_stretch();
  Status open_shapes(const Stretch& stretch);
  Result<bool> next_without();
  Result<bool> next_entry();
  Result<bool> move_entry();
  // Fetches and sorts the run at which the cursor stands.
  Status read_run();
  Status order_items(std::vector<std::string>& keys);
  bool is_before(const Ordered& a, const Ordered& b) const;

  const SourceSetting setting_;
  const value::Path& order_path_;
  const std::string path_;  // as in terms
  const bool descending_;
  TermTester tester_;
  std::vector<Stretch> stretches_;  // those to come, the next one last
  std::optional<SourceStart> start_in_run_;

  std::vector<Shape> shapes_;  // open ones
  std::unique_ptr<EntryCursor> entries_;
  bool entry_waits_ = false;  // the cursor stands at an entry that has not been given
  std::vector<Ordered> run_;  // the next one last
  size_t run_bytes_ = 0;
  std::string key_;
  value::Value value_;
  bool is_doubtful_ = false;
  bool is_pause_ = false;
};

}  // namespace orrery::query
