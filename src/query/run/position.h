// Where a page of a query ended, and the next one goes on. Nothing in it counts on items staying
// where they are or on the partition staying whole: it says which rows are done, in an order that
// all parts of a container share.
//
//   rows as they come    by the key of their item, then by their number within it
//   ORDER BY             by their order values, then by key (in the direction of the first order
//                        value), then by number; with DISTINCT by order values, then fingerprint
//   ORDER BY RANK        by count (`given`): see ranked_page.h
//   GROUP BY, DISTINCT   by the fingerprint of the group's keys or of the row
//   what is put together from all of these, or from a query in FROM
//                        by order values if any, then by the fingerprint of the row, then by
//                        number among equal ones
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
  // Rows as they come: how many rows of the item are done, 0 for all. Otherwise the row's number.
  uint64_t rows_of_it = 0;
  uint64_t skipped = 0;  // rows that OFFSET has skipped so far
  uint64_t given = 0;    // rows given out so far

  // ORDER BY: the order values as a JSON array of arrays, [] for undefined. It may be left out to
  // make a position short: then the values are those with order_mark that the row still has.
  std::string order;
  std::optional<Fingerprint> order_mark;
  // The number that the last row has among those with the same order values (tie_numbers.h); unset:
  // rows are not numbered, or none of these was given.
  std::optional<uint32_t> tie_number;
  // All groups and rows up to this fingerprint have been given.
  std::optional<Fingerprint> result_mark;
  // What a page that ran out of time had gathered. GROUP BY, DISTINCT: from the items up to `key`
  // (grouped_page.cc). ORDER BY: order_progress.h.
  std::string gathered;

  // The same in a part of the stretch of keys that it was made in. What was gathered is of all
  // items up to a place, and cannot be divided: it is gathered again, and what was given stays
  // given.
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

// The place before all rows with these order values, or after them, for a query that goes on from
// `from` or starts there. A place that `from` has already stays if it is the later one.
Result<Position> at_order_values(const BoundQuery& query, const OrderValues& values,
                                 bool after_them, Position from);

}  // namespace orrery::query
