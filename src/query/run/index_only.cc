// See index_only.h.
#include "query/run/index_only.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "query/plan/term_ranges.h"
#include "query/run/access_path.h"
#include "query/run/page.h"
#include "query/run/stored_item.h"
#include "value/shape.h"

namespace orrery::query {
namespace {

using value::Type;
using value::Value;
using Kind = IndexNode::Kind;
using KeySet = KeyedSet<std::string>;

constexpr uint64_t kKeySetMax = 500'000;   // keys, by estimate
constexpr size_t kKeySetBytes = 48 << 20;  // of them, in memory
constexpr size_t kKeyPlaceBytes = 64;      // of each, besides the key
constexpr size_t kBatch = 64;

// The value that a term shows of its items; undefined where only they tell. Typed encodings have
// several kinds of numbers, which the index does not tell apart.
Value shown_by(std::string_view term, size_t path_size, const IndexPlan& plan) {
  Value value = value_of_term(term, path_size);
  const bool is_of_kinds = plan.value_order == value::ValueOrder::typed && value.is_number();
  return is_of_kinds ? Value() : value;
}

// A document with one value.
Value stand_in(const value::Path& path, Value value) {
  if (value.is_undefined()) return Value::make_object({});
  for (const auto& step : std::views::reverse(path.steps)) {
    value = Value::make_object({{Value::borrow_string(step.name), std::move(value)}});
  }
  return value;
}

TermRange point(const std::string& term) {
  return {.from = term, .to = term + '\0'};
}

// The number of entries in a range, which must have no two entries of one item.
Result<uint64_t> count_entries(const SourceSetting& setting, const TermRange& range) {
  auto cursor = setting.view.entries(range, false, nullptr);
  if (!cursor) return pass(cursor.error());
  uint64_t count = 0;
  Budget& budget = setting.context.budget;
  for (;;) {
    auto found = (*cursor)->next();
    if (!found) return pass(found.error());
    if (!*found) break;
    ++count;
    if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
  }
  setting.counts.entries += count;
  return count;
}

// How many items lack a value at the path; nothing when shapes do not tell.
Result<std::optional<uint64_t>> count_lacking(const SourceSetting& setting,
                                              const value::Path& path) {
  const auto shapes = setting.view.shapes_without(value::term_path(path));
  if (shapes.others) {
    auto others = count_entries(setting, point(*shapes.others));
    if (!others) return pass(others.error());
    if (*others > 0) return std::nullopt;
  }
  uint64_t sum = 0;
  for (const std::string& shape : shapes.lacking) {
    auto count = count_entries(setting, point(shape));
    if (!count) return pass(count.error());
    sum += *count;
  }
  return sum;
}

// The keys of the items of an exact node; empty when they exceed the memory limit, or when only the
// items can tell.
class KeySets {
 public:
  explicit KeySets(const SourceSetting& setting) : setting_(setting) {}

  Result<std::optional<KeySet>> of(const IndexNode& node) {
    switch (node.kind) {
      case Kind::everything:
        return std::nullopt;
      case Kind::nothing:
        return KeySet{};
      case Kind::ranges:
        return of_ranges(node, nullptr);
      case Kind::lacking: {
        IndexNode shapes;
        shapes.kind = Kind::ranges;
        const auto without = setting_.view.shapes_without(value::term_path(node.path));
        if (without.others) return std::nullopt;
        for (const std::string& shape : without.lacking) shapes.ranges.push_back(point(shape));
        return of_ranges(shapes, nullptr);
      }
      case Kind::any_of: {
        KeySet all;
        for (const IndexNode& child : node.children) {
          auto keys = of(child);
          if (!keys || !*keys) return keys;
          all.merge(**keys);
        }
        return all;
      }
      case Kind::all_of:
        return of_all(node);
    }
    return std::nullopt;
  }

 private:
  // Starts with the child that has the lowest estimate, and intersects it with the others.
  Result<std::optional<KeySet>> of_all(const IndexNode& node) {
    std::vector<std::pair<uint64_t, const IndexNode*>> parts;
    for (const IndexNode& child : node.children) {
      parts.emplace_back(estimate_items({setting_.view, setting_.counts, setting_.context}, child),
                         &child);
    }
    std::ranges::sort(parts, {}, &std::pair<uint64_t, const IndexNode*>::first);
    auto common = of(*parts.front().second);
    for (size_t i = 1; i < parts.size() && common && *common; ++i) {
      const IndexNode& part = *parts[i].second;
      auto keys = part.kind == Kind::ranges ? of_ranges(part, &**common) : of(part);
      if (!keys || !*keys) return keys;
      std::erase_if(**common, [&](const std::string& key) { return !(*keys)->contains(key); });
    }
    return common;
  }

  // Only those that are `among` these, when given.
  Result<std::optional<KeySet>> of_ranges(const IndexNode& node, const KeySet* among) {
    TermTester tester(&node, setting_.context);
    KeySet keys;
    Budget& budget = setting_.context.budget;
    for (const TermRange& range : node.ranges) {
      if (budget.spend(kStepsOfSeek)) return pass(ended_early(budget));
      auto cursor = setting_.view.entries(range, false, nullptr);
      if (!cursor) return pass(cursor.error());
      for (;;) {
        auto found = (*cursor)->next();
        if (!found) return pass(found.error());
        if (!*found) break;
        setting_.counts.entries += 1;
        if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
        bool is_sure = true;
        if (!tester.passes((*cursor)->term(), is_sure)) continue;
        if (!is_sure) return std::nullopt;
        std::string key((*cursor)->key());
        if (among != nullptr && !among->contains(key)) continue;
        const size_t bytes = key.size() + kKeyPlaceBytes;
        if (keys.insert(std::move(key)).second) bytes_ += bytes;
        if (bytes_ > kKeySetBytes) return std::nullopt;
      }
    }
    return keys;
  }

  const SourceSetting& setting_;
  size_t bytes_ = 0;  // of all keys that were found
};

// What is known at once.
class Listed final : public AlikeSource {
 public:
  explicit Listed(std::vector<AlikeItems> items) : items_(std::move(items)) {}
  Result<const AlikeItems*> next() override {
    while (at_ < items_.size()) {
      const AlikeItems& one = items_[at_++];
      if (one.count > 0) return &one;
    }
    return nullptr;
  }

 private:
  const std::vector<AlikeItems> items_;
  size_t at_ = 0;
};

std::unique_ptr<AlikeSource> counted(uint64_t count, bool passes) {
  std::vector<AlikeItems> items;
  items.push_back({.item = Value::make_object({}), .count = count, .passes = passes});
  return std::make_unique<Listed>(std::move(items));
}

// The values at a path, each with the number of items that have it.
class Values final : public AlikeSource {
 public:
  // `among`: only these items, which have passed the filter. `lacking`: how many have no value.
  Values(const SourceSetting& setting, std::vector<TermRange> ranges, std::optional<KeySet> among,
         uint64_t lacking)
      : setting_(setting),
        path_(*setting.plan.only->path),
        path_size_(value::term_path(path_).size()),
        ranges_(std::move(ranges)),
        among_(std::move(among)),
        lacking_(lacking) {
    std::ranges::reverse(ranges_);
    alike_.passes = among_.has_value();
  }

  Result<const AlikeItems*> next() override {
    for (;;) {
      if (at_ < bodies_.size()) {
        // One at a time: parsed, an item takes many times the room of its text.
        const std::string_view body = bodies_[at_++];
        if (body.empty()) continue;
        auto item = parse_stored(setting_.codec, body);
        if (!item) return pass(item.error());
        item_ = std::move(*item);
        alike_.item = Value::from(item_->root());
        alike_.count = 1;
        return &alike_;
      }
      auto found = next_term();
      if (!found) return pass(found.error());
      if (*found) {
        if (at_ < bodies_.size()) continue;
        if (alike_.count > 0) return &alike_;
        continue;
      }
      alike_.count = among_ ? among_->size() - seen_ : std::exchange(lacking_, 0);
      seen_ = among_ ? among_->size() : 0;
      alike_.item = stand_in(path_, Value());
      return alike_.count > 0 ? &alike_ : nullptr;
    }
  }

 private:
  // Counts the entries of the next term, or reads items of it. False after the last one.
  Result<bool> next_term() {
    bodies_.clear();
    at_ = 0;
    while (!stands_) {
      if (!cursor_) {
        if (ranges_.empty()) return false;
        auto cursor = setting_.view.entries(ranges_.back(), false, nullptr);
        if (!cursor) return pass(cursor.error());
        cursor_ = std::move(*cursor);
      }
      if (auto moved = move(); !moved) return moved;
    }
    term_ = cursor_->term();
    Value value = shown_by(term_, path_size_, setting_.plan);
    return value.is_undefined() ? read_items() : count(std::move(value));
  }

  Result<bool> count(Value value) {
    alike_.count = 0;
    do {
      alike_.count += is_among() ? 1 : 0;
      if (auto moved = move(); !moved) return moved;
    } while (stands_ && cursor_->term() == term_);
    alike_.item = stand_in(path_, std::move(value));
    return true;
  }

  Result<bool> read_items() {
    std::vector<std::string> keys;
    while (stands_ && keys.size() < kBatch && cursor_->term() == term_) {
      if (is_among()) keys.emplace_back(cursor_->key());
      if (auto moved = move(); !moved) return moved;
    }
    alike_.count = 0;
    if (keys.empty()) return true;
    auto bodies = setting_.view.fetch(keys);
    if (!bodies) return pass(bodies.error());
    bodies_ = std::move(*bodies);
    for (const std::string_view body : bodies_) {
      if (body.empty()) continue;
      setting_.counts.items += 1;
      setting_.counts.bytes += body.size();
    }
    return true;
  }

  bool is_among() {
    if (!among_) return true;
    const bool is = among_->contains(std::string(cursor_->key()));
    seen_ += is ? 1 : 0;
    return is;
  }

  Result<bool> move() {
    auto found = cursor_->next();
    if (!found) return found;
    stands_ = *found;
    Budget& budget = setting_.context.budget;
    if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
    if (stands_) {
      setting_.counts.entries += 1;
    } else {
      cursor_.reset();
      ranges_.pop_back();
    }
    return true;
  }

  const SourceSetting setting_;
  const value::Path path_;
  const size_t path_size_;
  std::vector<TermRange> ranges_;  // the one at hand last
  const std::optional<KeySet> among_;
  uint64_t lacking_;
  uint64_t seen_ = 0;  // of among_
  std::unique_ptr<EntryCursor> cursor_;
  bool stands_ = false;
  std::string term_;
  std::vector<std::string_view> bodies_;  // of items that the entries do not tell the value of
  size_t at_ = 0;
  std::optional<value::Document> item_;
  AlikeItems alike_;
};

// The first values in one direction, up to the first one whose place the index tells.
Status add_first(const SourceSetting& setting, const std::vector<TermRange>& ranges,
                 bool descending, std::vector<AlikeItems>& out) {
  const value::Path& path = *setting.plan.only->path;
  const size_t path_size = value::term_path(path).size();
  const size_t count = ranges.size();
  Budget& budget = setting.context.budget;
  for (size_t i = 0; i < count; ++i) {
    if (budget.spend(kStepsOfSeek)) return pass(ended_early(budget));
    auto cursor = setting.view.entries(ranges[descending ? count - 1 - i : i], descending, nullptr);
    if (!cursor) return pass(cursor.error());
    for (;;) {
      auto found = (*cursor)->next();
      if (!found) return pass(found.error());
      if (!*found) break;
      setting.counts.entries += 1;
      if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
      Value value = shown_by((*cursor)->term(), path_size, setting.plan);
      if (!value.is_undefined()) {
        out.push_back({.item = stand_in(path, std::move(value)), .count = 1});
        return {};
      }
      const std::string key((*cursor)->key());
      const bool is_first = !value::is_cut_term_value((*cursor)->term().substr(path_size));
      auto bodies = setting.view.fetch({&key, 1});
      if (!bodies) return pass(bodies.error());
      setting.counts.items += 1;
      setting.counts.bytes += bodies->front().size();
      auto item = parse_stored(setting.codec, bodies->front());
      if (!item) return pass(item.error());
      out.push_back({.item = Value::make_document(std::move(*item)), .count = 1});
      if (is_first) return {};
    }
  }
  return {};
}

// The terms of scalars, in sets whose order is that of MIN and MAX: the language's, which is the
// json order.
std::vector<TermRanges> comparable_terms(const PathTerms& terms, value::ValueOrder order) {
  if (order == value::ValueOrder::json) return {terms.primitives()};
  std::vector<TermRanges> sets;
  for (size_t i = 0; i < value::kTypes; ++i) {
    const auto type = static_cast<Type>(i);
    if (type != Type::array && type != Type::object) sets.push_back(terms.of_type(type));
  }
  return sets;
}

Result<std::unique_ptr<AlikeSource>> open_extremes(const SourceSetting& setting,
                                                   const std::vector<TermRange>& ranges) {
  const value::Path& path = *setting.plan.only->path;
  const PathTerms terms(path, setting.plan.value_order);
  std::vector<AlikeItems> found;
  // One array or object among the values, whatever is in it, makes the result undefined.
  for (const TermRange& range : both({.ranges = ranges}, terms.collections()).ranges) {
    auto cursor = setting.view.entries(range, false, nullptr);
    if (!cursor) return pass(cursor.error());
    auto any = (*cursor)->next();
    if (!any) return pass(any.error());
    if (!*any) continue;
    setting.counts.entries += 1;
    found.push_back({.item = stand_in(path, Value::make_array({})), .count = 1});
    return std::make_unique<Listed>(std::move(found));
  }
  for (const TermRanges& comparable : comparable_terms(terms, setting.plan.value_order)) {
    const auto scalars = both({.ranges = ranges}, comparable).ranges;
    for (const bool descending : {false, true}) {
      if (auto added = add_first(setting, scalars, descending, found); !added) {
        return pass(added.error());
      }
    }
  }
  return std::make_unique<Listed>(std::move(found));
}

// The number of items that pass the filter.
Result<std::unique_ptr<AlikeSource>> open_count(const SourceSetting& setting) {
  const IndexNode& filter = setting.plan.filter;
  const IndexOnly& only = *setting.plan.only;
  if (filter.kind == Kind::nothing) return counted(0, true);
  if (filter.kind == Kind::everything) {
    if (!only.has_shapes) return nullptr;
    const TermRange shapes{.from = std::string(1, value::kShapeLead),
                           .to = std::string(1, value::kShapeLead + 1)};
    auto count = count_entries(setting, shapes);
    if (!count) return pass(count.error());
    return counted(*count, true);
  }
  auto keys = KeySets(setting).of(filter);
  if (!keys) return pass(keys.error());
  if (!*keys) return nullptr;
  return counted((*keys)->size(), true);
}

// The values at the path of the items that pass a filter about other values.
Result<std::unique_ptr<AlikeSource>> open_values_among(const SourceSetting& setting) {
  const IndexOnly& only = *setting.plan.only;
  const uint64_t matches =
      estimate_items({setting.view, setting.counts, setting.context}, setting.plan.filter);
  const std::vector<TermRange> all = PathTerms(*only.path, setting.plan.value_order).all().ranges;
  const uint64_t entries = setting.view.estimate(all.front());
  // Fetching the items that match may cost less than scanning the path's entries.
  if (matches > kKeySetMax || matches * kFetchCost < entries) return nullptr;
  auto keys = KeySets(setting).of(setting.plan.filter);
  if (!keys) return pass(keys.error());
  if (!*keys) return nullptr;
  return std::make_unique<Values>(setting, all, std::move(**keys), 0);
}

}  // namespace

Result<std::unique_ptr<AlikeSource>> open_alike(const SourceSetting& setting) {
  const IndexPlan& plan = setting.plan;
  const ItemView& view = setting.view;
  if (!plan.only || !view.is_indexed() || !view.entries_are_items()) return nullptr;
  const IndexOnly& only = *plan.only;
  if (!only.path) return open_count(setting);
  if (only.filter_is_exact) return open_values_among(setting);

  const bool is_narrowed = plan.filter.kind == Kind::ranges || plan.filter.kind == Kind::nothing;
  std::vector<TermRange> ranges =
      is_narrowed ? plan.filter.ranges : PathTerms(*only.path, plan.value_order).all().ranges;
  if (only.is_extremes) return open_extremes(setting, ranges);
  uint64_t lacking = 0;
  if (!is_narrowed) {
    if (!only.has_shapes) return nullptr;
    auto count = count_lacking(setting, *only.path);
    if (!count) return pass(count.error());
    if (!*count) return nullptr;
    lacking = **count;
  }
  return std::make_unique<Values>(setting, std::move(ranges), std::nullopt, lacking);
}

}  // namespace orrery::query
