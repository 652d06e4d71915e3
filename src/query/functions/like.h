// LIKE patterns: % any text, _ one character, [abc] [a-f] one of a set, [^…] one outside of it, and
// an escape character before any of them to mean the character itself. A [ without its ] means
// itself too.
//
// Matching takes at most time proportional to the length of the text times that of the longest
// piece between two %.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"

namespace orrery::query {

class LikePattern {
 public:
  // `escape` is empty or one character. Empty when it is longer.
  static std::optional<LikePattern> compile(std::string_view pattern, std::string_view escape);

  // False, too, when the budget is over.
  bool matches(std::string_view text, Budget& budget) const;

  // What every match starts with: for finding them in an index.
  const std::string& prefix() const { return prefix_; }
  // Whether the pattern says nothing but its prefix: `prefix`, or `prefix%`.
  bool is_exact() const { return is_exact_; }
  bool is_prefix_only() const { return is_prefix_only_; }

 private:
  // One character of a piece.
  struct Slot {
    enum class Kind : uint8_t { one, any, in_set, not_in_set };
    Kind kind = Kind::one;
    char32_t code = 0;
    std::vector<std::pair<char32_t, char32_t>> ranges;  // in order, apart from one another

    bool matches(char32_t character) const;
  };
  using Piece = std::vector<Slot>;  // between two %

  static bool matches_at(const Piece& piece, std::u32string_view text, size_t at, Budget& budget);

  std::vector<Piece> pieces_;  // never empty; one more than there are %
  std::string prefix_;
  bool is_exact_ = false;
  bool is_prefix_only_ = false;
};

}  // namespace orrery::query
