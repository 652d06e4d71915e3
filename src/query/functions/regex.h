// Regular expressions for REGEXMATCH. They run in time linear in the text, whatever the pattern
// (RE2): so back-references and look-around are not there, and a pattern that needs them does not
// match anything, like one that is malformed.
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

  // `too_long`: the text times the pattern is more than can be looked at in a fraction of a second.
  enum class Outcome : uint8_t { no_match, match, invalid, too_long };
  Outcome match(std::string_view text, std::string_view pattern, std::string_view modifiers);

 private:
  // A null pointer is a pattern known to be invalid.
  std::unordered_map<std::string, std::unique_ptr<re2::RE2>> compiled_;
};

}  // namespace orrery::query
