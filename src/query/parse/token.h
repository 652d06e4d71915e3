// What query text is made of: tokens, words with a meaning, and where in the text they stand.
//
// Words are not case-sensitive. A reserved word cannot name a property after a dot, an alias or a
// source (it can in brackets: c["order"]); the other keywords mean something only in their place.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::query {

// A stretch of the query text. Offsets count UTF-16 code units, as the strings of most client
// languages do; line and column start at 1 and are those of `start`.
struct Span {
  uint32_t start = 0;
  uint32_t end = 0;
  uint32_t line = 1;
  uint32_t column = 1;
};

enum class Keyword : uint8_t {
  none,
  // Reserved.
  and_,
  as,
  asc,
  between,
  by,
  desc,
  distinct,
  false_,
  from,
  group,
  in,
  join,
  like,
  not_,
  null,
  or_,
  order,
  select,
  top,
  true_,
  undefined,
  value,
  where,
  // Words that keep being names wherever their clause cannot stand.
  all,
  array,
  escape,
  exists,
  first,
  last,
  limit,
  offset,
  rank,
  udf,
};

enum class TokenKind : uint8_t {
  end,
  invalid,  // what the lexer could not read; nothing follows it
  word,     // an identifier or a keyword
  parameter,
  number,
  string,
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  comma,
  dot,
  colon,
  star,
  slash,
  percent,
  plus,
  minus,
  tilde,
  ampersand,
  pipe,
  pipe_pipe,
  caret,
  shift_left,
  shift_right,
  shift_right_zero,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  question,
  question_question,
};

struct Token {
  TokenKind kind = TokenKind::end;
  Keyword keyword = Keyword::none;
  Span span;
  std::string_view raw;  // into the query text
};

// The keyword that a word is, whatever its case, or Keyword::none.
Keyword keyword_of(std::string_view word);
bool is_reserved(Keyword keyword);

// Whether a name can be written as it is: after a dot, as an alias, as a source.
bool is_plain_name(std::string_view name);

}  // namespace orrery::query
