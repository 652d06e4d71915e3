// See position.h.
#include "query/run/position.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace orrery::query {

Result<Position> at_order_values(const BoundQuery& query, const OrderValues& values,
                                 bool after_them, Position from) {
  if (values.size() != query.order_by.size()) {
    return fail(Code::invalid,
                fmt::format("the query is to start at {} order values, and has {} ORDER BY "
                            "expressions",
                            values.size(), query.order_by.size()));
  }
  if (!from.order.empty()) {
    auto place = parse_order_values(query, from.order);
    if (!place) return pass(place.error());
    const auto order = compare(query, *place, values);
    if (order > 0 || (order == 0 && !after_them)) return from;
  } else if (from.order_mark) {
    return from;  // its values were too long for it; it was made after this place was first asked
                  // for
  }
  from.order = to_json(values);
  from.order_mark = fingerprint_of(values);
  // Keys are compared in the direction of the first expression.
  const bool is_last_key = after_them != (!query.order_by.empty() && query.order_by[0].descending);
  from.key = is_last_key ? std::string("\xFF\xFF") : std::string();
  from.rows_of_it = after_them ? std::numeric_limits<uint64_t>::max() : 0;
  Fingerprint mark{};
  if (after_them) mark.fill(0xFF);
  from.result_mark = mark;
  from.tie_number.reset();
  return from;
}

}  // namespace orrery::query
