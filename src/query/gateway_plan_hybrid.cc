// The plan of ORDER BY RANK: FullTextScore(…), or RRF(score, …[, weights]) over text scores and
// vector distances.
//
// How much a word tells (BM25) depends on the whole container, so a client first asks every
// partition for its statistics (statistics_query) and puts their sums into the placeholders of the
// component queries. A component query sorts by one score and shows all of them: fusing ranks needs
// each row's place by every score. Every component gives more rows than are wanted, since a row
// that is first by the fused rank may be further down by each score.
#include <fmt/format.h>

#include <algorithm>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "query/gateway_plan_parts.h"
#include "query/printer.h"

namespace orrery::query::gateway {

namespace {

constexpr uint64_t kLeastRows = 60;
constexpr uint64_t kRowsPerWanted = 2;
constexpr double kNoTextScore = -1;  // below every score
constexpr std::string_view kDocumentCount =
    "{documentdb-formattablehybridsearchquery-totaldocumentcount}";

struct Component {
  ExprPtr score;  // what the component queries compute
  SortOrder order = SortOrder::descending;
  double missing = kNoTextScore;  // for rows that have no score
  // Text scores only: the text's path, and what is looked for.
  ExprPtr text;
  std::vector<ExprPtr> terms;
};

Error refuse(std::string_view message) {
  std::string json = R"({"Errors":[)";
  value::append_json_string(json, message);
  json += "]}";
  return {.code = Code::invalid, .message = std::move(json)};
}

ExprPtr literal_of(const value::Value& value) {
  if (value.is_string()) return make_string(std::string(value.text()));
  if (value.is_number()) return make_number(value.number());
  if (value.is_bool()) return make_boolean(value.boolean());
  if (value.is_object()) {
    std::vector<std::pair<std::string, ExprPtr>> members;
    for (const auto& [name, member] : value.members()) {
      members.emplace_back(std::string(name), literal_of(member));
    }
    return make_object(std::move(members));
  }
  if (value.is_array()) {
    std::vector<ExprPtr> elements;
    for (const value::Value& element : value.elements()) elements.push_back(literal_of(element));
    return make_array(std::move(elements));
  }
  return make_null();
}

// FullTextScore(path, 'a', 'b'), or with one list: FullTextScore(path, ['a', 'b']).
std::vector<ExprPtr> terms_of(const Expr& call, const Parameters& parameters) {
  std::vector<ExprPtr> terms;
  for (size_t i = 1; i < call.children.size(); ++i) {
    const Expr& argument = *call.children[i];
    if (argument.kind == ExprKind::array) {
      for (const ExprPtr& element : argument.children) terms.push_back(element->clone());
      continue;
    }
    const auto found =
        argument.kind == ExprKind::parameter ? parameters.find(argument.text) : parameters.end();
    if (found != parameters.end() && found->second.is_array()) {
      for (const value::Value& element : found->second.elements()) {
        terms.push_back(literal_of(element));
      }
      continue;
    }
    terms.push_back(argument.clone());
  }
  return terms;
}

ExprPtr list_of(const std::vector<ExprPtr>& exprs) {
  std::vector<ExprPtr> elements;
  elements.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) elements.push_back(expr->clone());
  return make_array(std::move(elements));
}

Result<Component> make_component(const Expr& call, size_t text_index, const PlanContext& context,
                                 const Parameters& parameters) {
  Component component;
  if (is_call(call, "VECTORDISTANCE")) {
    component.score = call.clone();
    component.order = order_of(call, Direction::unsaid, context);
    component.missing = component.order == SortOrder::ascending
                            ? std::numeric_limits<double>::max()
                            : std::numeric_limits<double>::lowest();
    return component;
  }
  if (!is_call(call, "FULLTEXTSCORE")) {
    return pass(
        refuse("The ORDER BY RANK clause must be followed by a VectorDistance, a "
               "FullTextScore or an RRF of them."));
  }
  if (call.children.size() < 2 || !is_path(*call.children[0])) {
    return pass(
        refuse("The FullTextScore function requires a property path and at least one "
               "search term."));
  }
  component.text = call.children[0]->clone();
  component.terms = terms_of(call, parameters);
  std::vector<ExprPtr> arguments;
  arguments.push_back(component.text->clone());
  arguments.push_back(list_of(component.terms));
  arguments.push_back(make_placeholder(std::string(kDocumentCount)));
  for (const std::string_view what : {"totalwordcount", "hitcountsarray"}) {
    arguments.push_back(make_placeholder(
        fmt::format("{{documentdb-formattablehybridsearchquery-{}-{}}}", what, text_index)));
  }
  component.score = make_call("_FullTextScore", std::move(arguments));
  return component;
}

// The weights of RRF(…, [1, 2]), with the sign that `-1` is parsed with. Not a list: no weights.
std::optional<std::vector<double>> weights_of(const Expr& expr, const Parameters& parameters) {
  std::vector<double> weights;
  if (expr.kind == ExprKind::parameter) {
    const auto found = parameters.find(expr.text);
    if (found == parameters.end() || !found->second.is_array()) return std::nullopt;
    for (const value::Value& weight : found->second.elements()) {
      if (!weight.is_number()) return std::nullopt;
      weights.push_back(weight.number());
    }
    return weights;
  }
  if (expr.kind != ExprKind::array) return std::nullopt;
  for (const ExprPtr& element : expr.children) {
    const bool is_negative = element->kind == ExprKind::unary && element->op == Operator::minus;
    const Expr& number = is_negative ? *element->children[0] : *element;
    if (number.kind != ExprKind::literal || number.type != value::Type::number) {
      return std::nullopt;
    }
    weights.push_back(is_negative ? -number.number : number.number);
  }
  return weights;
}

Result<std::vector<Component>> read_components(const Query& query, const PlanContext& context,
                                               const Parameters& parameters,
                                               std::vector<double>& weights) {
  if (query.order_by.size() != 1) {
    return pass(refuse("The ORDER BY RANK clause takes one expression: use RRF for several."));
  }
  const Expr& rank = *query.order_by[0].expr;
  std::vector<const Expr*> scores;
  if (is_call(rank, "RRF")) {
    for (const ExprPtr& argument : rank.children) {
      const bool is_last = &argument == &rank.children.back();
      auto found = is_last ? weights_of(*argument, parameters) : std::nullopt;
      if (found) {
        weights = std::move(*found);
      } else {
        scores.push_back(argument.get());
      }
    }
    if (scores.size() < 2) {
      return pass(refuse("The RRF function requires at least two scores."));
    }
  } else {
    scores.push_back(&rank);
  }
  if (!weights.empty() && weights.size() != scores.size()) {
    return pass(refuse("The RRF function requires as many weights as it has scores."));
  }
  std::vector<Component> components;
  size_t texts = 0;
  for (const Expr* score : scores) {
    auto component = make_component(*score, texts, context, parameters);
    if (!component) return pass(component.error());
    if (component->text) ++texts;
    components.push_back(std::move(*component));
  }
  return components;
}

// SELECT COUNT(1) AS documentCount, [{"totalWordCount": …, "hitCounts": […]}] AS fullTextStatistics
std::string statistics_query(const Query& query, const std::vector<Component>& components) {
  const auto call_on = [](std::string name, ExprPtr argument) {
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(argument));
    return make_call(std::move(name), std::move(arguments));
  };
  std::vector<ExprPtr> statistics;
  for (const Component& component : components) {
    if (!component.text) continue;
    std::vector<ExprPtr> hits;
    for (const ExprPtr& term : component.terms) {
      std::vector<ExprPtr> arguments;
      arguments.push_back(component.text->clone());
      arguments.push_back(term->clone());
      hits.push_back(call_on("COUNTIF", make_call("FullTextContains", std::move(arguments))));
    }
    std::vector<std::pair<std::string, ExprPtr>> members;
    members.emplace_back("totalWordCount",
                         call_on("SUM", call_on("_FullTextWordCount", component.text->clone())));
    members.emplace_back("hitCounts", make_array(std::move(hits)));
    statistics.push_back(make_object(std::move(members)));
  }
  Query out;
  out.select.kind = Select::Kind::list;
  out.select.items.push_back({.expr = call_on("COUNT", make_number(1)), .alias = "documentCount"});
  out.select.items.push_back(
      {.expr = make_array(std::move(statistics)), .alias = "fullTextStatistics"});
  out.from = query.clone().from;
  return to_text(out, Layout::clauses);
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
  if (query.select.distinct || !query.group_by.empty() || has_aggregate(query.select)) {
    return pass(refuse("ORDER BY RANK is not supported with DISTINCT, GROUP BY or aggregates."));
  }
  HybridSearchInfo info;
  const auto components = read_components(query, context, parameters, info.weights);
  if (!components) return pass(components.error());
  info.needs_statistics =
      std::ranges::any_of(*components, [](const Component& one) { return one.text != nullptr; });
  if (info.needs_statistics) info.statistics_query = statistics_query(query, *components);
  for (const Component& component : *components) {
    info.components.push_back(component_info(query, counts, component, *components));
  }
  info.skip = counts.offset;
  info.take = counts.top ? counts.top : counts.limit;
  return info;
}

}  // namespace orrery::query::gateway
