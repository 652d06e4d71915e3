// The first rows in an order, out of all rows that are offered: sorted, without duplicates, bounded
// in number and memory. When rows had to be dropped, last_place() is the position up to which the
// set is complete. Rows after it are for later pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "query/evaluate/bound.h"
#include "query/evaluate/fingerprint.h"
#include "query/evaluate/order_values.h"

namespace orrery::query {

// A row with its position in the order that position.h defines.
struct OrderedRow {
  OrderValues order;
  std::string key;
  uint64_t number = 0;  // among the rows of its item
  Fingerprint mark{};   // of the result, with DISTINCT
  std::string result;   // not part of its place

  size_t memory() const {
    return sizeof(OrderedRow) + memory_of(order) + key.size() + result.size();
  }
  // A copy of its position, without the result, that outlives the item.
  OrderedRow placed() const { return {to_owned(order), key, number, mark, {}}; }
};

class RowBefore {
 public:
  explicit RowBefore(const BoundQuery& query) : query_(&query) {}
  bool operator()(const OrderedRow& a, const OrderedRow& b) const;

 private:
  const BoundQuery* query_;
};

struct FingerprintHash {
  size_t operator()(const Fingerprint& mark) const;
};

class NextRows {
 public:
  // `room`: the most rows that are kept, at least one.
  NextRows(const BoundQuery& query, uint64_t room)
      : query_(query), before_(query), room_(room), rows_(before_) {}

  // False when it is for later pages.
  bool has_room(const OrderedRow& row) const { return !end_ || !before_(*end_, row); }
  // Whether keep() would drop the row at once, because enough earlier ones are kept.
  bool is_beyond(const OrderedRow& row) const {
    return rows_.size() >= room_ && before_(*rows_.rbegin(), row);
  }
  // DISTINCT: false when an equal row is kept at an earlier position. An equal row at a later
  // position is removed in favour of this one.
  bool is_first_of_its_kind(const OrderedRow& row);
  // Adds a row for which has_room() is true; false when it was dropped again. A row whose position
  // is kept already is ignored.
  bool keep(OrderedRow row);
  // Leaves all rows after a place to later pages.
  void cut_after(OrderedRow place);
  void clear();

  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  size_t size() const { return rows_.size(); }
  size_t memory() const { return memory_; }  // of the rows
  bool contains(const Fingerprint& mark) const { return by_mark_.contains(mark); }
  // Null: no row was left to later pages.
  const OrderedRow* last_place() const { return end_ ? &*end_ : nullptr; }

 private:
  using Rows = std::set<OrderedRow, RowBefore>;
  void forget(Rows::iterator row);

  const BoundQuery& query_;
  const RowBefore before_;
  const uint64_t room_;
  Rows rows_;
  size_t memory_ = 0;  // of rows_
  std::optional<OrderedRow> end_;
  std::unordered_map<Fingerprint, Rows::iterator, FingerprintHash> by_mark_;  // DISTINCT
};

}  // namespace orrery::query
