// Resource ids by which clients resume among rows that tie in ORDER BY.
//
// A client that runs an ORDER BY by its plan asks each range for rows of the form
//   SELECT c._rid, [{"item": …}] AS orderByItems, … AS payload
// and merges them. To resume from a token of its own, it requests rows from the token's order
// values on, and skips ties whose _rid comes before the token's: the vendor's service breaks ties
// by resource id. Here ties are broken by key. So in rows of this form _rid, which clients use for
// nothing else, encodes the number of the row among its ties (query/run/tie_numbers.h). The item's
// own _rid is in the payload.
//
// The least number of a key is the upper 30 bits of its effective partition key. Few keys share
// these, so rows on either side of a new boundary between ranges keep their numbers.
//
// Clients reverse the comparison for a descending order: if the first order descends or, in
// JavaScript, if any does. x-ms-cosmos-query-execution-info makes the former do what the latter
// assume.
//
// Component queries of a hybrid search are excluded: there clients match items of several queries
// by _rid.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "query/parse/ast.h"
#include "query/run/page.h"
#include "value/placement.h"

namespace orrery::cosmos {

inline constexpr uint32_t kTieLeastMax = (1U << 30) - 1;

struct TieRids {
  uint32_t database = 0;
  uint32_t container = 0;
  value::Placement placement = value::Placement::hash_v2;
  bool keys_descend = false;  // rows with equal values come from the last key to the first
  bool reversed = false;      // clients take the larger _rid for the earlier one

  // Monotonic in the key: it does not decrease from key to key or, with keys_descend, in reverse.
  uint32_t least(std::string_view item_key) const;
  // `row` begins with {"_rid":"…"; one that does not stays as it is.
  void write(std::string& row, uint32_t number) const;

  query::TieNumbering numbering() const;
  // x-ms-cosmos-query-execution-info
  std::string execution_info() const;
};

// Unset: the query is not of this form.
std::optional<TieRids> tie_rids_of(const query::Query& query, value::Placement placement,
                                   uint32_t database, uint32_t container);

}  // namespace orrery::cosmos
