// Full text: words, phrases and their scores. Pure.
//
// A text is cut into words (runs of letters, marks and digits), each in lower case and brought to
// its English stem; stop words do not count. A term of one word matches that word, a term of
// several the phrase. With an edit distance (0 to 2), words that differ by so many insertions,
// deletions or changes match too; then the words as written are compared, not their stems.
//
// Scores are BM25 (k1 = 1.2, b = 0.75). They need statistics of all documents: each partition
// counts its own, and the counts are added up (rank_clause.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/functions/registry.h"

namespace orrery::query {

struct Word {
  std::string text;  // lower case
  std::string stem;
};

// The words of a text, without stop words. No more of them when the budget is over.
std::vector<Word> words_of(std::string_view text, Budget& budget);

struct SearchTerm {
  std::vector<Word> words;
  int distance = 0;
};

// The length of a text for BM25. A number counts twice, as its digits and as a number. Words joined
// by hyphens count once more as one word. Stop words and single letters do not count. These rules
// give the ranks that clients of the language expect.
size_t length_of(std::string_view text, Budget& budget);

// From a string, or {"term": string, "distance": 0, 1 or 2}. Empty when it is neither.
std::optional<SearchTerm> parse_term(const Value& value, Budget& budget);
// How often the term is in the text. A term without words (stop words only) is nowhere.
size_t count_matches(std::span<const Word> text, const SearchTerm& term, Budget& budget);

struct FullTextStatistics {
  uint64_t documents = 0;
  uint64_t words = 0;                // of all documents
  std::vector<uint64_t> hit_counts;  // documents with each term
};

// The score of one document with `word_count` words; `matches` is how often each term occurs in it.
double score_bm25(size_t word_count, std::span<const size_t> matches,
                  const FullTextStatistics& statistics);

}  // namespace orrery::query
