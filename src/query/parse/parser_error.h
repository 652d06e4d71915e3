// Why a query text was refused, and where: the error type of the lexer, the parser and the binder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "query/functions/query_fault.h"
#include "query/parse/token.h"

namespace orrery::query {

struct SyntaxError {
  QueryFault fault = QueryFault::syntax;
  std::string message;
  // As in Span.
  uint32_t start = 0;
  uint32_t end = 0;
  uint32_t line = 1;
  uint32_t column = 1;
};

inline SyntaxError syntax_error(QueryFault fault, const Span& span, std::string message) {
  return {.fault = fault,
          .message = std::move(message),
          .start = span.start,
          .end = span.end,
          .line = span.line,
          .column = span.column};
}

}  // namespace orrery::query
