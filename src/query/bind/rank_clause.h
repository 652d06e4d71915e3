// What ORDER BY RANK sorts by: FullTextScore(path, terms…), VectorDistance(…), or an RRF of several
// of these, with or without weights. Read from the tree, both for running it (bind.h,
// ranked_page.h) and for plans that the client runs.
//
// The weight of a word depends on how many documents have it. So a text score is computed in two
// steps: a query for the statistics, then `_FullTextScore(path, [terms], documents, words, [hits])`
// with them.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/ast.h"

namespace orrery::query {

// The constant k of reciprocal rank fusion: a row's score is the sum of 1 / (k + rank).
inline constexpr double kRankConstant = 60;

struct RankScore {
  ExprPtr distance;  // the VectorDistance call; null: a text score
  ExprPtr text;      // the path of the text
  std::vector<ExprPtr> terms;

  bool is_text() const { return distance == nullptr; }
};

struct RankClause {
  std::vector<RankScore> scores;
  std::vector<double> weights;  // as many as scores; empty: none are given
};

struct RankError {
  std::string message;
  Span span;
};

std::expected<RankClause, RankError> read_rank_clause(const Query& query,
                                                      const Parameters& parameters);

ExprPtr text_score_call(const RankScore& score, ExprPtr documents, ExprPtr words, ExprPtr hits);

// The statistics are {"documentCount": …, "fullTextStatistics": [{"totalWordCount": …, "hitCounts":
// […]}, …]}: one element for each text score, one count for each of its terms. They are of all
// documents, without WHERE.
bool needs_statistics(const RankClause& clause);
Query statistics_query(const Query& query, const RankClause& clause);

}  // namespace orrery::query
