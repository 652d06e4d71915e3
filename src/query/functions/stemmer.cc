// See stemmer.h. The steps and their rules have the numbers of Porter's paper ("An algorithm for
// suffix stripping", Program 14:3, 1980).
#include "query/functions/stemmer.h"

#include <algorithm>
#include <span>

namespace orrery::query {

namespace {

struct Rule {
  std::string_view suffix;
  std::string_view replacement;
};

class Stemmer {
 public:
  explicit Stemmer(std::string_view word) : word_(word) {}

  std::string run() && {
    step_1a();
    step_1b();
    if (word_.ends_with('y') && has_vowel(word_.size() - 1)) word_.back() = 'i';  // 1c
    replace_first(kStep2, 0);
    replace_first(kStep3, 0);
    step_4();
    step_5();
    return std::move(word_);
  }

 private:
  static constexpr Rule kStep2[] = {
      {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
      {"izer", "ize"},    {"abli", "able"},   {"alli", "al"},     {"entli", "ent"},
      {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
      {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
      {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
  };
  static constexpr Rule kStep3[] = {{"icate", "ic"}, {"ative", ""},  {"alize", "al"},
                                    {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""},
                                    {"ness", ""}};
  static constexpr std::string_view kStep4[] = {
      "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate",
      "iti",   "ous",  "ive",  "ize",  "ion",  "al",   "er",  "ic",  "ou"};

  bool is_consonant(size_t i) const {
    switch (word_[i]) {
      case 'a':
      case 'e':
      case 'i':
      case 'o':
      case 'u':
        return false;
      case 'y':
        return i == 0 || !is_consonant(i - 1);
      default:
        return true;
    }
  }

  bool has_vowel(size_t length) const {
    for (size_t i = 0; i < length; ++i) {
      if (!is_consonant(i)) return true;
    }
    return false;
  }

  // How often vowels are followed by consonants in the first `length` letters.
  int measure(size_t length) const {
    int count = 0;
    for (size_t i = 1; i < length; ++i) {
      if (!is_consonant(i - 1) && is_consonant(i)) ++count;
    }
    return count;
  }

  bool ends_double(size_t length) const {
    return length >= 2 && word_[length - 1] == word_[length - 2] && is_consonant(length - 1);
  }

  // Consonant, vowel, consonant at the end, the last not w, x or y.
  bool ends_short(size_t length) const {
    if (length < 3) return false;
    const char last = word_[length - 1];
    return is_consonant(length - 3) && !is_consonant(length - 2) && is_consonant(length - 1) &&
           last != 'w' && last != 'x' && last != 'y';
  }

  void cut(size_t letters) { word_.resize(word_.size() - letters); }

  void step_1a() {
    if (word_.ends_with("sses") || word_.ends_with("ies")) {
      cut(2);
    } else if (word_.ends_with('s') && !word_.ends_with("ss")) {
      cut(1);
    }
  }

  void step_1b() {
    if (word_.ends_with("eed")) {
      if (measure(word_.size() - 3) > 0) cut(1);
      return;
    }
    const size_t suffix = word_.ends_with("ed") ? 2 : word_.ends_with("ing") ? 3 : 0;
    if (suffix == 0 || !has_vowel(word_.size() - suffix)) return;
    cut(suffix);
    // NOLINTNEXTLINE(bugprone-branch-clone): the rules in the order that the algorithm has them
    if (word_.ends_with("at") || word_.ends_with("bl") || word_.ends_with("iz")) {
      word_.push_back('e');
    } else if (ends_double(word_.size()) && !word_.ends_with('l') && !word_.ends_with('s') &&
               !word_.ends_with('z')) {
      cut(1);
    } else if (measure(word_.size()) == 1 && ends_short(word_.size())) {
      word_.push_back('e');
    }
  }

  // The longest suffix that fits decides, even if its stem is too short.
  void replace_first(std::span<const Rule> rules, int least) {
    const Rule* best = nullptr;
    for (const Rule& rule : rules) {
      if (!word_.ends_with(rule.suffix)) continue;
      if (best == nullptr || rule.suffix.size() > best->suffix.size()) best = &rule;
    }
    if (best == nullptr || measure(word_.size() - best->suffix.size()) <= least) return;
    cut(best->suffix.size());
    word_.append(best->replacement);
  }

  void step_4() {
    for (const std::string_view suffix : kStep4) {
      if (!word_.ends_with(suffix)) continue;
      const size_t length = word_.size() - suffix.size();
      if (measure(length) <= 1) return;
      if (suffix == "ion" &&
          (length == 0 || (word_[length - 1] != 's' && word_[length - 1] != 't')))
        return;
      cut(suffix.size());
      return;
    }
  }

  void step_5() {
    if (word_.ends_with('e')) {
      const size_t length = word_.size() - 1;
      if (measure(length) > 1 || (measure(length) == 1 && !ends_short(length))) cut(1);
    }
    if (word_.ends_with('l') && ends_double(word_.size()) && measure(word_.size()) > 1) cut(1);
  }

  std::string word_;
};

}  // namespace

std::string stem(std::string_view word) {
  const bool plain = std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  if (word.size() <= 2 || !plain) return std::string(word);
  return Stemmer(word).run();
}

}  // namespace orrery::query
