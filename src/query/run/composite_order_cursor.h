// The keys of a view in the order of a composite index. It serves ORDER BY several paths, and ORDER
// BY some of them where the filter fixes the values of those before. Every item has exactly one
// entry in a composite index, even one that lacks the values.
//
// Ties are broken by key, in the direction of the first ORDER BY expression, which may be opposite
// to that of the index scan. The index does not hold the order of arrays, of objects, and of long
// strings with a common prefix. The items of such a run are fetched and sorted. A run that exceeds
// the memory limit is sorted part by part, and scanned again for each part.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/run/index_source.h"
#include "query/run/order_cursor.h"
#include "value/composite.h"

namespace orrery::query {

class CompositeOrderCursor final : public OrderCursor {
 public:
  // `narrowed` is the part of the filter on the path after the fixed ones, or null.
  CompositeOrderCursor(const SourceSetting& setting, const IndexNode* narrowed,
                       const SourceStart* start);

  Result<bool> next() override;
  std::string_view key() const override { return key_; }
  bool is_doubtful() const override { return false; }

  // A range that covers all items with the fixed values and the narrowed one. It may hold a few
  // other items at its ends. The order must be that of a composite index.
  static TermRange terms(const IndexPlan& plan, const IndexNode* narrowed);

 private:
  struct Ordered {
    std::vector<value::Value> values;
    std::string key;
    size_t memory() const;
  };

  void start_at(const SourceStart& start);
  // Opens entries_ on the rest of the range.
  Status open();
  Status move();
  Status open_ties(const std::string& term);
  Result<bool> next_tie();
  Status read_run(const std::string& run);
  Status order_items(std::vector<std::string>& keys);
  // Sorts the run in reverse (the next item is last), and drops the tail that does not fit in
  // memory.
  void sort_run();
  void pass_run(std::string_view run);
  bool is_before(const Ordered& a, const Ordered& b) const;

  const SourceSetting setting_;
  const IndexOrder& order_;
  const bool keys_descend_;
  TermRange range_;  // what is left, from the run that is being read on
  std::optional<SourceStart> start_;
  std::string start_run_;  // the run that the start lies in, whether there are entries of it or not

  bool is_open_ = false;
  std::unique_ptr<EntryCursor> entries_;  // stands at the next entry; none: at the end
  std::unique_ptr<EntryCursor> ties_;     // of one term, in the direction of keys
  std::vector<Ordered> run_;              // the next one last
  size_t run_bytes_ = 0;
  std::optional<Ordered> run_end_;  // the first of the run that did not fit
  std::string key_;
};

}  // namespace orrery::query
