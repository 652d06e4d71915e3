// Why a query text was refused, and where: the error type of the lexer, the parser and the binder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/parse/token.h"

namespace orrery::query {

// The vendor's codes, as far as its answers are public. Clients print them and search for them.
namespace codes {
inline constexpr std::string_view kSyntax = "SC1001";
inline constexpr std::string_view kInvalidToken = "SC1010";
inline constexpr std::string_view kInvalidNumber = "SC1011";
inline constexpr std::string_view kInvalidString = "SC1012";
inline constexpr std::string_view kUnknownIdentifier = "SC2001";
inline constexpr std::string_view kUnknownFunction = "SC2005";
inline constexpr std::string_view kStarWithGroupBy = "SC2041";
inline constexpr std::string_view kArgumentCount = "SC2050";
inline constexpr std::string_view kCountNotInteger = "SC2060";
inline constexpr std::string_view kNotGrouped = "SC2102";
inline constexpr std::string_view kTextTooLong = "SC3020";
// Limits whose code is not public: joins, nesting, lists.
inline constexpr std::string_view kTooComplex = "SC3021";
}  // namespace codes

struct SyntaxError {
  std::string code;
  std::string message;
  // As in Span.
  uint32_t start = 0;
  uint32_t end = 0;
  uint32_t line = 1;
  uint32_t column = 1;
};

SyntaxError syntax_error(std::string_view code, const Span& span, std::string message);

// The vendor's form: {"errors":[{"severity":"Error","location":{"start":7,"end":8},"code":"SC1001",
// "message":"…"}]}.
std::string to_json(const SyntaxError& error);
// Code::invalid, with that form as its message.
Error to_error(const SyntaxError& error);

}  // namespace orrery::query
