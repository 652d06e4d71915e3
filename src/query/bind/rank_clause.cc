// See rank_clause.h.
#include "query/bind/rank_clause.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "query/parse/ast_forms.h"
#include "query/parse/literal.h"
#include "query/parse/parser.h"

namespace orrery::query {
namespace {

std::unexpected<RankError> refuse(const Expr& expr, std::string message) {
  return std::unexpected(RankError{.message = std::move(message), .span = expr.span});
}

std::vector<ExprPtr> clones_of(const std::vector<ExprPtr>& exprs) {
  std::vector<ExprPtr> clones;
  clones.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) clones.push_back(expr->clone());
  return clones;
}

template <class... Exprs>
ExprPtr call_of(std::string name, Exprs... exprs) {
  std::vector<ExprPtr> arguments;
  (arguments.push_back(std::move(exprs)), ...);
  return make_call(std::move(name), std::move(arguments));
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
        terms.push_back(make_literal(element));
      }
      continue;
    }
    terms.push_back(argument.clone());
  }
  return terms;
}

// {"a": c.x}["a"] is c.x: LINQ providers write it so.
const Expr& without_literals(const Expr& expr) {
  if (expr.kind != ExprKind::member || expr.children[0]->kind != ExprKind::object) return expr;
  const Expr& object = *expr.children[0];
  for (size_t i = object.names.size(); i-- > 0;) {
    if (object.names[i] == expr.text) return without_literals(*object.children[i]);
  }
  return expr;
}

// The source that a path starts from.
const std::string& source_of(const Expr& path) {
  return path.kind == ExprKind::identifier ? path.text : source_of(*path.children[0]);
}

std::expected<RankScore, RankError> read_score(const Query& query, const Expr& call,
                                               const Parameters& parameters) {
  RankScore score;
  if (is_vector_distance(call)) {
    score.distance = call.clone();
    return score;
  }
  if (!is_call(call, "FULLTEXTSCORE")) {
    return refuse(call,
                  "The ORDER BY RANK clause must be followed by a VectorDistance, a FullTextScore "
                  "or an RRF of them.");
  }
  if (call.children.size() < 2 || !is_path(without_literals(*call.children[0]))) {
    return refuse(call,
                  "The FullTextScore function requires a property path and at least one search "
                  "term.");
  }
  const Expr& text = without_literals(*call.children[0]);
  if (source_of(text) != root_alias(query)) {
    return refuse(call,
                  "The FullTextScore function takes a property of the item, and not of an "
                  "element that JOIN gives.");
  }
  score.text = text.clone();
  score.terms = terms_of(call, parameters);
  return score;
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

}  // namespace

std::expected<RankClause, RankError> read_rank_clause(const Query& query,
                                                      const Parameters& parameters) {
  const Expr& rank = *query.order_by[0].expr;
  if (query.order_by.size() != 1) {
    return refuse(rank, "The ORDER BY RANK clause takes one expression: use RRF for several.");
  }
  if (query.select.distinct || !query.group_by.empty() || has_aggregate(query.select)) {
    return refuse(rank, "ORDER BY RANK is not supported with DISTINCT, GROUP BY or aggregates.");
  }
  RankClause clause;
  std::vector<const Expr*> scores;
  if (is_call(rank, "RRF")) {
    for (const ExprPtr& argument : rank.children) {
      const bool is_last = &argument == &rank.children.back();
      auto found = is_last ? weights_of(*argument, parameters) : std::nullopt;
      if (found) {
        clause.weights = std::move(*found);
      } else {
        scores.push_back(argument.get());
      }
    }
    if (scores.size() > kMaxRankScores) {
      return refuse(
          rank, "The RRF function takes at most " + std::to_string(kMaxRankScores) + " scores.");
    }
    if (scores.size() < 2) return refuse(rank, "The RRF function requires at least two scores.");
  } else {
    scores.push_back(&rank);
  }
  if (!clause.weights.empty() && clause.weights.size() != scores.size()) {
    return refuse(rank, "The RRF function requires as many weights as it has scores.");
  }
  for (const Expr* one : scores) {
    auto score = read_score(query, *one, parameters);
    if (!score) return std::unexpected(score.error());
    clause.scores.push_back(std::move(*score));
  }
  return clause;
}

ExprPtr text_score_call(const RankScore& score, ExprPtr documents, ExprPtr words, ExprPtr hits) {
  return call_of("_FullTextScore", score.text->clone(), make_array(clones_of(score.terms)),
                 std::move(documents), std::move(words), std::move(hits));
}

bool needs_statistics(const RankClause& clause) {
  return std::ranges::any_of(clause.scores, &RankScore::is_text);
}

Query statistics_query(const Query& query, const RankClause& clause) {
  std::vector<ExprPtr> statistics;
  for (const RankScore& score : clause.scores) {
    if (!score.is_text()) continue;
    std::vector<ExprPtr> hits;
    for (const ExprPtr& term : score.terms) {
      hits.push_back(
          call_of("COUNTIF", call_of("FullTextContains", score.text->clone(), term->clone())));
    }
    std::vector<std::pair<std::string, ExprPtr>> members;
    members.emplace_back("totalWordCount",
                         call_of("SUM", call_of("_FullTextWordCount", score.text->clone())));
    members.emplace_back("hitCounts", make_array(std::move(hits)));
    statistics.push_back(make_object(std::move(members)));
  }
  Query out;
  out.select.kind = Select::Kind::list;
  out.select.items.push_back({.expr = call_of("COUNT", make_number(1)), .alias = "documentCount"});
  out.select.items.push_back(
      {.expr = make_array(std::move(statistics)), .alias = "fullTextStatistics"});
  out.from = query.clone().from;
  return out;
}

}  // namespace orrery::query
