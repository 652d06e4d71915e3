// See item_scan.h.
#include "query/run/item_scan.h"

#include <utility>

#include "query/run/page.h"
#include "query/run/stored_item.h"
#include "value/ordered.h"

namespace orrery::query {
namespace {

// Steps for opening a view and choosing its access path.
constexpr uint64_t kStepsOfView = 256;

Result<std::string> placement_of(std::string_view key) {
  return value::take_ordered_bytes(key);
}

}  // namespace

IndexPlan plan_scan(ItemSpace& space, const BoundQuery& query, Context& context) {
  const value::IndexPolicy* policy = space.policy();
  if (policy == nullptr) return {};
  // An index in the json order has no types and no numbers but those of JSON.
  const bool is_of_json = policy->definition().order == value::ValueOrder::json;
  if (is_of_json && &space.codec() != value::json_codec().get()) return {};
  return plan_index_use(query, *policy, context);
}

ItemScan::ItemScan(const PageInput& input, const BoundQuery& query, ReadCounts& counts)
    : space_(input.space),
      context_(input.context),
      counts_(counts),
      own_plan_(input.plan != nullptr
                    ? std::nullopt
                    : std::optional(plan_scan(input.space, query, input.context))),
      plan_(input.plan != nullptr ? *input.plan : *own_plan_) {}

void ItemScan::start(std::string key, bool inclusive) {
  start_ = SourceStart{.values = {}, .key = std::move(key), .inclusive = inclusive};
}

void ItemScan::start_in_order(std::optional<SourceStart> start) {
  start_in_order_ = std::move(start);
  wants_order_ = true;
}

Result<bool> ItemScan::next(size_t wanted) {
  for (bool has_left = false;; has_left = true) {
    if (!items_ && !alike_) {
      // Thousands of views may be empty: the caller needs positions between them to check its
      // deadline.
      if (has_left && context_.budget.spend(kStepsOfView)) {
        return stand_between_views();
      }
      auto opened = open_next_view(wanted);
      if (!opened || !*opened) return opened;
    }
    if (alike_) {
      auto found = alike_->next();
      if (!found) return pass(found.error());
      alike_at_ = *found;
      if (alike_at_ != nullptr) return true;
      leave_view();
      continue;
    }
    // What is not in the order of ORDER BY has to be read whole.
    auto found = items_->next(wants_order_ && !in_order_ ? kAllItems : wanted);
    if (!found) return pass(found.error());
    at_ = *found;
    if (at_ != nullptr) break;
    leave_view();
  }
  if (!has_item() || is_text_alone()) return true;
  auto item = parse_stored(space_.codec(), at_->body);
  if (!item) return pass(item.error());
  item_ = std::move(*item);
  return true;
}

bool ItemScan::stand_between_views() {
  between_.clear();
  value::append_ordered_bytes(between_, view_end_);
  place_between_ = {.key = between_, .body = {}};
  at_ = &place_between_;
  in_order_ = false;
  return true;
}

void ItemScan::leave_view() {
  alike_.reset();
  items_.reset();
  view_.reset();
}

Result<bool> ItemScan::open_next_view(size_t wanted) {
  if (context_.budget.is_over()) return pass(ended_early(context_.budget));
  std::string from = view_end_;
  const bool starts_here = start_ && views_ == 0;
  if (starts_here) {
    auto placement = placement_of(start_->key);
    if (!placement) return pass(placement.error());
    from = std::move(*placement);
  }
  auto view = space_.open(from, view_end_);
  if (!view) return pass(view.error());
  if (!*view) return false;
  view_ = std::move(*view);
  ++views_;
  const SourceSetting setting{*view_, plan_, context_, counts_, space_.codec()};
  if (wants_alike_) {
    auto alike = open_alike(setting);
    if (!alike) return pass(alike.error());
    alike_ = std::move(*alike);
    if (alike_) return true;
  }
  if (wants_order_) {
    auto ordered = open_in_order(setting, start_in_order_ ? &*start_in_order_ : nullptr, wanted);
    if (!ordered) return pass(ordered.error());
    items_ = std::move(*ordered);
    in_order_ = items_ != nullptr;
    if (in_order_) return true;
  }
  auto items = open_in_key_order(setting, starts_here ? &*start_ : nullptr);
  if (!items) return pass(items.error());
  items_ = std::move(*items);
  return true;
}

Result<std::optional<std::string>> ItemScan::next_view() {
  std::string end;
  auto following = space_.open(view_end_, end);
  if (!following) return pass(following.error());
  if (*following == nullptr) return std::nullopt;
  return view_end_;
}

Result<std::optional<std::string>> ItemScan::find(ItemSpace& space, const std::string& key) {
  auto placement = placement_of(key);
  if (!placement) return pass(placement.error());
  std::string end;
  auto view = space.open(*placement, end);
  if (!view) return pass(view.error());
  if (!*view) return std::nullopt;
  auto bodies = (*view)->fetch({&key, 1});
  if (!bodies) return pass(bodies.error());
  if (bodies->front().empty()) return std::nullopt;
  return std::string(bodies->front());
}

}  // namespace orrery::query
