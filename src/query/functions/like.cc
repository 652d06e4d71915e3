// See like.h.
#include "query/functions/like.h"

#include <algorithm>
#include <utility>

#include "query/functions/text.h"

namespace orrery::query {

namespace {

std::u32string decode(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) codes.push_back(next_code_point(text, at));
  return codes;
}

// Where the set that opens at `open` closes; npos when it does not. A ] that comes first in the
// set is a member of it.
size_t end_of_set(std::u32string_view pattern, size_t open) {
  size_t first = open + 1;
  if (first < pattern.size() && pattern[first] == U'^') ++first;
  return pattern.find(U']', first + 1);
}

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

// Sorted and merged; one that ends before it begins has no characters.
void put_in_order(Ranges& ranges) {
  std::erase_if(ranges, [](const auto& range) { return range.second < range.first; });
  std::ranges::sort(ranges);
  Ranges merged;
  for (const auto& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, range.second);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

}  // namespace

bool LikePattern::Slot::matches(char32_t character) const {
  switch (kind) {
    case Kind::one:
      return character == code;
    case Kind::any:
      return true;
    case Kind::in_set:
    case Kind::not_in_set:
      break;
  }
  const auto range =
      std::ranges::lower_bound(ranges, character, {}, &std::pair<char32_t, char32_t>::second);
  const bool inside = range != ranges.end() && character >= range->first;
  return inside == (kind == Kind::in_set);
}

std::optional<LikePattern> LikePattern::compile(std::string_view pattern, std::string_view escape) {
  const std::u32string codes = decode(pattern);
  const std::u32string escapes = decode(escape);
  if (escapes.size() > 1) return std::nullopt;
  LikePattern compiled;
  compiled.pieces_.emplace_back();
  for (size_t i = 0; i < codes.size(); ++i) {
    const char32_t code = codes[i];
    Slot slot;
    if (!escapes.empty() && code == escapes[0] && i + 1 < codes.size()) {
      slot.code = codes[++i];
    } else if (code == U'%') {
      compiled.pieces_.emplace_back();
      continue;
    } else if (code == U'_') {
      slot.kind = Slot::Kind::any;
    } else if (const size_t close = code == U'[' ? end_of_set(codes, i) : std::u32string::npos;
               close != std::u32string::npos) {
      const bool inverted = codes[i + 1] == U'^';
      slot.kind = inverted ? Slot::Kind::not_in_set : Slot::Kind::in_set;
      for (size_t at = i + (inverted ? 2 : 1); at < close; ++at) {
        const bool is_range = at + 2 < close && codes[at + 1] == U'-';
        slot.ranges.emplace_back(codes[at], is_range ? codes[at + 2] : codes[at]);
        if (is_range) at += 2;
      }
      put_in_order(slot.ranges);
      i = close;
    } else {
      slot.code = code;
    }
    compiled.pieces_.back().push_back(std::move(slot));
  }
  const Piece& first = compiled.pieces_.front();
  const auto literal = [](const Slot& slot) { return slot.kind == Slot::Kind::one; };
  for (const Slot& slot : first) {
    if (!literal(slot)) break;
    append_code_point(compiled.prefix_, slot.code);
  }
  const bool all_literal = std::ranges::all_of(first, literal);
  compiled.is_exact_ = all_literal && compiled.pieces_.size() == 1;
  compiled.is_prefix_only_ = all_literal && compiled.pieces_.size() > 1 &&
                             std::all_of(compiled.pieces_.begin() + 1, compiled.pieces_.end(),
                                         [](const Piece& piece) { return piece.empty(); });
  return compiled;
}

bool LikePattern::matches_at(const Piece& piece, std::u32string_view text, size_t at,
                             Budget& budget) {
  if (text.size() < at + piece.size()) return false;
  size_t same = 0;
  while (same < piece.size() && piece[same].matches(text[at + same])) ++same;
  return !budget.spend(1 + same / 8) && same == piece.size();
}

bool LikePattern::matches(std::string_view text, Budget& budget) const {
  if (!text.starts_with(prefix_)) return false;
  if (is_prefix_only_) return true;
  if (is_exact_) return text == prefix_;
  if (!budget.has_room(text.size() * sizeof(char32_t))) return false;
  const std::u32string codes = decode(text);
  const Piece& first = pieces_.front();
  const Piece& last = pieces_.back();
  if (pieces_.size() == 1) {
    return codes.size() == first.size() && matches_at(first, codes, 0, budget);
  }
  if (codes.size() < first.size() + last.size() || !matches_at(first, codes, 0, budget)) {
    return false;
  }
  const size_t end = codes.size() - last.size();
  if (!matches_at(last, codes, end, budget)) return false;
  // Pieces between two % take the leftmost match: that leaves the most text to the pieces after
  // them.
  size_t at = first.size();
  for (size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    while (at + piece.size() <= end && !matches_at(piece, codes, at, budget)) {
      if (budget.is_over()) return false;
      ++at;
    }
    at += piece.size();
    if (at > end) return false;
  }
  return true;
}

}  // namespace orrery::query
