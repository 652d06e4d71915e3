// The plan on the wire, and what depends on which features a client says it has.
//
//   {"partitionedQueryExecutionInfoVersion": 2, "queryInfo": {…}, "queryRanges": […]}
//   {"partitionedQueryExecutionInfoVersion": 2, "hybridSearchQueryInfo": {…}, "queryRanges": […]}
// Placement keys are upper-case hexadecimal. Members without a value are written as null: clients
// read them without checking that they exist.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "api/cosmos/query/gateway_plan.h"
#include "base/bytes.h"
#include "value/json.h"

namespace orrery::cosmos {

namespace {

using query::Aggregate;
using query::PlacementRange;

// Writes the members of one object.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  void raw(std::string_view name, std::string_view json) {
    key(name);
    out_ += json;
  }
  void text(std::string_view name, std::string_view text) {
    key(name);
    value::append_json_string(out_, text);
  }
  void boolean(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
  void number(std::string_view name, const std::optional<uint64_t>& value) {
    raw(name, value ? std::to_string(*value) : "null");
  }
  // `write(element)` appends one.
  template <class List, class Write>
  void list(std::string_view name, const List& elements, Write&& write) {
    key(name);
    out_ += '[';
    bool is_first = true;
    for (const auto& element : elements) {
      if (!is_first) out_ += ',';
      is_first = false;
      write(element);
    }
    out_ += ']';
  }
  std::string& key(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    value::append_json_string(out_, name);
    out_ += ':';
    return out_;
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
};

std::string_view wire_name(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::count:
      return "Count";
    case Aggregate::count_if:
      return "CountIf";
    case Aggregate::sum:
      return "Sum";
    case Aggregate::average:
      return "Average";
    case Aggregate::min:
      return "Min";
    case Aggregate::max:
      return "Max";
    case Aggregate::make_list:
      return "MakeList";
    case Aggregate::make_set:
      return "MakeSet";
  }
  return "";
}

std::string_view wire_name(DistinctType distinct) {
  switch (distinct) {
    case DistinctType::none:
      return "None";
    case DistinctType::ordered:
      return "Ordered";
    case DistinctType::unordered:
      return "Unordered";
  }
  return "";
}

std::string_view wire_name(SortOrder order) {
  return order == SortOrder::ascending ? "Ascending" : "Descending";
}

void write(std::string& out, const QueryInfo& info) {
  const auto text = [&out](std::string_view one) { value::append_json_string(out, one); };
  const auto name = [&text](auto one) { text(wire_name(one)); };
  Members members(out);
  members.text("distinctType", wire_name(info.distinct));
  members.number("top", info.top);
  members.number("offset", info.offset);
  members.number("limit", info.limit);
  members.list("orderBy", info.order_by, name);
  members.list("orderByExpressions", info.order_by_expressions, text);
  members.list("groupByExpressions", info.group_by_expressions, text);
  members.list("groupByAliases", info.group_by_aliases, text);
  members.list("aggregates", info.aggregates, name);
  Members types(members.key("groupByAliasToAggregateType"));
  for (const auto& [alias, aggregate] : info.group_by_aggregates) {
    if (aggregate) {
      types.text(alias, wire_name(*aggregate));
    } else {
      types.raw(alias, "null");
    }
  }
  types.end();
  members.text("rewrittenQuery", info.rewritten_query);
  members.boolean("hasSelectValue", info.has_select_value);
  if (info.distinct_count_alias) {
    Members count(members.key("dCountInfo"));
    count.text("dCountAlias", *info.distinct_count_alias);
    count.end();
  } else {
    members.raw("dCountInfo", "null");
  }
  members.boolean("hasNonStreamingOrderBy", info.has_non_streaming_order_by);
  members.end();
}

void write(std::string& out, const HybridSearchInfo& info) {
  Members members(out);
  members.text("globalStatisticsQuery", info.statistics_query);
  members.list("componentQueryInfos", info.components,
               [&out](const QueryInfo& component) { write(out, component); });
  members.list("componentWeights", info.weights,
               [&out](double weight) { value::append_json_number(out, weight); });
  members.number("skip", info.skip.value_or(0));
  members.number("take", info.take);
  members.boolean("requiresGlobalStatistics", info.needs_statistics);
  members.end();
}

// A key by itself is a range that holds both of its ends. No range at all becomes the smallest key:
// one partition has to be asked, for an aggregate of nothing is a row too.
void write_range(std::string& out, const PlacementRange* range) {
  const bool is_point = range == nullptr || range->is_point();
  const std::string min = range == nullptr ? "" : to_hex_upper(range->min);
  Members members(out);
  members.text("min", min);
  members.text("max", is_point ? min : to_hex_upper(range->max));
  members.boolean("isMinInclusive", true);
  members.boolean("isMaxInclusive", is_point);
  members.end();
}

std::vector<std::string_view> features_of(const QueryInfo& info) {
  std::vector<std::string_view> features;
  const auto need = [&features](bool is_needed, std::string_view feature) {
    if (is_needed) features.push_back(feature);
  };
  size_t aggregates = info.aggregates.size();
  bool has_list = false;
  bool has_count_if = false;
  const auto look_at = [&](Aggregate aggregate) {
    has_list |= aggregate == Aggregate::make_list || aggregate == Aggregate::make_set;
    has_count_if |= aggregate == Aggregate::count_if;
  };
  for (const Aggregate aggregate : info.aggregates) look_at(aggregate);
  for (const auto& [alias, aggregate] : info.group_by_aggregates) {
    if (!aggregate) continue;
    ++aggregates;
    look_at(*aggregate);
  }
  need(aggregates > 0, "Aggregate");
  need(aggregates > 1, "MultipleAggregates");
  need(aggregates > 0 && !info.has_select_value, "NonValueAggregate");
  need(has_list, "ListAndSetAggregate");
  need(has_count_if, "CountIf");
  need(info.distinct != DistinctType::none, "Distinct");
  need(info.distinct_count_alias.has_value(), "DCount");
  need(!info.group_by_expressions.empty(), "GroupBy");
  need(!info.order_by.empty(), "OrderBy");
  need(info.order_by.size() > 1, "MultipleOrderBy");
  need(info.has_non_streaming_order_by, "NonStreamingOrderBy");
  need(info.offset.has_value(), "OffsetAndLimit");
  need(info.top.has_value(), "Top");
  return features;
}

bool names(std::string_view list, std::string_view feature) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == feature) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

std::string plan_json(const GatewayPlan& plan) {
  std::string out;
  Members members(out);
  members.raw("partitionedQueryExecutionInfoVersion", "2");
  if (plan.hybrid) {
    write(members.key("hybridSearchQueryInfo"), *plan.hybrid);
  } else {
    write(members.key("queryInfo"), plan.info);
  }
  if (plan.ranges.empty()) {
    members.list("queryRanges", std::array{0}, [&out](int) { write_range(out, nullptr); });
  } else {
    members.list("queryRanges", plan.ranges,
                 [&out](const PlacementRange& range) { write_range(out, &range); });
  }
  members.end();
  return out;
}

std::string cross_partition_error(const GatewayPlan& plan) {
  std::string out;
  Members members(out);
  members.text("code", "BadRequest");
  members.text("message",
               "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates.");
  members.text("additionalErrorInfo", plan_json(plan));
  members.end();
  return out;
}

Status check_features(const GatewayPlan& plan, std::string_view supported) {
  std::vector<std::string_view> features;
  if (plan.hybrid) {
    features.emplace_back("HybridSearch");
    if (!plan.hybrid->weights.empty()) features.emplace_back("WeightedRankFusion");
  } else {
    features = features_of(plan.info);
  }
  std::string missing;
  for (const std::string_view feature : features) {
    if (names(supported, feature)) continue;
    missing +=
        fmt::format("\nQuery contained {}, which the calling client does not support.", feature);
  }
  if (missing.empty()) return {};
  return fail(Code::invalid,
              "Query contains 1 or more unsupported features. Upgrade your SDK to a version that "
              "does support the requested features:" +
                  missing);
}

}  // namespace orrery::cosmos
