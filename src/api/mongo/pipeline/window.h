// Window functions of $setWindowFields: a value for each document of a sorted partition, made of
// the documents in its window.
//
// Functions are immutable; any thread may call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/expression/date_arithmetic.h"
#include "api/mongo/expression/sort_key.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {

// The documents of a partition, in the order of sortBy, and the values that they are sorted by
// (where it is one path).
struct Partition {
  std::vector<Value> documents;
  std::vector<Value> positions;
};

// Where a window ends, on one side: so many documents away, or so far in the values of sortBy.
struct WindowBound {
  bool is_unbounded = false;
  Value offset = {};  // a number; "current" is 0
};

struct Window {
  bool is_range = false;
  WindowBound lower = {.is_unbounded = true};
  WindowBound upper = {.is_unbounded = true};
  std::optional<TimeUnit> unit = std::nullopt;

  bool is_whole() const { return lower.is_unbounded && upper.is_unbounded; }
  static Answer<Window> parse(const Value& spec, const std::optional<SortKey>& sort);
};

// A window's documents: from `begin`, before `end`.
struct Frame {
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const Frame&) const = default;
};
// Of each document.
Answer<std::vector<Frame>> frames_of(const Window& window, const Partition& partition, Run& run);

class WindowFunction {
 public:
  virtual ~WindowFunction() = default;
  // A value for each document.
  virtual Answer<std::vector<Value>> evaluate(const Partition& partition, Run& run) const = 0;
};

// Of {$sum: …, window: {…}}.
Answer<std::shared_ptr<const WindowFunction>> parse_window_function(
    const Value& spec, const std::optional<SortKey>& sort, const ParseContext& context);

// The expression's value for each document.
Answer<std::vector<Value>> values_of(const Expression& expression, const Partition& partition,
                                     Run& run);

// What a function over the axis of sortBy needs to know of a position: a number, dates in
// milliseconds. Refuses what is neither, and what does not go with a unit.
Answer<Value> axis_value(std::string_view name, const Value& position, bool has_unit);

}  // namespace orrery::mongo
