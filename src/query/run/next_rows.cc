// See next_rows.h.
#include "query/run/next_rows.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <utility>

#include "query/run/page.h"

namespace orrery::query {

bool RowBefore::operator()(const OrderedRow& a, const OrderedRow& b) const {
  const auto order = compare(*query_, a.order, b.order);
  if (order != std::strong_ordering::equal) return order == std::strong_ordering::less;
  if (query_->distinct) return a.mark < b.mark;
  if (a.key != b.key) return (a.key < b.key) != query_->order_by[0].descending;
  return a.number < b.number;
}

size_t FingerprintHash::operator()(const Fingerprint& mark) const {
  size_t hash = 0;
  std::copy_n(mark.begin(), sizeof hash, reinterpret_cast<uint8_t*>(&hash));
  return hash;
}

bool NextRows::is_first_of_its_kind(const OrderedRow& row) {
  const auto kept = by_mark_.find(row.mark);
  if (kept == by_mark_.end()) return true;
  if (!before_(row, *kept->second)) return false;
  forget(kept->second);
  return true;
}

bool NextRows::keep(OrderedRow row) {
  const size_t memory = row.memory();
  const auto [at, is_new] = rows_.insert(std::move(row));
  if (!is_new) return true;
  memory_ += memory;
  if (query_.distinct) by_mark_[at->mark] = at;
  const OrderedRow* const taken = &*at;
  bool is_kept = true;
  while (rows_.size() > 1 && (rows_.size() > room_ || memory_ > kPageMemoryMax)) {
    is_kept = is_kept && &*rows_.rbegin() != taken;
    forget(std::prev(rows_.end()));
    end_ = rows_.rbegin()->placed();
  }
  return is_kept;
}

void NextRows::cut_after(OrderedRow place) {
  if (end_ && before_(*end_, place)) return;
  end_ = std::move(place);
  while (!rows_.empty() && !has_room(*rows_.rbegin())) forget(std::prev(rows_.end()));
}

void NextRows::clear() {
  by_mark_.clear();
  rows_.clear();
  memory_ = 0;
  end_.reset();
}

void NextRows::forget(Rows::iterator row) {
  memory_ -= row->memory();
  if (query_.distinct) by_mark_.erase(row->mark);
  rows_.erase(row);
}

}  // namespace orrery::query
