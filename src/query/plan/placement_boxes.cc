// See placement_boxes.h.
#include "query/plan/placement_boxes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "value/ordered.h"

namespace orrery::query::keys {

namespace {

using value::KeyDefinition;
using value::KeyPart;
using value::Placement;

// The first bytes inside a low end, and the first past a high end, for comparing.
std::string first_of(const End& low) {
  return low.kind == End::Kind::without ? value::after_prefix(low.bytes) : low.bytes;
}
std::string past(const End& high) {
  return high.kind == End::Kind::with ? value::after_prefix(high.bytes) : high.bytes;
}

std::optional<PathSet> intersect(const PathSet& a, const PathSet& b) {
  using Kind = PathSet::Kind;
  if (a.kind == Kind::anything) return b;
  if (b.kind == Kind::anything) return a;
  if (a.kind == Kind::value && b.kind == Kind::value) {
    if (a.part != b.part) return std::nullopt;
    return a;
  }
  if (a.kind == Kind::stretch && b.kind == Kind::stretch) {
    PathSet both = a;
    if (first_of(b.low) > first_of(a.low)) both.low = b.low;
    if (past(b.high) < past(a.high)) both.high = b.high;
    if (first_of(both.low) >= past(both.high)) return std::nullopt;
    return both;
  }
  const PathSet& single = a.kind == Kind::value ? a : b;
  const PathSet& stretch = a.kind == Kind::value ? b : a;
  const std::string bytes = encode(single.part);
  if (bytes < first_of(stretch.low) || bytes >= past(stretch.high)) return std::nullopt;
  return single;
}

std::optional<Box> intersect(const Box& a, const Box& b) {
  Box both;
  both.reserve(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    auto set = intersect(a[i], b[i]);
    if (!set) return std::nullopt;
    both.push_back(std::move(*set));
  }
  return both;
}

PlacementRange everything() {
  return {.min = std::string(value::placement_min()), .max = std::string(value::placement_max())};
}

// An interval of keys that covers the box. Each end uses as many paths as have a constraint: (2..3,
// 4) runs from (2, 4) to (3, 4).
PlacementRange stretch_of(const Box& box) {
  std::string min;
  std::string max;
  bool min_goes_on = true;
  bool max_goes_on = true;
  size_t used = 0;
  for (const PathSet& set : box) {
    if (set.kind == PathSet::Kind::anything || !(min_goes_on || max_goes_on)) break;
    const bool is_value = set.kind == PathSet::Kind::value;
    const End value{.bytes = is_value ? encode(set.part) : "", .kind = End::Kind::with};
    const End& low = is_value ? value : set.low;
    const End& high = is_value ? value : set.high;
    if (min_goes_on) {
      min += low.bytes;
      min_goes_on = low.kind == End::Kind::with;
      if (low.kind == End::Kind::without) min = value::after_prefix(min);
    }
    if (max_goes_on) {
      max += high.bytes;
      max_goes_on = high.kind == End::Kind::with;
    }
    ++used;
  }
  if (used == 0) return everything();
  if (max_goes_on) {
    if (used == box.size()) {
      max += '\0';
    } else {
      max = value::after_prefix(max);
    }
  }
  return {.min = std::move(min), .max = std::move(max)};
}

PlacementRange range_of(const Box& box, const KeyDefinition& definition) {
  if (definition.placement == Placement::range) return stretch_of(box);
  value::PartitionKey key;
  for (const PathSet& set : box) {
    if (set.kind != PathSet::Kind::value) break;
    key.push_back(set.part);
  }
  const bool is_whole = key.size() == definition.paths.size();
  if (key.empty() || (!is_whole && definition.placement != Placement::multi_hash)) {
    return everything();
  }
  // Only the range of the prefix, without its exact filter: WHERE is evaluated on the items anyway.
  value::KeyScope scope = value::place_prefix(definition, key);
  return {.min = std::move(scope.min), .max = std::move(scope.max)};
}

std::vector<PlacementRange> merged(std::vector<PlacementRange> ranges, Placement placement) {
  std::ranges::sort(ranges, {}, [](const PlacementRange& range) {
    return std::pair(std::string_view(range.min), std::string_view(range.max));
  });
  std::vector<PlacementRange> out;
  for (PlacementRange& range : ranges) {
    if (range.min >= range.max) continue;
    if (!out.empty() && range.min <= out.back().max) {
      if (out.back().max < range.max) out.back().max = std::move(range.max);
    } else {
      out.push_back(std::move(range));
    }
  }
  if (out.size() > kMaxKeyRanges) {
    // Hashes are spread over all placement keys, so one range would cover nearly everything, and
    // must not begin or end within the keys of one hash.
    if (placement != Placement::range) return {everything()};
    out = {{.min = std::move(out.front().min), .max = std::move(out.back().max)}};
  }
  return out;
}

}  // namespace

std::string encode(const KeyPart& part) {
  const KeyDefinition one{.placement = Placement::range, .paths = {value::Path{}}};
  return value::place(one, {part});
}

Condition anything() {
  return {};
}
Condition nothing() {
  return {.is_anything = false, .boxes = {}};
}

Condition both_of(Condition a, Condition b, size_t& pairs_left) {
  if (a.is_anything) return b;
  if (b.is_anything) return a;
  if (!a.boxes.empty() && b.boxes.size() > pairs_left / a.boxes.size()) {
    return a.boxes.size() <= b.boxes.size() ? std::move(a) : std::move(b);
  }
  pairs_left -= a.boxes.size() * b.boxes.size();
  Condition both = nothing();
  for (const Box& left : a.boxes) {
    for (const Box& right : b.boxes) {
      if (auto box = intersect(left, right)) both.boxes.push_back(std::move(*box));
    }
  }
  return both;
}

Condition either_of(Condition a, Condition b) {
  if (a.is_anything || b.is_anything) return anything();
  std::ranges::move(b.boxes, std::back_inserter(a.boxes));
  return a;
}

std::vector<PlacementRange> ranges_of(const Condition& condition, const KeyDefinition& definition) {
  if (condition.is_anything) return {everything()};
  std::vector<PlacementRange> ranges;
  ranges.reserve(condition.boxes.size());
  for (const Box& box : condition.boxes) ranges.push_back(range_of(box, definition));
  return merged(std::move(ranges), definition.placement);
}

}  // namespace orrery::query::keys
