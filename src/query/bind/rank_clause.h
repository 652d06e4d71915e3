// What ORDER BY RANK sorts by: FullTextScore(path, terms…), VectorDistance(…), or an RRF of several
// of these, with or without weights. Read from the tree for those who run it (bind.h,
// ranked_page.h) and for those who leave it to the client.
//
// How much a word tells depends on all documents. So a text score is computed in two steps: a
// query for the statistics, and `_FullTextScore(path, [terms], documents, words, [hits])` with
// them.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "query/bind/bind.h"
#include "query/parse/ast.h"

namespace orrery::query {

// The place in ranks that every row starts from: 1 / (60 + rank) are added up.
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

// {"documentCount": …, "fullTextStatistics": [{"totalWordCount": …, "hitCounts": […]}, …]}: one
// element for each text score, one count for each of its terms. Of all rows, whatever WHERE says.
bool needs_statistics(const RankClause& clause);
Query statistics_query(const Query& query, const RankClause& clause);

}  // namespace orrery::query
