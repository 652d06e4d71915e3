// See item_reader.h.
#include "query/item_reader.h"

#include <utility>

#include "value/ordered.h"

namespace orrery::query {
namespace {

Result<std::string> placement_of(std::string_view key) {
  return value::take_ordered_bytes(key);
}

}  // namespace

void ItemReader::start(std::string key, bool inclusive) {
  after_ = std::move(key);
  inclusive_ = inclusive;
}

Result<bool> ItemReader::next() {
  for (;;) {
    if (!items_) {
      auto opened = open_next_view();
      if (!opened || !*opened) return opened;
    }
    auto found = items_->next();
    if (!found) return pass(found.error());
    if (*found) break;
    items_.reset();
    view_.reset();
  }
  counts_.items += 1;
  counts_.bytes += items_->body().size();
  auto json = value::JsonDocument::parse(items_->body());
  if (!json) return fail(Code::corrupt, "a stored item is not JSON: " + json.error().message);
  json_ = std::move(*json);
  return true;
}

Result<bool> ItemReader::open_next_view() {
  std::string from = view_end_;
  if (view_end_.empty() && after_) {
    auto placement = placement_of(*after_);
    if (!placement) return pass(placement.error());
    from = std::move(*placement);
  }
  auto view = space_.open(from, view_end_);
  if (!view) return pass(view.error());
  if (!*view) return false;
  view_ = std::move(*view);
  auto items = view_->items(after_ ? &*after_ : nullptr, inclusive_);
  if (!items) return pass(items.error());
  items_ = std::move(*items);
  after_.reset();
  return true;
}

Result<std::optional<std::string>> ItemReader::find(ItemSpace& space, const std::string& key) {
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
