// Query text → tokens. Pure; the tokens point into the text.
//
//   word       [A-Za-z_][A-Za-z0-9_]*
//   parameter  @ and a word, or @ and digits
//   number     12  1.  .5  1.5e-3  0x1F; a sign is the parser's business
//   string     '…' or "…", escapes \' \" \\ \/ \b \f \n \r \t \uXXXX
//   comment    -- to the end of the line (the language has no other)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/parse/parser_error.h"
#include "query/parse/token.h"

namespace orrery::query {

inline constexpr size_t kMaxQueryBytes = size_t{512} * 1024;

struct Tokens {
  std::vector<Token> list;           // never empty; the last is `end` or `invalid`
  std::optional<SyntaxError> error;  // why the last is `invalid`
};

Tokens tokenize(std::string_view text);

// The value of a number or string token that the lexer let through.
double number_value(std::string_view raw);
std::string string_value(std::string_view raw);

}  // namespace orrery::query
