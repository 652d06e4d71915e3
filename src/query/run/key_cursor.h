// Cursors over the keys of items that have an entry in the index: ascending, without duplicates.
// This is how an index plan runs. A cursor lives no longer than its view.
//
// The entries of one term are sorted by key already. A union merges its cursors. An intersection is
// a leapfrog join: each cursor seeks to the key where another one stands. A range of many terms is
// not sorted by key, so all of it is scanned, and the smallest keys are kept and sorted; when they
// are used up it is scanned again for the next ones. Where a range is one term, only the part that
// can hold such keys is scanned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/functions/context.h"
#include "query/plan/index_plan.h"
#include "query/plan/item_view.h"
#include "query/run/read_counts.h"

namespace orrery::query {

// Steps that reading an entry and seeking in the index take from the budget.
inline constexpr uint64_t kStepsOfEntry = 8;
inline constexpr uint64_t kStepsOfSeek = 64;

class KeyCursor {
 public:
  virtual ~KeyCursor() = default;
  // Moves on; false after the last key.
  virtual Result<bool> next() = 0;
  // Moves to the first key >= `key`, never backwards. False at the end.
  virtual Result<bool> seek(std::string_view key) = 0;
  // Valid until it moves.
  virtual std::string_view key() const = 0;
};

// What key cursors read, and where they count what they have read.
struct KeyReader {
  const ItemView& view;
  ReadCounts& counts;
  Context& context;
};

// The keys of one term.
Result<std::unique_ptr<KeyCursor>> point_cursor(const KeyReader& reader, const TermRange& point);
// The keys of all entries in the ranges whose value passes the node's test (null: no test).
// `kept_max` is how many keys are held in memory.
std::unique_ptr<KeyCursor> range_cursor(const KeyReader& reader, std::vector<TermRange> ranges,
                                        const IndexNode* tested, size_t kept_max);
std::unique_ptr<KeyCursor> union_cursor(std::vector<std::unique_ptr<KeyCursor>> cursors);
// An intersection. The first cursor drives it, and should be the one with the fewest keys. After
// every `pause_after` seeks (0: never) next() returns at a key that is not common to all, so that
// the caller can check its deadline: is_common() is false then.
class Intersection : public KeyCursor {
 public:
  virtual bool is_common() const = 0;
};
std::unique_ptr<Intersection> intersection_cursor(std::vector<std::unique_ptr<KeyCursor>> cursors,
                                                  uint64_t pause_after, Budget& budget);

// Evaluates a node's test on the value that an entry's term holds. A term that does not hold the
// whole value (arrays, objects, long strings) may pass.
class TermTester {
 public:
  // Everything passes where the node has no test, or is null.
  TermTester(const IndexNode* node, Context& context);
  // Sets `is_sure` to false when only the item can tell.
  bool passes(std::string_view term, bool& is_sure);

 private:
  const TermTest* test_;
  Context& context_;
  size_t path_size_;
  std::string last_term_;
  bool last_passes_ = false;
  bool last_is_sure_ = true;
};

}  // namespace orrery::query
