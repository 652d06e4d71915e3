// The error of a refused query: {"errors":[{"severity":"Error","location":{"start":7,"end":8},
// "code":"SC1001","message":"…"}]}. The codes are the vendor's, as far as its answers are public:
// clients print them and people search for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/parse/parser_error.h"

namespace orrery::cosmos {

// One thing that is wrong with a query. `start` and `end` as in query::Span.
struct QueryRefusal {
  std::string_view code;  // a literal
  uint32_t start = 0;
  uint32_t end = 0;
  std::string message;
};
// The most errors that are reported for one query.
inline constexpr size_t kQueryRefusalsMax = 100;

std::string_view code_of(query::QueryFault fault);
// Code::invalid, with the form above as its message.
Error query_error(std::span<const QueryRefusal> refusals);
Error query_error(const query::SyntaxError& error);

}  // namespace orrery::cosmos
