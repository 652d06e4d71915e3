// The keys of the items that index entries name, in ascending order and without repeats: what an
// index plan comes down to when it runs. Streams read a view and live no longer than it.
//
// One term's entries are in the order of keys already; unions merge, intersections leap from one
// stream's key to the next not smaller one of the other. A range of many terms is walked, and its
// smallest keys are kept and sorted; when they are used up it is walked again from there. Of a
// range of one term, whose keys are in order, only the part that matters is walked.
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

// What it takes, in steps of a budget: the next entry, and to go to a place in the index.
inline constexpr uint64_t kStepsOfEntry = 8;
inline constexpr uint64_t kStepsOfSeek = 64;

class KeyCursor {
 public:
  virtual ~KeyCursor() = default;
  // Moves on; false after the last key.
  virtual Result<bool> next() = 0;
  // Moves to the first key that is not before this one, and not before where it stands.
  virtual Result<bool> seek(std::string_view key) = 0;
  // Valid until it moves.
  virtual std::string_view key() const = 0;
};

// What streams read from, and what they tell about it.
struct KeyReader {
  const ItemView& view;
  ReadCounts& counts;
  Context& context;
};

// The keys of one term.
Result<std::unique_ptr<KeyCursor>> stream_point(const KeyReader& reader, const TermRange& point);
// The keys of all entries in these ranges that pass the test of a node; null: all pass. `kept_max`
// is how many keys are held at a time.
std::unique_ptr<KeyCursor> stream_ranges(const KeyReader& reader, std::vector<TermRange> ranges,
                                         const IndexNode* tested, size_t kept_max);
std::unique_ptr<KeyCursor> stream_union(std::vector<std::unique_ptr<KeyCursor>> streams);
// The first stream should be the shortest. After every `pause_after` steps (0: never) it stands at
// a key that is not common to all, for the caller to look at its clock.
class Intersection : public KeyCursor {
 public:
  virtual bool is_common() const = 0;
};
std::unique_ptr<Intersection> stream_intersection(std::vector<std::unique_ptr<KeyCursor>> streams,
                                                  uint64_t pause_after, Budget& budget);

// Whether the value of an entry's term passes a test; where the term does not tell, it may.
class TermTester {
 public:
  // Everything passes where the node has no test, or is null.
  TermTester(const IndexNode* node, Context& context);
  // Whether it may pass; `is_sure` is set to false when only the item can tell.
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
