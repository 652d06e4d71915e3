// See query_view.h.
#include "api/cosmos/query_view.h"

#include <algorithm>
#include <utility>

#include "partition/view.h"

namespace orrery::cosmos {
namespace {

class PartitionEntries final : public query::EntryCursor {
 public:
  PartitionEntries(std::unique_ptr<partition::EntryCursor> cursor, ReadAllowance& allowance)
      : cursor_(std::move(cursor)), allowance_(allowance) {}
  Result<bool> next() override {
    if (auto allowed = allowance_.take_entry(); !allowed) return pass(allowed.error());
    return cursor_->next();
  }
  std::string_view term() const override { return cursor_->term(); }
  std::string_view key() const override { return cursor_->key(); }
  Result<bool> seek(std::string_view key) override {
    if (auto allowed = allowance_.take_entry(); !allowed) return pass(allowed.error());
    return cursor_->seek(key);
  }

 private:
  const std::unique_ptr<partition::EntryCursor> cursor_;
  ReadAllowance& allowance_;
};

class PartitionItems final : public query::ItemCursor {
 public:
  PartitionItems(std::unique_ptr<partition::ItemCursor> cursor, ReadAllowance& allowance)
      : cursor_(std::move(cursor)), allowance_(allowance) {}
  Result<bool> next() override {
    if (auto allowed = allowance_.take_items(1); !allowed) return pass(allowed.error());
    return cursor_->next();
  }
  std::string_view key() const override { return cursor_->key(); }
  std::string_view body() const override { return cursor_->body(); }

 private:
  const std::unique_ptr<partition::ItemCursor> cursor_;
  ReadAllowance& allowance_;
};

class PartitionView final : public query::ItemView {
 public:
  PartitionView(std::unique_ptr<partition::View> view, ReadAllowance& allowance)
      : view_(std::move(view)), allowance_(allowance) {}

  bool is_indexed() const override { return view_->is_indexed(); }
  bool entries_are_items() const override { return view_->entries_are_items(); }
  uint64_t items_at_most() const override { return view_->items_at_most(); }
  uint64_t estimate(const query::TermRange& range) const override {
    return view_->estimate(range.from, range.to);
  }
  Result<std::unique_ptr<query::EntryCursor>> entries(const query::TermRange& range,
                                                      bool descending,
                                                      const Place* after) const override {
    partition::View::Place place;
    if (after != nullptr) place = {after->term, after->key};
    auto cursor =
        view_->entries(range.from, range.to, descending, after == nullptr ? nullptr : &place);
    if (!cursor) return pass(cursor.error());
    return std::make_unique<PartitionEntries>(std::move(*cursor), allowance_);
  }
  Shapes shapes_without(std::string_view term_path) const override {
    auto [lacking, others] = view_->shapes_without(term_path);
    return {std::move(lacking), std::move(others)};
  }
  Result<std::unique_ptr<query::ItemCursor>> items(const std::string* after,
                                                   bool inclusive) const override {
    auto cursor = view_->items(after, inclusive);
    if (!cursor) return pass(cursor.error());
    return std::make_unique<PartitionItems>(std::move(*cursor), allowance_);
  }
  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
    if (auto allowed = allowance_.take_items(keys.size()); !allowed) return pass(allowed.error());
    return view_->fetch(keys);
  }

 private:
  const std::unique_ptr<partition::View> view_;
  ReadAllowance& allowance_;
};

}  // namespace

Status ReadAllowance::take(uint32_t& left, size_t count) {
  if (reach == partition::Reach::files) return {};
  if (left < count) return fail(Code::would_wait, "the query reads more than it may here");
  left -= static_cast<uint32_t>(count);
  return {};
}

Result<std::unique_ptr<query::ItemView>> EngineSpace::open(std::string_view from_placement,
                                                           std::string& end) {
  const auto range =
      std::ranges::upper_bound(ranges_, from_placement, {}, &query::PlacementRange::max);
  if (range == ranges_.end()) return nullptr;
  auto reply = engine_.open_view(routing_, std::max(std::string_view(range->min), from_placement),
                                 range->min, range->max, demand_, allowance_.reach);
  if (!reply) return pass(reply.error());
  receipt_.range = reply->receipt.range;
  receipt_.lsn = reply->receipt.lsn;
  end = std::move(reply->max);
  return std::make_unique<PartitionView>(std::move(reply->view), allowance_);
}

}  // namespace orrery::cosmos
