// See full_text.h; and the functions FULLTEXTCONTAINS, …ALL and …ANY, and those that a plan of
// ORDER BY RANK is made of.
#include "query/functions/full_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "query/functions/arguments.h"
#include "query/functions/groups.h"
#include "query/functions/stemmer.h"
#include "query/functions/text.h"

namespace orrery::query {

namespace {

constexpr int kMaxDistance = 2;
constexpr size_t kMaxWordBytes = 256;

// Those of SQL Server's full-text search for English, but for single letters and digits, and some
// more. In order.
constexpr std::array<std::string_view, 119> kStopWords = {
    "a",     "about", "after", "all",   "also",    "an",      "and",    "another", "any",
    "are",   "as",    "at",    "be",    "because", "been",    "before", "being",   "between",
    "both",  "but",   "by",    "came",  "can",     "come",    "could",  "did",     "do",
    "does",  "each",  "else",  "for",   "from",    "get",     "got",    "had",     "has",
    "have",  "he",    "her",   "here",  "him",     "himself", "his",    "how",     "if",
    "in",    "into",  "is",    "it",    "its",     "just",    "like",   "make",    "many",
    "me",    "might", "more",  "most",  "much",    "must",    "my",     "never",   "no",
    "not",   "now",   "of",    "on",    "only",    "or",      "other",  "our",     "out",
    "over",  "re",    "said",  "same",  "see",     "should",  "since",  "so",      "some",
    "still", "such",  "take",  "than",  "that",    "the",     "their",  "them",    "then",
    "there", "these", "they",  "this",  "those",   "through", "to",     "too",     "under",
    "up",    "use",   "very",  "want",  "was",     "way",     "we",     "well",    "were",
    "what",  "when",  "where", "which", "while",   "who",     "will",   "with",    "would",
    "you",   "your"};
static_assert(std::ranges::is_sorted(kStopWords));

// Whether a becomes b with at most `most` insertions, deletions and changes of characters.
bool is_near(std::string_view a, std::string_view b, int most) {
  std::u32string left;
  std::u32string right;
  for (size_t at = 0; at < a.size();) left.push_back(next_code_point(a, at));
  for (size_t at = 0; at < b.size();) right.push_back(next_code_point(b, at));
  const auto limit = static_cast<size_t>(most);
  if (left.size() > right.size() + limit || right.size() > left.size() + limit) return false;
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j < row.size(); ++j) {
      const size_t change = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back() <= limit;
}

bool word_matches(const Word& word, const Word& wanted, int distance, Budget& budget) {
  if (word.stem == wanted.stem) return true;
  if (distance > 0 && budget.spend(1 + word.text.size() * wanted.text.size() / 4)) return false;
  return distance > 0 && is_near(word.text, wanted.text, distance);
}

Value contains_term(std::span<const Word> text, const Value& wanted, Budget& budget) {
  const std::optional<SearchTerm> term = parse_term(wanted, budget);
  return term ? boolean(count_matches(text, *term, budget) > 0) : Value();
}

template <class Combination>
Value contains_terms(Arguments arguments, Context& context) {
  if (!arguments[0].is_string()) return {};
  const std::vector<Word> text = words_of(arguments[0].text(), context.budget);
  Combination combination;
  for (const Value& wanted : arguments.subspan(1)) {
    combination.add(contains_term(text, wanted, context.budget));
  }
  return combination.result();
}

std::optional<uint64_t> count_of(const Value& value) {
  const std::optional<int64_t> count = integer(value);
  if (!count || *count < 0) return std::nullopt;
  return static_cast<uint64_t>(*count);
}

// (text, [terms], documents, words, [documents with each term]). A row without the text has the
// score of one without a match. A term that is not valid matches nothing.
Value full_text_score(Arguments arguments, Context& context) {
  const auto documents = count_of(arguments[2]);
  const auto words = count_of(arguments[3]);
  if (!arguments[1].is_array() || !arguments[4].is_array() || !documents || !words) return {};
  FullTextStatistics statistics{.documents = *documents, .words = *words, .hit_counts = {}};
  for (const Value& hits : arguments[4].elements()) {
    const auto count = count_of(hits);
    if (!count) return {};
    statistics.hit_counts.push_back(std::min(*count, *documents));
  }
  if (!arguments[0].is_string()) return number(0);
  const std::vector<Word> text = words_of(arguments[0].text(), context.budget);
  std::vector<size_t> matches;
  for (const Value& wanted : arguments[1].elements()) {
    const std::optional<SearchTerm> term = parse_term(wanted, context.budget);
    matches.push_back(term ? count_matches(text, *term, context.budget) : 0);
  }
  return number(score_bm25(length_of(arguments[0].text(), context.budget), matches, statistics));
}

Value full_text_word_count(Arguments arguments, Context& context) {
  if (!arguments[0].is_string()) return number(0);
  return number(static_cast<double>(length_of(arguments[0].text(), context.budget)));
}

constexpr uint16_t kAnyTerms = Function::kAnyNumber;
constexpr Function kFullTextFunctions[] = {
    // The documentation shows it with several terms too; all of them must be there.
    {"FULLTEXTCONTAINS", 2, kAnyTerms, contains_terms<Conjunction>},
    {"FULLTEXTCONTAINSALL", 2, kAnyTerms, contains_terms<Conjunction>},
    {"FULLTEXTCONTAINSANY", 2, kAnyTerms, contains_terms<Disjunction>},
    {"_FULLTEXTSCORE", 5, 5, full_text_score},
    {"_FULLTEXTWORDCOUNT", 1, 1, full_text_word_count},
};

}  // namespace

std::vector<Word> words_of(std::string_view text, Budget& budget) {
  std::vector<Word> words;
  Held held(budget);
  std::string word;
  const auto finish = [&] {
    if (!word.empty() && !std::ranges::binary_search(kStopWords, std::string_view(word))) {
      words.push_back({.text = word, .stem = stem(word)});
      held.add(2 * (sizeof(Word) + word.size()));
    }
    word.clear();
  };
  for (size_t at = 0; at < text.size() && !budget.spend(1);) {
    const char32_t code = next_code_point(text, at);
    if (!is_word(code) || word.size() >= kMaxWordBytes) finish();
    if (is_word(code)) append_code_point(word, to_lower(code));
  }
  finish();
  return words;
}

size_t length_of(std::string_view text, Budget& budget) {
  size_t length = 0;
  std::string word;
  bool is_number = false;        // the word at hand has digits alone
  bool was_number = false;       // and so had the one before it
  bool was_digit = false;        // which was one digit
  bool in_compound = false;      // words that hyphens join
  std::optional<char32_t> mark;  // the one character between the two; none: more, or fewer
  const auto finish = [&] {
    if (word.empty()) return;
    const bool goes_on = is_number && was_number && (mark == U',' || mark == U'.');
    const bool is_joined = mark == U'-';
    if (is_joined && !in_compound) ++length;
    in_compound = is_joined;
    if (goes_on) {
      length += was_digit ? 1 : 0;
    } else if (is_number) {
      length += word.size() == 1 ? 1 : 2;
    } else if (word.size() > 1 && !std::ranges::binary_search(kStopWords, std::string_view(word))) {
      ++length;
    }
    was_digit = is_number && word.size() == 1 && !goes_on;
    was_number = is_number;
    mark.reset();
    word.clear();
  };
  for (size_t at = 0; at < text.size() && !budget.spend(1);) {
    const char32_t code = next_code_point(text, at);
    if (!is_word(code)) {
      const bool ends_word = !word.empty();
      finish();
      mark = ends_word ? std::optional(code) : std::nullopt;
      continue;
    }
    if (word.size() >= kMaxWordBytes) finish();
    is_number = (word.empty() || is_number) && code >= U'0' && code <= U'9';
    append_code_point(word, to_lower(code));
  }
  finish();
  return length;
}

std::optional<SearchTerm> parse_term(const Value& value, Budget& budget) {
  if (value.is_string()) return SearchTerm{.words = words_of(value.text(), budget)};
  const Value term = value.find("term");
  const Value distance = value.find("distance");
  if (!term.is_string()) return std::nullopt;
  SearchTerm parsed{.words = words_of(term.text(), budget)};
  if (distance.is_undefined()) return parsed;
  const std::optional<int64_t> edits = integer(distance);
  if (!edits || *edits < 0 || *edits > kMaxDistance) return std::nullopt;
  parsed.distance = static_cast<int>(*edits);
  return parsed;
}

size_t count_matches(std::span<const Word> text, const SearchTerm& term, Budget& budget) {
  const size_t length = term.words.size();
  if (length == 0 || length > text.size()) return 0;
  size_t count = 0;
  for (size_t start = 0; start + length <= text.size(); ++start) {
    size_t same = 0;
    while (same < length &&
           word_matches(text[start + same], term.words[same], term.distance, budget)) {
      ++same;
    }
    if (same == length) ++count;
    if (budget.spend(1 + same)) break;
  }
  return count;
}

double score_bm25(size_t word_count, std::span<const size_t> matches,
                  const FullTextStatistics& statistics) {
  constexpr double kSaturation = 1.2;     // k1
  constexpr double kLengthWeight = 0.75;  // b
  if (statistics.documents == 0 || statistics.words == 0) return 0;
  const auto documents = static_cast<double>(statistics.documents);
  const double average = static_cast<double>(statistics.words) / documents;
  const double length =
      1 - kLengthWeight + kLengthWeight * static_cast<double>(word_count) / average;
  double score = 0;
  for (size_t i = 0; i < matches.size() && i < statistics.hit_counts.size(); ++i) {
    const auto frequency = static_cast<double>(matches[i]);
    const auto hits = static_cast<double>(statistics.hit_counts[i]);
    const double rarity = std::log(1 + (documents - hits + 0.5) / (hits + 0.5));
    score += rarity * frequency * (kSaturation + 1) / (frequency + kSaturation * length);
  }
  return score;
}

std::span<const Function> full_text_functions() {
  return kFullTextFunctions;
}

}  // namespace orrery::query
