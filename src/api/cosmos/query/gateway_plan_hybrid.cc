// The plan of ORDER BY RANK (rank_clause.h).
//
// A client first requests the statistics of every partition and puts their sums into the
// placeholders of the component queries. A component query sorts by one score and returns all of
// them, since fusing ranks needs each row's rank by every score. It returns more rows than are
// wanted, since the first row by the fused rank may be further down by each score.
#include <fmt/format.h>

#include <algorithm>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "api/cosmos/query/gateway_plan_parts.h"
#include "query/bind/rank_clause.h"
#include "query/parse/literal.h"
#include "query/parse/printer.h"

namespace orrery::cosmos::gateway {

namespace {

using query::Direction;
using query::ExprKind;
using query::ExprPtr;
using query::Layout;
using query::make_identifier;
using query::make_literal;
using query::make_number;
using query::make_placeholder;
using query::Operator;
using query::OrderItem;
using query::Parameters;
using query::Query;
using query::RankClause;
using query::RankScore;
using query::Select;
using query::SelectItem;
using query::Source;

constexpr uint64_t kLeastRows = 60;
constexpr uint64_t kRowsPerWanted = 2;
constexpr double kNoTextScore = -1;  // below every score
constexpr std::string_view kDocumentCount =
    "{documentdb-formattablehybridsearchquery-totaldocumentcount}";

struct Component {
  ExprPtr score;  // what the component queries compute
  SortOrder order = SortOrder::descending;
  double missing = kNoTextScore;  // for rows that have no score
};

Error refuse(std::string_view message) {
  std::string json = R"({"Errors":[)";
  value::append_json_string(json, message);
  json += "]}";
  return {.code = Code::invalid, .message = std::move(json)};
}

// The client sends its parameters with the query that it was given; not all clients send them with
// those of the plan (the JavaScript SDK 4.4 does not). So their values stand in there.
void inline_parameters(Query& query, const Parameters& parameters);

void inline_parameters(ExprPtr& expr, const Parameters& parameters) {
  if (!expr) return;
  if (expr->kind == ExprKind::parameter) {
    const auto found = parameters.find(expr->text);
    if (found != parameters.end()) expr = make_literal(found->second);
    return;
  }
  for (ExprPtr& child : expr->children) inline_parameters(child, parameters);
  if (expr->query) inline_parameters(*expr->query, parameters);
}

void inline_parameters(Query& query, const Parameters& parameters) {
  for (SelectItem& item : query.select.items) inline_parameters(item.expr, parameters);
  if (query.from) inline_parameters(query.from->collection, parameters);
  for (Source& join : query.joins) inline_parameters(join.collection, parameters);
  inline_parameters(query.where, parameters);
  for (ExprPtr& key : query.group_by) inline_parameters(key, parameters);
  for (OrderItem& item : query.order_by) inline_parameters(item.expr, parameters);
  for (ExprPtr* count : {&query.select.top, &query.offset, &query.limit}) {
    inline_parameters(*count, parameters);
  }
}

std::vector<Component> make_components(const RankClause& clause, const PlanContext& context) {
  std::vector<Component> components;
  size_t texts = 0;
  for (const RankScore& score : clause.scores) {
    Component component;
    if (score.is_text()) {
      const auto placeholder = [&](std::string_view what) {
        return make_placeholder(
            fmt::format("{{documentdb-formattablehybridsearchquery-{}-{}}}", what, texts));
      };
      component.score =
          text_score_call(score, make_placeholder(std::string(kDocumentCount)),
                          placeholder("totalwordcount"), placeholder("hitcountsarray"));
      ++texts;
    } else {
      component.score = score.distance->clone();
      component.order = order_of(*score.distance, Direction::unsaid, context);
      component.missing = component.order == SortOrder::ascending
                              ? std::numeric_limits<double>::max()
                              : std::numeric_limits<double>::lowest();
    }
    components.push_back(std::move(component));
  }
  return components;
}

// {"payload": …, "componentScores": […]}
ExprPtr ranked_payload(const Query& query, const std::vector<Component>& components) {
  std::vector<ExprPtr> scores;
  for (const Component& component : components) {
    scores.push_back(
        make_binary(Operator::coalesce, component.score->clone(), make_number(component.missing)));
  }
  std::vector<std::pair<std::string, ExprPtr>> members;
  members.emplace_back("payload", payload_of(query));
  members.emplace_back("componentScores", make_array(std::move(scores)));
  return make_object(std::move(members));
}

// How many rows of a component the first `wanted` of the fused ones may need.
uint64_t rows_for(uint64_t wanted) {
  return std::min(kRowsPerWanted * std::max(kLeastRows, wanted), kMaxCount);
}

QueryInfo component_info(const Query& query, const Counts& counts, const Component& component,
                         const std::vector<Component>& components) {
  Query rewritten = query.clone();
  QueryInfo info;
  info.has_non_streaming_order_by = true;
  info.order_by.push_back(component.order);
  info.order_by_expressions.push_back(to_text(*component.score));

  rewritten.order_by_rank = false;
  rewritten.order_by.clear();
  rewritten.order_by.push_back({.expr = component.score->clone(),
                                .direction = component.order == SortOrder::ascending
                                                 ? Direction::ascending
                                                 : Direction::descending});
  rewritten.where = with_filter(std::move(rewritten.where));
  rewritten.select.kind = Select::Kind::list;
  rewritten.select.items.clear();
  rewritten.select.items.push_back(
      {.expr = make_member(make_identifier(root_alias(query)), "_rid"), .alias = ""});
  std::vector<std::pair<std::string, ExprPtr>> item;
  item.emplace_back("item", component.score->clone());
  std::vector<ExprPtr> items;
  items.push_back(make_object(std::move(item)));
  rewritten.select.items.push_back({.expr = make_array(std::move(items)), .alias = "orderByItems"});
  rewritten.select.items.push_back({.expr = ranked_payload(query, components), .alias = "payload"});

  if (counts.top) {
    info.top = rows_for(*counts.top);
    rewritten.select.top = make_number(static_cast<double>(*info.top));
  }
  if (counts.offset) {
    info.offset = 0;
    info.limit = rows_for(*counts.offset + *counts.limit);
    rewritten.offset = make_number(0);
    rewritten.limit = make_number(static_cast<double>(*info.limit));
  }
  info.rewritten_query = to_text(rewritten, Layout::clauses);
  return info;
}

}  // namespace

Result<HybridSearchInfo> make_hybrid(const Query& query, const Counts& counts,
                                     const PlanContext& context, const Parameters& parameters) {
  Query inlined = query.clone();
  inline_parameters(inlined, parameters);
  const auto clause = read_rank_clause(inlined, parameters);
  if (!clause) return pass(refuse(clause.error().message));
  HybridSearchInfo info;
  info.weights = clause->weights;
  info.needs_statistics = needs_statistics(*clause);
  if (info.needs_statistics) {
    info.statistics_query = to_text(statistics_query(inlined, *clause), Layout::clauses);
  }
  const std::vector<Component> components = make_components(*clause, context);
  for (const Component& component : components) {
    info.components.push_back(component_info(inlined, counts, component, components));
  }
  info.skip = counts.offset;
  info.take = counts.top ? counts.top : counts.limit;
  return info;
}

}  // namespace orrery::cosmos::gateway
