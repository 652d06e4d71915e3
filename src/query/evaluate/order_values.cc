// See order_values.h.
#include "query/evaluate/order_values.h"

#include <fmt/format.h>

#include <utility>

#include "query/evaluate/kept_value.h"
#include "value/json.h"

namespace orrery::query {

using value::Value;

OrderValues order_values_of(const BoundQuery& query, Frame& frame) {
  OrderValues values;
  values.reserve(query.order_by.size());
  for (const BoundOrder& order : query.order_by) values.push_back(evaluate(order.expr, frame));
  return values;
}

OrderValues to_owned(const OrderValues& values) {
  OrderValues owned;
  owned.reserve(values.size());
  for (const Value& value : values) owned.push_back(value.to_owned());
  return owned;
}

size_t memory_of(const OrderValues& values) {
  size_t memory = 0;
  for (const Value& value : values) memory += value.memory();
  return memory;
}

std::strong_ordering compare(const BoundQuery& query, const OrderValues& a, const OrderValues& b) {
  for (size_t i = 0; i < query.order_by.size(); ++i) {
    const auto order = value::compare(a[i], b[i], query.value_order);
    if (order == std::strong_ordering::equal) continue;
    return query.order_by[i].descending ? 0 <=> order : order;
  }
  return std::strong_ordering::equal;
}

std::string to_json(const OrderValues& values) {
  std::string json = "[";
  for (const Value& value : values) {
    if (json.size() > 1) json += ',';
    append_kept(json, value);
  }
  json += ']';
  return json;
}

Result<OrderValues> parse_order_values(const BoundQuery& query, const std::string& json) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return fail(Code::invalid, "the position has no order values: " + json);
  const Value all = Value::make_document(std::move(*document));
  OrderValues values;
  for (const Value form : all.elements()) {
    auto value = parse_kept(form);
    if (!value) return fail(Code::invalid, "the position has no order values: " + json);
    values.push_back(std::move(*value));
  }
  if (values.size() != query.order_by.size()) {
    return fail(Code::invalid, "the position has order values of another query: " + json);
  }
  return values;
}

Error order_values_gone() {
  return Error{.code = Code::invalid,
               .message =
                   "the row at which the last page ended has changed or is gone, and its "
                   "ORDER BY values were too long for the continuation: start the query "
                   "again, or allow longer continuations"};
}

}  // namespace orrery::query
