// The progress of an ORDER BY that ran out of time, as it is stored in Position::gathered.
//
// Where no index has the order, the first rows are known only when all items have been read, which
// may take several pages. From page to page goes what was found so far: how far the items have been
// read, the positions (not the results) of the first rows among them, and the position up to which
// these rows are complete.
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
  // The scan resumes after this item; empty: at the first. With `at_start` the key is where a view
  // begins, and the scan resumes at it.
  std::string key;
  bool at_start = false;
  // The scan is in key order even where an index has the order.
  bool by_key = false;

  // Rows after this position are for later pages. `order` or `order_mark` is set in it.
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
// How many bytes one row adds to the encoding.
size_t encoded_size(const OrderProgress::Found& row);
// Code::invalid when it is not what encode() gives.
Result<OrderProgress> decode_order_progress(std::string_view gathered);

}  // namespace orrery::query
