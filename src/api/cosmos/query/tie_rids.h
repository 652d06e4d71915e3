// Resource ids for rows with equal ORDER BY values, which clients go on by.
//
// A client that runs an ORDER BY by its plan asks each range for rows of the form
//   SELECT c._rid, [{"item": …}] AS orderByItems, … AS payload
// and merges them. When it goes on from a token of its own, it asks for rows from the token's order
// values on, and of those with equal values passes over the ones whose _rid comes before the
// token's: the vendor's service gives such rows in the order of resource ids. Here they come in the
// order of keys. So in rows of this form _rid, which clients use for nothing else, tells a row's
// place among its equals (query/run/tie_numbers.h). The item's own _rid is in the payload.
//
// The least number of a key is the upper 30 bits of its effective partition key, which few keys
// have in common: so rows on either side of a new boundary between ranges keep their numbers.
//
// Clients turn the comparison round for a descending order: by the first one or, in JavaScript, if
// any descends. x-ms-cosmos-query-execution-info tells those of the first kind what those of the
// second assume.
//
// Not for component queries of a hybrid search: clients find the same item in several of them by
// its _rid.
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

  // Not less for a later key, or with keys_descend for an earlier one.
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
