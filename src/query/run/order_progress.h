// How far a page of ORDER BY came when its time was up, as Position::gathered holds it.
//
// Where the index does not have the order, the next rows are known only when all items were read,
// which may take several pages. Between them goes what the first ones found: which rows are the
// next so far (where they are, not what they show), up to which place these are all that there
// are, and which items were read.
//
//   gathered = strings one after the other, as value/ordered.h writes bytes:
//     flags         of these letters: b, at_start; k, by_key; e, there is an end
//     key           of the scan
//     with an end   its key, rows_of_it, order, order_mark, result_mark (both marks may be empty)
//     then for each row its key, number and mark (empty without DISTINCT)
//   numbers in decimal
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/evaluate/fingerprint.h"
#include "query/run/position.h"

namespace orrery::query {

struct OrderProgress {
  // The items up to this one were read; empty: none was. With `at_start` it is where a view begins,
  // and those before it were read.
  std::string key;
  bool at_start = false;
  // Items are read by their keys even where the index has the order.
  bool by_key = false;

  // Rows after this place are for later pages. Its `order` or its `order_mark` is set.
  std::optional<Position> end;

  struct Found {
    std::string key;
    uint64_t number = 0;  // among the rows of its item
    std::optional<Fingerprint> mark;
    bool operator==(const Found&) const = default;
  };
  std::vector<Found> found;  // in order

  bool operator==(const OrderProgress&) const = default;
};

std::string encode(const OrderProgress& scan);
// What one row adds to it.
size_t encoded_size(const OrderProgress::Found& row);
// Code::invalid when it is not what encode() gives.
Result<OrderProgress> decode_order_progress(std::string_view gathered);

}  // namespace orrery::query
