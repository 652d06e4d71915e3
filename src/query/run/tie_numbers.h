// Numbers for rows with equal order values, for clients that merge several ranges and go on by the
// number of a row: among equals each row has a larger one than the row before it.
//
// The number of a row is the least one that its key may have (TieNumbering::least) plus a hash of
// the order values, or the one after that of the row before it if that is larger. So it depends on
// the rows with the same order values that come before it in the range, and on nothing else: a
// query that starts again at the first of them, with another filter or in another page, gives the
// same numbers. Since the least numbers grow with the keys, a range that was divided goes on with
// those of the whole one, but for keys whose least number was taken by rows before them.
//
// The hash is for clients that count rows by their numbers alone: rows with other order values
// should have other ones. Rows of one item (JOIN) are as different as those of several.
//
// Numbers end at kTieNumberMax, which all rows after it have.
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

  // Rows that it is given outlive it.

  // The next row comes after this one, whose number is that of an earlier page; unset: no row with
  // these order values has been given.
  void start_after(const OrderedRow& row, std::optional<uint32_t> number);
  // The number of the next row.
  uint32_t next(const OrderedRow& row);
  // What a later page starts after this place with, which is that of the last row or after it.
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
