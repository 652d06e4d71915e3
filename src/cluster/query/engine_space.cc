// See engine_space.h.
#include "cluster/query/engine_space.h"

#include <algorithm>
#include <utility>

#include "cluster/query/remote_views.h"
#include "cluster/replicas/replica_reader.h"
#include "partition/format.h"
#include "partition/view.h"
#include "query/run/page.h"

namespace orrery::cluster {
namespace {

// The stored key of an item: ordered(placement) row.
Result<bool> is_wanted(const value::LevelFilter& only, std::string_view stored_key) {
  if (only.levels.empty()) return true;
  auto key = partition::parse_item_key(stored_key);
  if (!key) return pass(key.error());
  return only.has(key->placement);
}

class PartitionEntries final : public query::EntryCursor {
 public:
  PartitionEntries(std::unique_ptr<partition::EntryCursor> cursor, const value::LevelFilter& only,
                   ReadAllowance& allowance)
      : cursor_(std::move(cursor)), only_(only), allowance_(allowance) {}
  Result<bool> next() override {
    if (auto allowed = allowance_.take_entry(); !allowed) return pass(allowed.error());
    return to_wanted(cursor_->next());
  }
  std::string_view term() const override { return cursor_->term(); }
  std::string_view key() const override { return cursor_->key(); }
  Result<bool> seek(std::string_view key) override {
    if (auto allowed = allowance_.take_entry(); !allowed) return pass(allowed.error());
    return to_wanted(cursor_->seek(key));
  }

 private:
  // From where it has moved to, on to the next entry of a wanted key.
  Result<bool> to_wanted(Result<bool> moved) {
    while (moved && *moved) {
      auto wanted = is_wanted(only_, cursor_->key());
      if (!wanted || *wanted) return wanted;
      if (auto allowed = allowance_.pass_over_entry(); !allowed) return pass(allowed.error());
      moved = cursor_->next();
    }
    return moved;
  }

  const std::unique_ptr<partition::EntryCursor> cursor_;
  const value::LevelFilter& only_;
  ReadAllowance& allowance_;
};

class PartitionItems final : public query::ItemCursor {
 public:
  PartitionItems(std::unique_ptr<partition::ItemCursor> cursor, const value::LevelFilter& only,
                 ReadAllowance& allowance)
      : cursor_(std::move(cursor)), only_(only), allowance_(allowance) {}
  Result<bool> next() override {
    if (auto allowed = allowance_.take_items(1); !allowed) return pass(allowed.error());
    auto moved = cursor_->next();
    if (!moved || !*moved) return moved;
    auto wanted = is_wanted(only_, cursor_->key());
    if (!wanted) return wanted;
    is_wanted_ = *wanted;
    return true;
  }
  std::string_view key() const override { return cursor_->key(); }
  std::string_view body() const override {
    return is_wanted_ ? cursor_->body() : std::string_view();
  }

 private:
  const std::unique_ptr<partition::ItemCursor> cursor_;
  const value::LevelFilter& only_;
  bool is_wanted_ = false;
  ReadAllowance& allowance_;
};

class PartitionView final : public query::ItemView {
 public:
  PartitionView(std::unique_ptr<partition::View> view, const value::LevelFilter& only,
                ReadAllowance& allowance)
      : view_(std::move(view)), only_(only), allowance_(allowance) {}

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
    return std::make_unique<PartitionEntries>(std::move(*cursor), only_, allowance_);
  }
  Shapes shapes_without(std::string_view term_path) const override {
    auto [lacking, others] = view_->shapes_without(term_path);
    return {std::move(lacking), std::move(others)};
  }
  Result<std::unique_ptr<query::ItemCursor>> items(const std::string* after,
                                                   bool inclusive) const override {
    auto cursor = view_->items(after, inclusive);
    if (!cursor) return pass(cursor.error());
    return std::make_unique<PartitionItems>(std::move(*cursor), only_, allowance_);
  }
  Result<std::unique_ptr<query::ItemCursor>> items_descending(
      const std::string* before) const override {
    auto cursor = view_->items_descending(before);
    if (!cursor) return pass(cursor.error());
    return std::make_unique<PartitionItems>(std::move(*cursor), only_, allowance_);
  }
  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
    if (auto allowed = allowance_.take_items(keys.size()); !allowed) return pass(allowed.error());
    return view_->fetch(keys);
  }

 private:
  const std::unique_ptr<partition::View> view_;
  const value::LevelFilter& only_;
  ReadAllowance& allowance_;
};

}  // namespace

Status ReadAllowance::take(uint32_t& left, size_t count) {
  if (reach == partition::Reach::files) return {};
  if (left < count) return fail(Code::would_wait, "the query reads more than it may here");
  left -= static_cast<uint32_t>(count);
  return {};
}

Status ReadAllowance::pass_over_entry() {
  constexpr uint32_t kBetweenStops = 256;
  if (auto allowed = take_entry(); !allowed) return allowed;
  if (++passed_over % kBetweenStops == 0 && stop && stop()) return pass(query::too_much_time());
  return {};
}

namespace {

// A part of a space, with ranges and a receipt of its own.
class EnginePart final : public query::ItemSpace {
 public:
  EnginePart(Engine& engine, RemoteViews* remote, RoutingPtr routing, query::PlacementRange range,
             const value::LevelFilter& only, const LsnDemand& demand, std::function<bool()> stop)
      : ranges_({std::move(range)}),
        space_(engine, remote, std::move(routing), {ranges_, only}, demand, receipt_,
               {.reach = partition::Reach::files, .stop = std::move(stop)}) {}

  Result<std::unique_ptr<query::ItemView>> open(std::string_view from_placement,
                                                std::string& end) override {
    auto view = space_.open(from_placement, end);
    has_view_ = has_view_ || (view && *view != nullptr);
    return view;
  }
  const value::IndexPolicy* policy() const override { return space_.policy(); }
  const value::Codec& codec() const override { return space_.codec(); }
  // Of the last view; null when there was none.
  const Receipt* receipt() const { return has_view_ ? &receipt_ : nullptr; }

 private:
  const std::vector<query::PlacementRange> ranges_;
  Receipt receipt_;
  EngineSpace space_;
  bool has_view_ = false;
};

}  // namespace

std::vector<query::ItemSpace::Part> EngineSpace::divide(std::string_view from_placement,
                                                        const std::function<bool()>& stop) {
  std::vector<Part> parts;
  if (allowance_.reach != partition::Reach::files) return parts;
  for (const query::PlacementRange& range : keys_.ranges) {
    const auto [first, end] = routing_->slots_of(range.min, range.max);
    for (size_t i = first; i < end; ++i) {
      const auto& slot = routing_->slots[i]->range;
      query::PlacementRange part{std::max(range.min, slot.min), std::min(range.max, slot.max)};
      if (part.max <= from_placement || part.min >= part.max) continue;
      std::string start = part.min;
      parts.push_back(
          {.start = std::move(start),
           .space = std::make_unique<EnginePart>(engine_, remote_, routing_, std::move(part),
                                                 keys_.only, demand_, stop)});
    }
  }
  return parts;
}

void EngineSpace::was_read(const ItemSpace& part) {
  const Receipt* receipt = static_cast<const EnginePart&>(part).receipt();
  if (receipt == nullptr) return;
  receipt_.range = receipt->range;
  receipt_.lsn = receipt->lsn;
}

Result<std::unique_ptr<query::ItemView>> EngineSpace::open(std::string_view from_placement,
                                                           std::string& end) {
  const auto range =
      std::ranges::upper_bound(keys_.ranges, from_placement, {}, &query::PlacementRange::max);
  if (range == keys_.ranges.end()) return nullptr;
  const std::string_view placement = std::max(std::string_view(range->min), from_placement);
  if (remote_ != nullptr) {
    // The newest: a partition that was split is at the nodes of its children.
    const RoutingPtr newest = engine_.find(routing_->container->number);
    const Routing& now = newest ? *newest : *routing_;
    const Slot& slot = *now.slot_of(placement);
    if (remote_->is_elsewhere(slot)) {
      const Placement* placements = engine_.placement();
      const ReplicaReader* replicas = placements ? placements->replicas() : nullptr;
      if (replicas == nullptr || !replicas->has_replica(slot, demand_)) {
        return open_remote(now, placement, *range, end);
      }
      auto view = open_here(placement, *range, end);
      // The replica is catching up, or has lost a file.
      if (view || view.error().code != Code::elsewhere) return view;
      return open_remote(now, placement, *range, end);
    }
  }
  return open_here(placement, *range, end);
}

Result<std::unique_ptr<query::ItemView>> EngineSpace::open_here(std::string_view placement,
                                                                const query::PlacementRange& range,
                                                                std::string& end) {
  auto reply =
      engine_.open_view(routing_, placement, range.min, range.max, demand_, allowance_.reach);
  if (!reply) return pass(reply.error());
  receipt_.range = reply->receipt.range;
  receipt_.lsn = reply->receipt.lsn;
  end = std::move(reply->max);
  return view_for_queries(std::move(reply->view), keys_.only, allowance_);
}

Result<std::unique_ptr<query::ItemView>> EngineSpace::open_remote(
    const Routing& routing, std::string_view placement, const query::PlacementRange& range,
    std::string& end) {
  if (allowance_.reach != partition::Reach::files) {
    return fail(Code::would_wait, "the partition is at another node");
  }
  auto opened = remote_->open(routing, placement, range.min, range.max, keys_.only, demand_);
  if (!opened) return pass(opened.error());
  receipt_.range = opened->receipt.range;
  receipt_.lsn = opened->receipt.lsn;
  end = std::move(opened->max);
  return std::move(opened->view);
}

std::unique_ptr<query::ItemView> view_for_queries(std::unique_ptr<partition::View> view,
                                                  const value::LevelFilter& only,
                                                  ReadAllowance& allowance) {
  return std::make_unique<PartitionView>(std::move(view), only, allowance);
}

}  // namespace orrery::cluster
