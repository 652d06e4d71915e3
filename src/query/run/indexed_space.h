// For tests: items in memory with the index entries that a policy gives them, in one view or in
// several with bounds between them. It counts what is read of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/plan/item_view.h"
#include "value/composite.h"
#include "value/ordered.h"
#include "value/placement.h"
#include "value/terms.h"

namespace orrery::query {

class IndexedSpace final : public ItemSpace {
 public:
  struct Placed {
    std::string placement;
    std::string row;
    std::string body;
  };
  struct Options {
    value::IndexPolicy policy = value::IndexPolicy::everything();
    std::vector<std::string> bounds;  // placement keys at which a view ends and the next begins
    size_t shapes_max = 1000;         // more are told apart no longer
    bool is_indexed = true;
    std::shared_ptr<const value::Codec> codec = value::json_codec();
    bool entries_are_items = true;
    // What estimate() answers: the truth, or a number that makes the index look cheap or expensive.
    enum class Estimate : uint8_t { truth, one, everything } estimate = Estimate::truth;
  };

  IndexedSpace(const std::vector<Placed>& items, Options options) : options_(std::move(options)) {
    for (const Placed& item : items) {
      std::string key;
      value::append_ordered_bytes(key, item.placement);
      key += item.row;
      items_[key] = item.body;
    }
    for (const auto& [key, body] : items_) {
      const auto item = options_.codec->parse(body).value();
      std::set<std::string> paths;
      options_.policy.each_term(item.root(), [&](std::string_view term) {
        entries_.insert({std::string(term), key});
        if (term.front() == value::kCompositeLead) return;
        const std::string path(term.substr(0, path_size(term)));
        if (path.find('\x03') == std::string::npos) paths.insert(path);
      });
      entries_.insert({shape_term(paths), key});
    }
    options_.bounds.emplace_back(value::placement_max());
  }
  // Items in the order in which they are given.
  explicit IndexedSpace(const std::vector<std::string>& bodies)
      : IndexedSpace(in_order(bodies), Options{}) {}

  static std::vector<Placed> in_order(const std::vector<std::string>& bodies) {
    std::vector<Placed> placed;
    for (const std::string& body : bodies) {
      std::string row;
      value::append_u64(row, placed.size());
      placed.push_back({std::string(value::placement_min()), std::move(row), body});
    }
    return placed;
  }

  Result<std::unique_ptr<ItemView>> open(std::string_view from_placement,
                                         std::string& end) override {
    std::string begin;
    for (const std::string& bound : options_.bounds) {
      if (from_placement < bound) {
        end = bound;
        return std::make_unique<View>(*this, begin, bound);
      }
      begin = bound;
    }
    return nullptr;
  }

  const value::IndexPolicy* policy() const override { return &options_.policy; }
  const value::Codec& codec() const override { return *options_.codec; }
  std::vector<Part> divide(std::string_view from_placement,
                           const std::function<bool()>& /*stop*/) override {
    std::vector<Part> parts;
    std::string begin;
    for (const std::string& bound : options_.bounds) {
      if (from_placement < bound) {
        parts.push_back({begin, std::make_unique<OnePart>(*this, begin, bound)});
      }
      begin = bound;
    }
    return parts;
  }
  size_t fetched() const { return fetched_; }
  size_t estimates() const { return estimates_; }
  size_t most_cursors() const { return most_cursors_; }  // that were open at a time

 private:
  // Views between two of the bounds.
  class OnePart final : public ItemSpace {
   public:
    OnePart(IndexedSpace& space, std::string begin, std::string end)
        : space_(space), begin_(std::move(begin)), end_(std::move(end)) {}
    Result<std::unique_ptr<ItemView>> open(std::string_view from_placement,
                                           std::string& end) override {
      if (from_placement >= end_) return nullptr;
      return space_.open(std::max<std::string_view>(from_placement, begin_), end);
    }
    const value::IndexPolicy* policy() const override { return space_.policy(); }
    const value::Codec& codec() const override { return space_.codec(); }

   private:
    IndexedSpace& space_;
    const std::string begin_;
    const std::string end_;
  };

  using Entry = std::pair<std::string, std::string>;
  using Entries = std::set<Entry>;
  using Items = std::map<std::string, std::string>;

  static size_t path_size(std::string_view term) {
    std::string_view rest = term;
    while (rest.front() != '\x01') {
      const bool is_property = rest.front() == '\x02';
      rest.remove_prefix(1);
      if (is_property) static_cast<void>(value::take_ordered_bytes(rest));
    }
    return term.size() - rest.size() + 1;
  }
  std::string shape_term(const std::set<std::string>& paths) {
    std::string term = "\x04";
    const auto known = shapes_.find(paths);
    if (known == shapes_.end() && shapes_.size() >= options_.shapes_max) {
      has_others_ = true;
      value::append_u64(term, UINT64_MAX);
    } else {
      value::append_u64(term, shapes_.try_emplace(paths, shapes_.size()).first->second);
    }
    return term;
  }

  class Cursor final : public EntryCursor {
   public:
    Cursor(IndexedSpace& space, std::vector<const Entry*> entries)
        : space_(space), entries_(std::move(entries)) {
      const size_t open = ++space_.cursors_;
      if (open > space_.most_cursors_) space_.most_cursors_ = open;
    }
    ~Cursor() override { --space_.cursors_; }
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    Result<bool> next() override {
      at_ = started_ ? at_ + 1 : 0;
      started_ = true;
      return at_ < entries_.size();
    }
    std::string_view term() const override { return entries_[at_]->first; }
    std::string_view key() const override { return entries_[at_]->second; }
    Result<bool> seek(std::string_view key) override {
      started_ = true;
      if (at_ >= entries_.size()) return false;
      const std::string& here = entries_[at_]->first;
      while (at_ < entries_.size() && entries_[at_]->first == here && entries_[at_]->second < key) {
        ++at_;
      }
      return at_ < entries_.size();
    }

   private:
    IndexedSpace& space_;
    std::vector<const Entry*> entries_;
    size_t at_ = 0;
    bool started_ = false;
  };

  class ItemsCursor final : public ItemCursor {
   public:
    ItemsCursor(Items::const_iterator from, Items::const_iterator end) : next_(from), end_(end) {}
    Result<bool> next() override {
      if (next_ == end_) return false;
      at_ = next_++;
      return true;
    }
    std::string_view key() const override { return at_->first; }
    std::string_view body() const override { return at_->second; }

   private:
    Items::const_iterator at_, next_, end_;
  };

  class View final : public ItemView {
   public:
    View(IndexedSpace& space, const std::string& begin, const std::string& end) : space_(space) {
      value::append_ordered_bytes(begin_, begin);
      value::append_ordered_bytes(end_, end);
    }

    bool is_indexed() const override { return space_.options_.is_indexed; }
    bool entries_are_items() const override { return space_.options_.entries_are_items; }
    uint64_t items_at_most() const override {
      return static_cast<uint64_t>(
          std::distance(space_.items_.lower_bound(begin_), space_.items_.lower_bound(end_)));
    }
    uint64_t estimate(const TermRange& range) const override {
      using enum Options::Estimate;
      ++space_.estimates_;
      if (space_.options_.estimate == one) return 1;
      if (space_.options_.estimate == everything) return items_at_most();
      return static_cast<uint64_t>(std::distance(space_.entries_.lower_bound({range.from, ""}),
                                                 space_.entries_.lower_bound({range.to, ""})));
    }
    Result<std::unique_ptr<EntryCursor>> entries(const TermRange& range, bool descending,
                                                 const Place* after) const override {
      std::vector<const Entry*> found;
      for (auto at = space_.entries_.lower_bound({range.from, ""});
           at != space_.entries_.end() && at->first < range.to; ++at) {
        if (at->second >= begin_ && at->second < end_) found.push_back(&*at);
      }
      if (descending) std::ranges::reverse(found);
      if (after != nullptr) {
        const Entry place{after->term, after->key};
        std::erase_if(found, [&](const Entry* entry) {
          return descending ? *entry >= place : *entry <= place;
        });
      }
      return std::make_unique<Cursor>(space_, std::move(found));
    }
    Shapes shapes_without(std::string_view term_path) const override {
      Shapes found;
      for (const auto& [paths, number] : space_.shapes_) {
        if (paths.contains(std::string(term_path))) continue;
        found.lacking.emplace_back("\x04");
        value::append_u64(found.lacking.back(), number);
      }
      if (space_.has_others_) value::append_u64(found.others.emplace("\x04"), UINT64_MAX);
      return found;
    }
    Result<std::unique_ptr<ItemCursor>> items(const std::string* after,
                                              bool inclusive) const override {
      auto from = space_.items_.lower_bound(begin_);
      if (after != nullptr && *after >= begin_) {
        from = inclusive ? space_.items_.lower_bound(*after) : space_.items_.upper_bound(*after);
      }
      const auto end = space_.items_.lower_bound(end_);
      if (from != space_.items_.end() && from->first >= end_) from = end;
      return std::make_unique<ItemsCursor>(from, end);
    }
    Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
      std::vector<std::string_view> bodies;
      for (const std::string& key : keys) {
        const auto found = space_.items_.find(key);
        bodies.push_back(found == space_.items_.end() ? std::string_view() : found->second);
        ++space_.fetched_;
      }
      return bodies;
    }

   private:
    IndexedSpace& space_;
    std::string begin_;
    std::string end_;
  };

  Options options_;
  Items items_;
  Entries entries_;
  std::map<std::set<std::string>, uint64_t> shapes_;
  bool has_others_ = false;
  std::atomic<size_t> fetched_ = 0;
  std::atomic<size_t> estimates_ = 0;
  std::atomic<size_t> cursors_ = 0;
  std::atomic<size_t> most_cursors_ = 0;
};

}  // namespace orrery::query
