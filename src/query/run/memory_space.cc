// See memory_space.h.
#include "query/run/memory_space.h"

#include <algorithm>
#include <utility>

#include "value/ordered.h"
#include "value/placement.h"

namespace orrery::query {
namespace {

using Items = std::vector<MemorySpace::Item>;

std::unexpected<Error> no_index() {
  return fail(Code::internal, "items in memory have no index");
}

class MemoryCursor final : public ItemCursor {
 public:
  MemoryCursor(Items::const_iterator from, Items::const_iterator end) : next_(from), end_(end) {}
  Result<bool> next() override {
    if (next_ == end_) return false;
    at_ = next_++;
    return true;
  }
  std::string_view key() const override { return at_->key; }
  std::string_view body() const override { return at_->body; }

 private:
  Items::const_iterator at_;
  Items::const_iterator next_;
  Items::const_iterator end_;
};

class MemoryView final : public ItemView {
 public:
  explicit MemoryView(const Items& items) : items_(items) {}

  bool is_indexed() const override { return false; }
  bool entries_are_items() const override { return true; }
  uint64_t items_at_most() const override { return items_.size(); }
  uint64_t estimate(const TermRange& /*range*/) const override { return items_.size(); }
  Result<std::unique_ptr<EntryCursor>> entries(const TermRange& /*range*/, bool /*descending*/,
                                               const Place* /*after*/) const override {
    return no_index();
  }
  Shapes shapes_without(std::string_view /*term_path*/) const override { return {}; }

  Result<std::unique_ptr<ItemCursor>> items(const std::string* after,
                                            bool inclusive) const override {
    auto from = items_.begin();
    if (after != nullptr) {
      from = inclusive ? std::ranges::lower_bound(items_, *after, {}, &MemorySpace::Item::key)
                       : std::ranges::upper_bound(items_, *after, {}, &MemorySpace::Item::key);
    }
    return std::make_unique<MemoryCursor>(from, items_.end());
  }

  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
    std::vector<std::string_view> bodies;
    bodies.reserve(keys.size());
    for (const std::string& key : keys) {
      const auto found = std::ranges::lower_bound(items_, key, {}, &MemorySpace::Item::key);
      const bool there = found != items_.end() && found->key == key;
      bodies.push_back(there ? std::string_view(found->body) : std::string_view());
    }
    return bodies;
  }

 private:
  const Items& items_;
};

}  // namespace

MemorySpace::MemorySpace(std::vector<std::string> bodies) {
  items_.reserve(bodies.size());
  for (std::string& body : bodies) {
    std::string key;
    value::append_ordered_bytes(key, value::placement_min());
    value::append_u64(key, items_.size());
    items_.push_back({std::move(key), std::move(body)});
  }
}

MemorySpace::MemorySpace(std::vector<Placed> items) {
  items_.reserve(items.size());
  for (Placed& item : items) {
    std::string key;
    value::append_ordered_bytes(key, item.placement);
    key += item.row;
    items_.push_back({std::move(key), std::move(item.body)});
  }
  std::ranges::sort(items_, {}, &Item::key);
}

Result<std::unique_ptr<ItemView>> MemorySpace::open(std::string_view from_placement,
                                                    std::string& end) {
  if (from_placement >= value::placement_max()) return nullptr;
  end = value::placement_max();
  return std::make_unique<MemoryView>(items_);
}

}  // namespace orrery::query
