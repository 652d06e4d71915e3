// The text of a traversal, read from left to right: names, texts and numbers, and errors that say
// where it stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/gremlin/value/value.h"
#include "base/result.h"

namespace orrery::gremlin {

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Scanner {
 public:
  // The text outlives it.
  explicit Scanner(std::string_view text) : text_(text) {}

  // Code::invalid: what is wrong, and at which character.
  std::unexpected<Error> error(std::string_view what) const;
  // Comments too.
  void skip_space();
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // 0 at the end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool is_at_end() const { return at_ >= text_.size(); }
  // Empty: there is none.
  std::string read_name();
  // Within quotes, single, double or three of them.
  Result<Value> read_text();
  // 12, 12L, 1.5, 1.5f, -1e3
  Result<Value> read_number();

 protected:
  size_t at_ = 0;  // the next character; a parser goes back by it

 private:
  // The four digits behind \u.
  Result<uint32_t> read_unit();

  const std::string_view text_;
};

}  // namespace orrery::gremlin
