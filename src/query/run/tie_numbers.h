// Numbers for ties, that is for rows with equal order values. They increase from row to row.
// Clients that merge several ranges resume by them.
//
// The number of a row is TieNumbering::least of its key plus a hash of the order values, or the
// number of the tie before it plus one if that is larger. So it depends only on the ties before it
// in the range. A query that starts again at the first tie, with another filter or on another page,
// gives the same numbers. Since `least` follows the key order, the ranges after a split give the
// numbers of the range before it, except to rows that had to count on from the row before them.
//
// The hash is for clients that tell rows apart by their numbers alone: rows with different order
// values should have different numbers. Several rows of one item (JOIN) are numbered like those of
// several items.
//
// Numbers stop at kTieNumberMax: all further ties have it.
#pragma once

#include <cstdint>
#include <optional>

#include "query/evaluate/bound.h"
#include "query/run/next_rows.h"
#include "query/run/page.h"

namespace orrery::query {

class TieNumbers {
 public:
  TieNumbers(const BoundQuery& query, const TieNumbering& numbering)
      : query_(query), numbering_(numbering) {}

  // The rows that are passed in must outlive this object.

  // Continues after the last row of an earlier page, which had this number; unset: no row of this
  // tie has been returned.
  void start_after(const OrderedRow& row, std::optional<uint32_t> number);
  // The number of the next row.
  uint32_t next(const OrderedRow& row);
  // The number to store in a position at `place`, which is that of the last row or after it.
  std::optional<uint32_t> at(const OrderedRow& place) const;

 private:
  bool equals_last(const OrderedRow& row) const;

  const BoundQuery& query_;
  const TieNumbering& numbering_;
  const OrderedRow* last_ = nullptr;
  std::optional<uint32_t> number_;       // of last_
  std::optional<uint32_t> values_hash_;  // of its order values, where it was needed
};

}  // namespace orrery::query
