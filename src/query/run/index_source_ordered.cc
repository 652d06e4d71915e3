// Items in the order of ORDER BY: see index_source.h. An OrderCursor gives the keys in order. The
// part of the filter that it does not cover is checked against a set of keys from the index, if
// that is cheaper than fetching the items and evaluating it.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/keyed_hash.h"
#include "query/plan/index_node.h"
#include "query/run/access_path.h"
#include "query/run/composite_order_cursor.h"
#include "query/run/index_source.h"
#include "query/run/page.h"
#include "query/run/path_order_cursor.h"
#include "query/run/stored_item.h"

namespace orrery::query {
namespace {

constexpr size_t kOrderedBatchMax = 64;
constexpr uint64_t kEntriesBetweenPauses = 4096;
constexpr uint64_t kFoundKeysMax = 200'000;   // keys, by estimate
constexpr size_t kFoundKeysBytes = 32 << 20;  // of them, in memory
constexpr size_t kFoundKeyBytes = 64;         // of each, besides the key
constexpr uint64_t kUnorderedMax = 50'000;    // items that the cursor may have to sort itself

// For lookups in any order.
using KeySet = KeyedSet<std::string>;

// A filter, divided into what the OrderCursor covers and what it does not.
struct Parts {
  const IndexNode* narrowed = nullptr;  // on the path of the order
  IndexNode rest;                       // the rest of the filter
};

// The filter fixes a prefix of the composite's values, and may narrow the next one to ranges.
Parts parts_of_composite(const IndexPlan& plan) {
  const std::span composite(plan.order->composite->parts);
  const size_t fixed = plan.order->fixed.size();
  const bool is_all_of = plan.filter.kind == IndexNode::Kind::all_of;
  Parts parts;
  std::vector<IndexNode> rest;
  for (const IndexNode& node :
       is_all_of ? std::span(plan.filter.children) : std::span(&plan.filter, 1)) {
    const bool is_plain = node.kind == IndexNode::Kind::ranges && !node.is_spatial &&
                          node.variable == IndexNode::kOnly;
    const auto part = std::ranges::find(composite, node.path, &value::CompositeIndex::Part::path);
    const auto at = static_cast<size_t>(part - composite.begin());
    if (is_plain && at == fixed && at < composite.size()) parts.narrowed = &node;
    const bool is_fixed = at < fixed && node.is_points();
    const bool is_told =
        is_plain && (is_fixed || parts.narrowed == &node) && node.ranges.size() == 1 && !node.test;
    if (!is_told) rest.push_back(node);
  }
  if (!plan.filter.is_exact) rest.push_back(everything(false));
  parts.rest = all_of(std::move(rest));
  return parts;
}

Parts parts_of(const IndexPlan& plan) {
  if (plan.order->composite) return parts_of_composite(plan);
  const auto is_same = [&](const IndexNode& node) {
    return node.kind == IndexNode::Kind::ranges && node.variable == IndexNode::kOnly &&
           node.path == plan.order->keys.front().path;
  };
  Parts parts;
  if (is_same(plan.filter)) {
    parts.narrowed = &plan.filter;
    parts.rest = everything(plan.filter.is_exact);
    return parts;
  }
  parts.rest = plan.filter;
  if (plan.filter.kind != IndexNode::Kind::all_of) return parts;
  const auto same = std::ranges::find_if(plan.filter.children, is_same);
  if (same == plan.filter.children.end()) return parts;
  parts.narrowed = &*same;
  std::vector<IndexNode> others;
  for (const IndexNode& child : plan.filter.children) {
    if (&child != parts.narrowed) others.push_back(child);
  }
  if (!plan.filter.is_exact) others.push_back(everything(false));
  parts.rest = all_of(std::move(others));
  return parts;
}

std::unique_ptr<OrderCursor> open_cursor(const SourceSetting& setting, const Parts& parts,
                                         const SourceStart* start) {
  if (setting.plan.order->composite)
    return std::make_unique<CompositeOrderCursor>(setting, parts.narrowed, start);
  return std::make_unique<PathOrderCursor>(setting, parts.narrowed, start);
}

class OrderedSource final : public ItemSource {
 public:
  OrderedSource(const SourceSetting& setting, const Parts& parts, const SourceStart* start,
                std::optional<KeySet> keys)
      : setting_(setting),
        cursor_(open_cursor(setting, parts, start)),
        asked_(std::move(keys)),
        is_exact_(tells_exactly(parts.rest) &&
                  (asked_ || parts.rest.kind == IndexNode::Kind::everything)) {}

  Result<const SourceItem*> next(size_t wanted) override {
    for (;;) {
      if (at_ == keys_.size()) {
        auto paused = read_batch(wanted);
        if (!paused) return pass(paused.error());
        if (keys_.empty()) {
          item_ = {cursor_->key(), {}, false, nullptr};
          return *paused ? &item_ : nullptr;
        }
      }
      const value::Value& order = orders_[at_];
      const bool is_told = !order.is_undefined();
      item_ = {keys_[at_], bodies_[at_], is_exact_ && is_told, is_told ? &order : nullptr};
      const bool is_doubtful = doubtful_[at_];
      ++at_;
      if (!item_.body.empty()) {
        setting_.counts.items += 1;
        setting_.counts.bytes += item_.body.size();
        if (is_doubtful) {
          auto lacks = lacks_value();
          if (!lacks) return pass(lacks.error());
          if (!*lacks) continue;  // it comes with its value
        }
      }
      return &item_;
    }
  }

 private:
  Result<bool> read_batch(size_t wanted) {
    const size_t most = std::clamp(wanted, is_exact_ ? size_t{1} : size_t{8}, kOrderedBatchMax);
    at_ = 0;
    keys_.clear();
    doubtful_.clear();
    orders_.clear();
    keys_.reserve(most);
    orders_.reserve(most);
    bool paused = false;
    for (uint64_t steps = 0; keys_.size() < most && !paused; ++steps) {
      auto found = cursor_->next();
      if (!found) return found;
      if (!*found) break;
      paused = steps >= kEntriesBetweenPauses || cursor_->is_pause();
      if (cursor_->is_pause()) break;
      if (asked_ && !asked_->contains(std::string(cursor_->key()))) continue;
      keys_.emplace_back(cursor_->key());
      doubtful_.push_back(cursor_->is_doubtful());
      orders_.push_back(cursor_->value());
    }
    if (keys_.empty()) return paused;
    auto bodies = setting_.view.fetch(keys_);
    if (!bodies) return pass(bodies.error());
    bodies_ = std::move(*bodies);
    return paused;
  }

  Result<bool> lacks_value() const {
    const auto item = parse_stored(setting_.codec, item_.body);
    if (!item) return pass(item.error());
    return value::find(item->root(), setting_.plan.order->keys.front().path) == nullptr;
  }

  const SourceSetting setting_;
  const std::unique_ptr<OrderCursor> cursor_;
  const std::optional<KeySet> asked_;
  const bool is_exact_;
  std::vector<std::string> keys_;
  std::vector<bool> doubtful_;
  std::vector<value::Value> orders_;  // undefined: the index does not tell
  std::vector<std::string_view> bodies_;
  size_t at_ = 0;
  SourceItem item_;
};

// For the cost: the expected number of items that are passed until `wanted` of them match.
uint64_t steps_until(uint64_t wanted, uint64_t matches, uint64_t items) {
  if (matches == 0) return items;
  const double steps =
      static_cast<double>(wanted) * static_cast<double>(items) / static_cast<double>(matches);
  return steps < static_cast<double>(items) ? static_cast<uint64_t>(steps) : items;
}

}  // namespace

Result<std::unique_ptr<ItemSource>> open_in_order(const SourceSetting& setting,
                                                  const SourceStart* start, size_t wanted) {
  ItemView& view = setting.view;
  const IndexPlan& plan = setting.plan;
  if (!plan.order || !view.is_indexed()) return nullptr;
  const bool is_composite = plan.order->composite.has_value();
  if (!is_composite && PathOrderCursor::unordered_items(view, plan) > kUnorderedMax) {
    return nullptr;
  }
  const Parts parts = parts_of(plan);
  std::optional<KeySet> keys;
  if (parts.rest.kind != IndexNode::Kind::everything) {
    const KeyReader reader{view, setting.counts, setting.context};
    const uint64_t items = view.items_at_most();
    uint64_t scanned = items;
    if (is_composite) {
      scanned = std::min(items, view.estimate(CompositeOrderCursor::terms(plan, parts.narrowed)));
    } else if (parts.narrowed != nullptr) {
      scanned = estimate_items(reader, *parts.narrowed);
    }
    const uint64_t matches = estimate_items(reader, parts.rest);
    const uint64_t steps = std::min(steps_until(wanted, matches, items), scanned);
    const uint64_t sorting = kFetchCost * std::min(matches, scanned);
    const uint64_t fetching = kFetchCost * steps;
    // Each key of the set costs an entry and memory; each step costs a lookup in the set.
    const uint64_t asking =
        2 * matches + 2 * steps + kFetchCost * std::min<uint64_t>(wanted, steps);
    if (sorting < std::min(fetching, asking)) return nullptr;
    if (asking < fetching && matches <= kFoundKeysMax) {
      auto rest = open_keys(reader, parts.rest);
      if (!rest) return pass(rest.error());
      keys.emplace();
      Budget& budget = setting.context.budget;
      for (size_t bytes = 0;;) {
        auto found = (*rest)->next();
        if (!found) return pass(found.error());
        if (!*found) break;
        if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
        keys->emplace((*rest)->key());
        bytes += (*rest)->key().size() + kFoundKeyBytes;
        if (bytes > kFoundKeysBytes) {
          keys.reset();  // the estimate was wrong: the items will tell
          break;
        }
      }
    }
  }
  return std::make_unique<OrderedSource>(setting, parts, start, std::move(keys));
}

}  // namespace orrery::query
