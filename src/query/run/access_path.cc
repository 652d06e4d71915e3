// See access_path.h.
#include "query/run/access_path.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/plan/index_node.h"
#include "query/run/page.h"

namespace orrery::query {
namespace {

using Kind = IndexNode::Kind;
using Cursors = std::vector<std::unique_ptr<KeyCursor>>;

constexpr size_t kKeptKeys = 16'384;
constexpr size_t kKeptKeysMin = 512;
constexpr uint64_t kStepsBetweenPauses = 4096;
// How many key cursors may be open at a time, since each holds a cursor of the view. The ranges of
// a union with more are scanned one after the other.
constexpr size_t kCursorsMax = 256;
// A range scan cannot be resumed by a later page. This many entries, at about a microsecond each,
// take well under the time of one page. Where there are more, the items are scanned instead: that
// can be resumed at any item.
constexpr uint64_t kScannedMax = 2'000'000;
// The cardinality of a longer list of ranges is extrapolated from a sample of this many.
constexpr size_t kEstimatedRanges = 64;
// The selectivity that is assumed when the estimate tells nothing. (It counts the entries of the
// whole partition, while the view may be one logical partition of many.)
constexpr double kUnknownShare = 0.1;

// The assumed selectivity of a node's test.
constexpr double kTestedShare = 0.1;

uint64_t plus(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

// The cost of reading a node's keys, and their estimated cardinality.
struct Cost {
  uint64_t setup = 0;    // before the first key
  uint64_t matches = 0;  // upper bound of the number of keys
  uint64_t a_seek = 0;   // to a given key
  uint64_t ranges = 0;   // of entries, that are scanned
  uint64_t cursors = 0;  // open at a time
};

bool has_point_cursors(const IndexNode& node) {
  return !node.test && node.ranges.size() <= kCursorsMax && node.is_points();
}

class Chooser {
 public:
  Chooser(const KeyReader& reader, size_t wanted)
      : reader_(reader),
        items_(std::max<uint64_t>(reader.view.items_at_most(), 1)),
        wanted_(std::max<uint64_t>(wanted, 1)) {}

  Result<AccessPath> choose(const IndexNode& node) {
    AccessPath choice;
    if (node.kind == Kind::everything) {
      choice.is_exact = node.is_exact;
      return choice;
    }
    const Cost cost = cost_of(node);
    if (reader_.context.budget.is_over()) return pass(ended_early(reader_.context.budget));
    if (cost.matches == 0) {
      choice.keys = union_cursor({});
      return choice;
    }
    if (plus(cost.setup, fetches(cost.matches)) > scan(cost.matches)) return choice;
    if (cost.cursors > kCursorsMax || cost.setup > kScannedMax) return choice;
    choice.is_exact = node.kind == Kind::all_of
                          ? node.is_exact && std::ranges::all_of(node.children, tells_exactly)
                          : tells_exactly(node);
    // Where every key gives a row, no more keys are needed than rows.
    if (choice.is_exact) {
      kept_keys_ =
          std::clamp<uint64_t>(std::min<uint64_t>(wanted_, kKeptKeys) * 2, kKeptKeysMin, kKeptKeys);
    }
    auto keys = open(node, &choice);
    if (!keys) return pass(keys.error());
    choice.keys = std::move(*keys);
    return choice;
  }

  // Memoized, since every ancestor of a node asks for its cost.
  const Cost& cost_of(const IndexNode& node) {
    const auto known = costs_.find(&node);
    if (known != costs_.end()) return known->second;
    const Cost cost = compute_cost(node);
    return costs_.emplace(&node, cost).first->second;
  }

  // `choice` is the plan's access path when the node is the root of the plan, else null.
  Result<std::unique_ptr<KeyCursor>> open(const IndexNode& node, AccessPath* choice) {
    switch (node.kind) {
      case Kind::everything:
      case Kind::nothing:
        return union_cursor({});
      case Kind::ranges:
        if (!has_point_cursors(node)) return range_cursor(reader_, node.ranges, &node, kept_keys_);
        return open_points(node.ranges);
      case Kind::lacking: {
        if (choice != nullptr) choice->is_exact = false;
        return open_points(shapes_of(node));
      }
      case Kind::any_of: {
        if (is_walked(node)) {
          std::vector<TermRange> ranges;
          add_ranges(node, ranges);
          return range_cursor(reader_, std::move(ranges), nullptr, kept_keys_);
        }
        Cursors cursors;
        for (const IndexNode& child : node.children) {
          auto cursor = open(child, nullptr);
          if (!cursor) return cursor;
          cursors.push_back(std::move(*cursor));
        }
        return union_cursor(std::move(cursors));
      }
      case Kind::all_of:
        return open_intersection(node, choice);
    }
    return union_cursor({});
  }

 private:
  Cost compute_cost(const IndexNode& node) {
    Cost cost;
    switch (node.kind) {
      case Kind::everything:
        cost.matches = items_;
        break;
      case Kind::nothing:
        break;
      case Kind::ranges:
        cost.matches = entries_in(node.ranges);
        cost.ranges = node.ranges.size();
        if (has_point_cursors(node)) {
          cost.setup = cost.a_seek = kSeekCost * cost.ranges;
          cost.cursors = cost.ranges;
        } else {
          cost.setup = plus(cost.matches, kSeekCost * (cost.ranges - 1));
          cost.cursors = 1;
        }
        if (node.test) cost.matches = tested(cost.matches);
        break;
      case Kind::lacking: {
        const std::vector<TermRange> shapes = shapes_of(node);
        cost.matches = entries_in(shapes);
        cost.setup = cost.a_seek = kSeekCost * shapes.size();
        cost.ranges = cost.cursors = shapes.size();
        break;
      }
      case Kind::any_of:
        for (const IndexNode& child : node.children) {
          const Cost& one = cost_of(child);
          cost.setup = plus(cost.setup, one.setup);
          cost.matches = plus(cost.matches, one.matches);
          cost.a_seek = plus(cost.a_seek, one.a_seek);
          cost.ranges = plus(cost.ranges, one.ranges);
          cost.cursors = plus(cost.cursors, one.cursors);
        }
        if (cost.cursors > kCursorsMax) {
          cost.setup = plus(cost.matches, kSeekCost * cost.ranges);
          cost.a_seek = 0;
          cost.cursors = 1;
        }
        break;
      case Kind::all_of: {
        const auto& [driver, others] = parts_of(node);
        cost = cost_of(*driver);
        for (const IndexNode* other : others) {
          const Cost& one = cost_of(*other);
          cost.setup = plus(cost.setup, one.setup);
          cost.ranges = plus(cost.ranges, one.ranges);
          cost.cursors = plus(cost.cursors, one.cursors);
        }
        break;
      }
    }
    return cost;
  }

  // 0 only if every range was estimated: a sample without entries proves nothing.
  uint64_t entries_in(const std::vector<TermRange>& ranges) const {
    const size_t asked = std::min(ranges.size(), kEstimatedRanges);
    uint64_t sum = 0;
    for (size_t i = 0; i < asked && !reader_.context.budget.spend(kStepsOfSeek); ++i) {
      sum = plus(sum, reader_.view.estimate(ranges[i * ranges.size() / asked]));
    }
    if (asked == ranges.size()) return sum;
    const double all =
        static_cast<double>(sum) * static_cast<double>(ranges.size()) / static_cast<double>(asked);
    return std::max<uint64_t>(static_cast<uint64_t>(all), 1);
  }
  static uint64_t tested(uint64_t matches) {
    return static_cast<uint64_t>(kTestedShare * static_cast<double>(matches)) + 1;
  }

  // Whether a union needs more cursors than may be open: then its ranges are scanned as one list.
  bool is_walked(const IndexNode& node) {
    uint64_t cursors = 0;
    for (const IndexNode& child : node.children) cursors = plus(cursors, cost_of(child).cursors);
    return cursors > kCursorsMax;
  }
  // Ranges that cover the node: each of its items has an entry in one of them, and other items may,
  // too.
  void add_ranges(const IndexNode& node, std::vector<TermRange>& ranges) {
    switch (node.kind) {
      case Kind::everything:
      case Kind::nothing:
        return;
      case Kind::ranges:
        ranges.insert(ranges.end(), node.ranges.begin(), node.ranges.end());
        return;
      case Kind::lacking:
        std::ranges::move(shapes_of(node), std::back_inserter(ranges));
        return;
      case Kind::any_of:
        for (const IndexNode& child : node.children) add_ranges(child, ranges);
        return;
      case Kind::all_of:
        return add_ranges(*parts_of(node).driver, ranges);
    }
  }

  double share(uint64_t matches) const {
    if (matches >= items_) return kUnknownShare;
    return std::max(static_cast<double>(matches), 0.5) / static_cast<double>(items_);
  }
  uint64_t fetches(uint64_t matches) const {
    return kFetchCost * std::min({matches, items_, wanted_});
  }
  uint64_t scan(uint64_t matches) const {
    const double read = static_cast<double>(wanted_) / share(matches);
    return kScanCost * (read < static_cast<double>(items_) ? static_cast<uint64_t>(read) : items_);
  }

  // How to read an intersection. The driver is the cheapest child to read. The others are those for
  // which a seek per key of the driver costs less than fetching the items that it rules out.
  struct Parts {
    const IndexNode* driver = nullptr;
    std::vector<const IndexNode*> others;
  };
  const Parts& parts_of(const IndexNode& node) {
    const auto known = parts_.find(&node);
    if (known != parts_.end()) return known->second;
    std::vector<std::pair<Cost, const IndexNode*>> parts;
    for (const IndexNode& child : node.children) parts.emplace_back(cost_of(child), &child);
    const auto least = std::ranges::min_element(
        parts, {}, [](const auto& part) { return plus(part.first.setup, part.first.matches); });
    Parts chosen{.driver = least->second, .others = {}};
    const uint64_t reads = std::min(least->first.matches, items_);
    uint64_t cursors = least->first.cursors;
    for (const auto& [cost, part] : parts) {
      if (part == chosen.driver || cost.matches >= items_) continue;
      if (plus(cursors, cost.cursors) > kCursorsMax) continue;
      const auto saved = static_cast<uint64_t>(static_cast<double>(reads * kFetchCost) *
                                               (1 - share(cost.matches)));
      if (plus(cost.setup, reads * cost.a_seek) >= saved) continue;
      chosen.others.push_back(part);
      cursors += cost.cursors;
    }
    return parts_.emplace(&node, std::move(chosen)).first->second;
  }

  std::vector<TermRange> shapes_of(const IndexNode& node) const {
    const auto shapes = reader_.view.shapes_without(value::term_path(node.path));
    std::vector<TermRange> points;
    const auto add = [&](const std::string& term) { points.push_back({term, term + '\0'}); };
    for (const std::string& shape : shapes.lacking) add(shape);
    if (shapes.others) add(*shapes.others);
    return points;
  }

  Result<std::unique_ptr<KeyCursor>> open_points(const std::vector<TermRange>& points) {
    Cursors cursors;
    for (const TermRange& point : points) {
      auto cursor = point_cursor(reader_, point);
      if (!cursor) return cursor;
      cursors.push_back(std::move(*cursor));
    }
    return union_cursor(std::move(cursors));
  }

  Result<std::unique_ptr<KeyCursor>> open_intersection(const IndexNode& node, AccessPath* choice) {
    const auto& [driver, others] = parts_of(node);
    Cursors cursors;
    auto first = open(*driver, nullptr);
    if (!first) return first;
    cursors.push_back(std::move(*first));
    for (const IndexNode* other : others) {
      auto cursor = open(*other, nullptr);
      if (!cursor) return cursor;
      cursors.push_back(std::move(*cursor));
    }
    if (choice != nullptr && others.size() + 1 < node.children.size()) choice->is_exact = false;
    if (cursors.size() == 1) return std::move(cursors.front());
    auto common = intersection_cursor(
        std::move(cursors), choice != nullptr ? kStepsBetweenPauses : 0, reader_.context.budget);
    if (choice != nullptr) choice->pausing = common.get();
    return common;
  }

  const KeyReader reader_;
  const uint64_t items_;
  const uint64_t wanted_;
  size_t kept_keys_ = kKeptKeys;
  std::unordered_map<const IndexNode*, Cost> costs_;
  std::unordered_map<const IndexNode*, Parts> parts_;  // of intersections
};

}  // namespace

Result<AccessPath> choose_access_path(const KeyReader& reader, const IndexPlan& plan,
                                      size_t wanted) {
  if (!reader.view.is_indexed()) return AccessPath{};
  return Chooser(reader, wanted).choose(plan.filter);
}

Result<std::unique_ptr<KeyCursor>> open_keys(const KeyReader& reader, const IndexNode& node) {
  return Chooser(reader, kKeptKeys).open(node, nullptr);
}

uint64_t estimate_items(const KeyReader& reader, const IndexNode& node) {
  return std::min(Chooser(reader, 1).cost_of(node).matches, reader.view.items_at_most());
}

}  // namespace orrery::query
