// The two forms in which a SyntaxError leaves the query layer.
#include "query/parse/parser_error.h"

#include <fmt/format.h>

#include <utility>

#include "value/json.h"

namespace orrery::query {

SyntaxError syntax_error(std::string_view code, const Span& span, std::string message) {
  return {.code = std::string(code),
          .message = std::move(message),
          .start = span.start,
          .end = span.end,
          .line = span.line,
          .column = span.column};
}

std::string to_json(const SyntaxError& error) {
  std::string out =
      fmt::format(R"({{"errors":[{{"severity":"Error","location":{{"start":{},"end":{}}},"code":)",
                  error.start, error.end);
  value::append_json_string(out, error.code);
  out += ",\"message\":";
  value::append_json_string(out, error.message);
  out += "}]}";
  return out;
}

Error to_error(const SyntaxError& error) {
  return {.code = Code::invalid, .message = to_json(error)};
}

}  // namespace orrery::query
