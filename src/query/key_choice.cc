// See key_choice.h.
#include "query/key_choice.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "query/index_node.h"

namespace orrery::query {
namespace {

using Kind = IndexNode::Kind;
using Streams = std::vector<std::unique_ptr<KeyStream>>;

constexpr size_t kKeptKeys = 16'384;
constexpr uint64_t kStepsBetweenPauses = 4096;
// More points than this are walked as ranges: each would keep a cursor open.
constexpr size_t kPointsMax = 256;
// What share of the items an entry names, when the estimate says nothing: it counts the entries of
// the whole partition, and the stretch may be one logical partition of many.
constexpr double kUnknownShare = 0.1;

// How many of the entries that are walked pass what else is asked of their values, as a guess.
constexpr double kTestedShare = 0.1;

uint64_t plus(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

// What it takes to have a node's keys, and how many they may be.
struct Cost {
  uint64_t setup = 0;    // before the first key
  uint64_t matches = 0;  // keys at most
  uint64_t a_seek = 0;   // to a given key
};

bool streams_points(const IndexNode& node) {
  return node.is_points() && !node.test && node.ranges.size() <= kPointsMax;
}

class Chooser {
 public:
  Chooser(const KeyReader& reader, size_t wanted)
      : reader_(reader),
        items_(std::max<uint64_t>(reader.view.items_at_most(), 1)),
        wanted_(std::max<uint64_t>(wanted, 1)) {}

  Result<KeyChoice> choose(const IndexNode& node) {
    KeyChoice choice;
    if (node.kind == Kind::everything) {
      choice.is_exact = node.is_exact;
      return choice;
    }
    const Cost cost = cost_of(node);
    if (cost.matches == 0) {
      choice.keys = stream_union({});
      return choice;
    }
    if (plus(cost.setup, fetches(cost.matches)) > scan(cost.matches)) return choice;
    choice.is_exact = node.kind == Kind::all_of
                          ? node.is_exact && std::ranges::all_of(node.children, tells_exactly)
                          : tells_exactly(node);
    auto keys = open(node, &choice);
    if (!keys) return pass(keys.error());
    choice.keys = std::move(*keys);
    return choice;
  }

  Cost cost_of(const IndexNode& node) {
    Cost cost;
    switch (node.kind) {
      case Kind::everything:
        cost.matches = items_;
        break;
      case Kind::nothing:
        break;
      case Kind::ranges:
        for (const TermRange& range : node.ranges) {
          cost.matches = plus(cost.matches, reader_.view.estimate(range));
        }
        cost.setup = streams_points(node) ? kSeekCost * node.ranges.size() : cost.matches;
        cost.a_seek = streams_points(node) ? kSeekCost * node.ranges.size() : 0;
        if (node.test)
          cost.matches =
              static_cast<uint64_t>(kTestedShare * static_cast<double>(cost.matches)) + 1;
        break;
      case Kind::lacking:
        for (const TermRange& shape : shapes_of(node)) {
          cost.matches = plus(cost.matches, reader_.view.estimate(shape));
          cost.setup += kSeekCost;
        }
        cost.a_seek = cost.setup;
        break;
      case Kind::any_of:
        for (const IndexNode& child : node.children) {
          const Cost one = cost_of(child);
          cost.setup = plus(cost.setup, one.setup);
          cost.matches = plus(cost.matches, one.matches);
          cost.a_seek = plus(cost.a_seek, one.a_seek);
        }
        break;
      case Kind::all_of: {
        const auto [driver, others] = parts_of(node);
        cost = cost_of(*driver);
        for (const IndexNode* other : others) cost.setup = plus(cost.setup, cost_of(*other).setup);
        break;
      }
    }
    return cost;
  }

  // `choice` is that of the whole plan when the node is its root; null below.
  Result<std::unique_ptr<KeyStream>> open(const IndexNode& node, KeyChoice* choice) {
    switch (node.kind) {
      case Kind::everything:
      case Kind::nothing:
        return stream_union({});
      case Kind::ranges:
        if (!streams_points(node)) return stream_ranges(reader_, node, kKeptKeys);
        return open_points(node.ranges);
      case Kind::lacking: {
        if (choice != nullptr) choice->is_exact = false;
        return open_points(shapes_of(node));
      }
      case Kind::any_of: {
        Streams streams;
        for (const IndexNode& child : node.children) {
          auto stream = open(child, nullptr);
          if (!stream) return stream;
          streams.push_back(std::move(*stream));
        }
        return stream_union(std::move(streams));
      }
      case Kind::all_of:
        return open_intersection(node, choice);
    }
    return stream_union({});
  }

 private:
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

  // Of an intersection: the part with the fewest keys, and those of the others that are cheaper to
  // ask than the items are to read.
  struct Parts {
    const IndexNode* driver = nullptr;
    std::vector<const IndexNode*> others;
  };
  Parts parts_of(const IndexNode& node) {
    std::vector<std::pair<Cost, const IndexNode*>> parts;
    for (const IndexNode& child : node.children) parts.emplace_back(cost_of(child), &child);
    const auto least = std::ranges::min_element(parts, {}, [](const auto& part) {
      return plus(part.first.setup, plus(part.first.matches, 0));
    });
    Parts chosen{.driver = least->second, .others = {}};
    const uint64_t reads = std::min(least->first.matches, items_);
    for (const auto& [cost, part] : parts) {
      if (part == chosen.driver || cost.matches >= items_) continue;
      const auto saved = static_cast<uint64_t>(static_cast<double>(reads * kFetchCost) *
                                               (1 - share(cost.matches)));
      if (plus(cost.setup, reads * cost.a_seek) < saved) chosen.others.push_back(part);
    }
    return chosen;
  }

  std::vector<TermRange> shapes_of(const IndexNode& node) const {
    const auto shapes = reader_.view.shapes_without(value::term_path(node.path));
    std::vector<TermRange> points;
    const auto add = [&](const std::string& term) { points.push_back({term, term + '\0'}); };
    for (const std::string& shape : shapes.lacking) add(shape);
    if (shapes.others) add(*shapes.others);
    return points;
  }

  Result<std::unique_ptr<KeyStream>> open_points(const std::vector<TermRange>& points) {
    Streams streams;
    for (const TermRange& point : points) {
      auto stream = stream_point(reader_, point);
      if (!stream) return stream;
      streams.push_back(std::move(*stream));
    }
    return stream_union(std::move(streams));
  }

  Result<std::unique_ptr<KeyStream>> open_intersection(const IndexNode& node, KeyChoice* choice) {
    const auto [driver, others] = parts_of(node);
    Streams streams;
    auto first = open(*driver, nullptr);
    if (!first) return first;
    streams.push_back(std::move(*first));
    for (const IndexNode* other : others) {
      auto stream = open(*other, nullptr);
      if (!stream) return stream;
      streams.push_back(std::move(*stream));
    }
    if (choice != nullptr && others.size() + 1 < node.children.size()) choice->is_exact = false;
    if (streams.size() == 1) return std::move(streams.front());
    auto common =
        stream_intersection(std::move(streams), choice != nullptr ? kStepsBetweenPauses : 0);
    if (choice != nullptr) choice->pausing = common.get();
    return common;
  }

  const KeyReader reader_;
  const uint64_t items_;
  const uint64_t wanted_;
};

}  // namespace

Result<KeyChoice> choose_keys(const KeyReader& reader, const IndexPlan& plan, size_t wanted) {
  if (!reader.view.is_indexed()) return KeyChoice{};
  return Chooser(reader, wanted).choose(plan.filter);
}

Result<std::unique_ptr<KeyStream>> open_keys(const KeyReader& reader, const IndexNode& node) {
  return Chooser(reader, 1).open(node, nullptr);
}

uint64_t estimate_items(const ItemView& view, const IndexNode& node) {
  ReadCounts counts;
  Context context;
  const uint64_t items = view.items_at_most();
  return std::min(Chooser({view, counts, context}, 1).cost_of(node).matches, items);
}

}  // namespace orrery::query
