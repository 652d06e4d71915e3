// Where a page of a query ended and the next one resumes. A position stays valid when items are
// written and when partitions split: it says which rows have been returned, in a total order that
// is the same in all parts of a container. That order is
//
//   no clause below      by the key of the item, then by the row's number within the item
//   ORDER BY             by order values, then by key (in the direction of the first ORDER BY
//                        expression), then by number; with DISTINCT by order values, then by the
//                        fingerprint of the row
//   ORDER BY RANK        by count (`given`): see ranked_page.h
//   GROUP BY, DISTINCT   by the fingerprint of the group's keys or of the row
//   gathered_page.h      by order values if any, then by the fingerprint of the row, then by number
//                        among its duplicates
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "query/evaluate/bound.h"
#include "query/evaluate/fingerprint.h"
#include "query/evaluate/order_values.h"

namespace orrery::query {

struct Position {
  // Of the last row given, or of the last item read.
  std::string key;
  // Without ORDER BY: how many rows of the item have been returned, 0 for all. Otherwise the row's
  // number.
  uint64_t rows_of_it = 0;
  uint64_t skipped = 0;  // rows that OFFSET has skipped so far
  uint64_t given = 0;    // rows given out so far

  // ORDER BY: the order values (to_json in order_values.h). To keep a position
  // short they may be left out; then they are read again from the row, and must still have the
  // fingerprint order_mark.
  std::string order;
  std::optional<Fingerprint> order_mark;
  // The number of the last row among its ties (tie_numbers.h); unset: ties are not numbered, or
  // none of them was returned.
  std::optional<uint32_t> tie_number;
  // All groups and rows up to this fingerprint have been given.
  std::optional<Fingerprint> result_mark;
  // The progress of a page that ran out of time. GROUP BY, DISTINCT: the groups of the items up to
  // `key` (grouped_page.cc). ORDER BY: order_progress.h.
  std::string gathered;

  // The same position for a part of the key range that it was made for, after a split. The progress
  // is that of all items in the range, and cannot be divided, so it is dropped and made again. Rows
  // that were returned stay returned.
  Position in_part() && {
    if (gathered.empty()) return std::move(*this);
    gathered.clear();
    if (!order_mark) {  // otherwise it is the place of a row
      key.clear();
      rows_of_it = 0;
    }
    return std::move(*this);
  }

  bool operator==(const Position&) const = default;
};

// The position before all rows with these order values, or after them, for a query that resumes at
// `from`. If `from` is later, it stays as it is.
Result<Position> at_order_values(const BoundQuery& query, const OrderValues& values,
                                 bool after_them, Position from);

}  // namespace orrery::query
