// See key_cursor.h.
#include "query/run/key_cursor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "query/evaluate/evaluate.h"
#include "query/plan/term_ranges.h"
#include "query/run/page.h"

namespace orrery::query {
namespace {

using Cursors = std::vector<std::unique_ptr<KeyCursor>>;

class PointCursor final : public KeyCursor {
 public:
  PointCursor(std::unique_ptr<EntryCursor> cursor, ReadCounts& counts)
      : cursor_(std::move(cursor)), counts_(counts) {}

  Result<bool> next() override { return moved(cursor_->next()); }
  Result<bool> seek(std::string_view key) override {
    if (stands_ && cursor_->key() >= key) return true;
    return moved(cursor_->seek(key));
  }
  std::string_view key() const override { return cursor_->key(); }

 private:
  Result<bool> moved(Result<bool> found) {
    counts_.entries += 1;
    stands_ = found && *found;
    return found;
  }

  std::unique_ptr<EntryCursor> cursor_;
  ReadCounts& counts_;
  bool stands_ = false;
};

// The smallest keys out of more than fit in memory. Keys are added in any order, and sorted by
// finish().
class SmallestKeys {
 public:
  explicit SmallestKeys(size_t most) : most_(std::max<size_t>(most, 1)) {}

  void clear() {
    bytes_.clear();
    keys_.clear();
    has_bound_ = false;
  }
  // Whether the key is too large: enough smaller ones are kept.
  bool has_no_room(std::string_view key) const { return has_bound_ && key > view(bound_); }
  void add(std::string_view key) {
    if (has_no_room(key)) return;
    keys_.push_back({bytes_.size(), key.size()});
    bytes_ += key;
    if (keys_.size() >= 2 * most_) shrink();
  }
  void finish() {
    sort();
    if (keys_.size() > most_) shrink();
  }
  // Whether some were let go.
  bool is_cut() const { return has_bound_; }
  size_t size() const { return keys_.size(); }
  std::string_view at(size_t i) const { return view(keys_[i]); }
  size_t lower_bound(std::string_view key, size_t from) const {
    const auto found =
        std::ranges::lower_bound(keys_.begin() + static_cast<ptrdiff_t>(from), keys_.end(), key, {},
                                 [this](const Slice& slice) { return view(slice); });
    return static_cast<size_t>(found - keys_.begin());
  }

 private:
  struct Slice {
    size_t at = 0;
    size_t size = 0;
  };
  std::string_view view(const Slice& slice) const { return {bytes_.data() + slice.at, slice.size}; }
  void sort() {
    const auto of = [this](const Slice& slice) { return view(slice); };
    std::ranges::sort(keys_, {}, of);
    const auto repeated = std::ranges::unique(keys_, {}, of);
    keys_.erase(repeated.begin(), repeated.end());
  }
  void shrink() {
    sort();
    if (keys_.size() > most_) {
      keys_.resize(most_);
      has_bound_ = true;
    }
    std::string packed;
    for (Slice& slice : keys_) {
      const std::string_view key = view(slice);
      slice.at = packed.size();
      packed += key;
    }
    bytes_ = std::move(packed);
    bound_ = keys_.back();
  }

  const size_t most_;
  std::string bytes_;
  std::vector<Slice> keys_;
  bool has_bound_ = false;
  Slice bound_;
};

class RangeCursor final : public KeyCursor {
 public:
  RangeCursor(const KeyReader& reader, std::vector<TermRange> ranges, const IndexNode* tested,
              size_t kept_max)
      : reader_(reader),
        ranges_(std::move(ranges)),
        tester_(tested, reader.context),
        keys_(kept_max) {}

  Result<bool> next() override {
    if (!started_) {
      if (auto status = scan({}, true); !status) return pass(status.error());
    } else if (at_ < keys_.size()) {
      ++at_;
    }
    return stand();
  }
  Result<bool> seek(std::string_view key) override {
    if (!started_) {
      if (auto status = scan(std::string(key), true); !status) return pass(status.error());
    } else {
      at_ = keys_.lower_bound(key, at_);
      if (at_ == keys_.size() && keys_.is_cut()) {
        if (auto status = scan(std::string(key), true); !status) return pass(status.error());
      }
    }
    return stand();
  }
  std::string_view key() const override { return keys_.at(at_); }

 private:
  Result<bool> stand() {
    if (at_ == keys_.size() && keys_.is_cut()) {
      const std::string last(keys_.at(keys_.size() - 1));
      if (auto status = scan(last, false); !status) return pass(status.error());
    }
    return at_ < keys_.size();
  }

  Status scan(const std::string& from, bool inclusive) {
    started_ = true;
    at_ = 0;
    keys_.clear();
    for (const TermRange& range : ranges_) {
      if (auto status = scan(range, from, inclusive); !status) return status;
    }
    keys_.finish();
    return {};
  }

  Status scan(const TermRange& range, const std::string& from, bool inclusive) {
    Budget& budget = reader_.context.budget;
    if (budget.spend(kStepsOfSeek)) return pass(ended_early(budget));
    auto cursor = reader_.view.entries(range, false, nullptr);
    if (!cursor) return pass(cursor.error());
    // The keys of one term are sorted. So the scan seeks to the first that is wanted, and stops
    // behind the last that can be kept.
    const bool is_in_order = is_point(range);
    auto found = is_in_order && !from.empty() ? (*cursor)->seek(from) : (*cursor)->next();
    if (found && !*found) reader_.counts.entries += 1;  // to find none is work too
    for (; found && *found; found = (*cursor)->next()) {
      reader_.counts.entries += 1;
      if (budget.spend(kStepsOfEntry)) return pass(ended_early(budget));
      const std::string_view key = (*cursor)->key();
      if (inclusive ? key < from : key <= from) continue;
      if (is_in_order && keys_.has_no_room(key)) return {};
      bool is_sure = true;
      if (tester_.passes((*cursor)->term(), is_sure)) keys_.add(key);
    }
    if (!found) return pass(found.error());
    // When the budget ran out during the last test, its result is void.
    if (budget.is_over()) return pass(ended_early(budget));
    return {};
  }

  const KeyReader reader_;
  const std::vector<TermRange> ranges_;
  TermTester tester_;
  SmallestKeys keys_;
  size_t at_ = 0;
  bool started_ = false;
};

// A merge: the cursor with the smallest key is on top of a heap.
class Union final : public KeyCursor {
 public:
  explicit Union(Cursors cursors) : cursors_(std::move(cursors)) {}

  Result<bool> next() override {
    if (!started_) return start(nullptr);
    const std::string at(key());
    while (!heap_.empty() && heap_.front()->key() == at) {
      if (auto status = move_top(nullptr); !status) return pass(status.error());
    }
    return !heap_.empty();
  }
  Result<bool> seek(std::string_view key) override {
    if (!started_) return start(&key);
    while (!heap_.empty() && heap_.front()->key() < key) {
      if (auto status = move_top(&key); !status) return pass(status.error());
    }
    return !heap_.empty();
  }
  std::string_view key() const override { return heap_.front()->key(); }

 private:
  static bool after(const KeyCursor* a, const KeyCursor* b) { return a->key() > b->key(); }

  Result<bool> start(const std::string_view* key) {
    started_ = true;
    for (const auto& cursor : cursors_) {
      auto found = key != nullptr ? cursor->seek(*key) : cursor->next();
      if (!found) return found;
      if (*found) heap_.push_back(cursor.get());
    }
    std::ranges::make_heap(heap_, after);
    return !heap_.empty();
  }
  Status move_top(const std::string_view* key) {
    std::ranges::pop_heap(heap_, after);
    auto found = key != nullptr ? heap_.back()->seek(*key) : heap_.back()->next();
    if (!found) return pass(found.error());
    if (*found) {
      std::ranges::push_heap(heap_, after);
    } else {
      heap_.pop_back();
    }
    return {};
  }

  Cursors cursors_;
  std::vector<KeyCursor*> heap_;
  bool started_ = false;
};

class Leapfrog final : public Intersection {
 public:
  Leapfrog(Cursors cursors, uint64_t pause_after, Budget& budget)
      : cursors_(std::move(cursors)), pause_after_(pause_after), budget_(budget) {}

  Result<bool> next() override {
    auto found = cursors_.front()->next();
    return found && *found ? align() : found;
  }
  Result<bool> seek(std::string_view key) override {
    auto found = cursors_.front()->seek(key);
    return found && *found ? align() : found;
  }
  std::string_view key() const override { return cursors_.front()->key(); }
  bool is_common() const override { return is_common_; }

 private:
  // From where the first cursor stands on, seeks until all stand at the same key.
  Result<bool> align() {
    uint64_t steps = 0;
    is_common_ = true;
    for (size_t i = 1; i < cursors_.size();) {
      if (budget_.spend(kStepsOfSeek)) return pass(ended_early(budget_));
      const std::string_view wanted = key();
      auto found = cursors_[i]->seek(wanted);
      if (!found || !*found) return found;
      if (cursors_[i]->key() == wanted) {
        ++i;
        continue;
      }
      if (++steps == pause_after_) {
        is_common_ = false;
        return true;
      }
      found = cursors_.front()->seek(cursors_[i]->key());
      if (!found || !*found) return found;
      i = 1;
    }
    return true;
  }

  Cursors cursors_;
  const uint64_t pause_after_;
  Budget& budget_;
  bool is_common_ = true;
};

}  // namespace

TermTester::TermTester(const IndexNode* node, Context& context)
    : test_(node == nullptr ? nullptr : node->test.get()),
      context_(context),
      path_size_(test_ == nullptr ? 0 : value::term_path(node->path).size()) {}

bool TermTester::passes(std::string_view term, bool& is_sure) {
  if (test_ == nullptr) return true;
  if (term != last_term_) {
    last_term_ = term;
    Frame frame(1, context_);
    frame.slots[0] = value_of_term(term, path_size_);
    last_is_sure_ = !frame.slots[0].is_undefined();
    const value::Value result = evaluate(test_->expr, frame);
    last_passes_ = !last_is_sure_ || (result.is_bool() && result.boolean() == test_->wanted);
  }
  if (!last_is_sure_) is_sure = false;
  return last_passes_;
}

Result<std::unique_ptr<KeyCursor>> point_cursor(const KeyReader& reader, const TermRange& point) {
  auto cursor = reader.view.entries(point, false, nullptr);
  if (!cursor) return pass(cursor.error());
  return std::make_unique<PointCursor>(std::move(*cursor), reader.counts);
}

std::unique_ptr<KeyCursor> range_cursor(const KeyReader& reader, std::vector<TermRange> ranges,
                                        const IndexNode* tested, size_t kept_max) {
  return std::make_unique<RangeCursor>(reader, std::move(ranges), tested, kept_max);
}

std::unique_ptr<KeyCursor> union_cursor(std::vector<std::unique_ptr<KeyCursor>> cursors) {
  if (cursors.size() == 1) return std::move(cursors.front());
  return std::make_unique<Union>(std::move(cursors));
}

std::unique_ptr<Intersection> intersection_cursor(std::vector<std::unique_ptr<KeyCursor>> cursors,
                                                  uint64_t pause_after, Budget& budget) {
  return std::make_unique<Leapfrog>(std::move(cursors), pause_after, budget);
}

}  // namespace orrery::query
