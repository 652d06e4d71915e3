// Regular expressions for REGEXMATCH, by RE2: matching is linear in the length of the text,
// whatever the pattern. So there are no back-references and no look-around; a pattern that uses
// them matches nothing, like a malformed one.
//
// Modifiers: m (^ and $ match at line ends), s (. matches line ends), i (ignore case), x (ignore
// white space in the pattern).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace re2 {
class RE2;
}

namespace orrery::query {

// Patterns of a query, compiled once. Holds a bounded number of them. Not for several threads.
class RegexCache {
 public:
  RegexCache();
  ~RegexCache();
  RegexCache(RegexCache&&) noexcept;
  RegexCache& operator=(RegexCache&&) noexcept;

  // `too_long`: matching this text with this pattern could take more than a fraction of a second.
  enum class Outcome : uint8_t { no_match, match, invalid, too_long };
  Outcome match(std::string_view text, std::string_view pattern, std::string_view modifiers);

 private:
  // A null pointer is a pattern known to be invalid.
  std::unordered_map<std::string, std::unique_ptr<re2::RE2>> compiled_;
};

}  // namespace orrery::query
