// See query_error.h.
#include "api/cosmos/wire/query_error.h"

#include <fmt/format.h>

#include <utility>

#include "value/json.h"

namespace orrery::cosmos {

std::string_view code_of(query::QueryFault fault) {
  using query::QueryFault;
  switch (fault) {
    case QueryFault::syntax:
      return "SC1001";
    case QueryFault::invalid_token:
      return "SC1010";
    case QueryFault::invalid_number:
      return "SC1011";
    case QueryFault::invalid_string:
      return "SC1012";
    case QueryFault::unknown_name:
      return "SC2001";
    case QueryFault::unknown_function:
      return "SC2005";
    case QueryFault::star_with_group_by:
      return "SC2041";
    case QueryFault::argument_count:
      return "SC2050";
    case QueryFault::count_not_integer:
      return "SC2060";
    case QueryFault::not_grouped:
      return "SC2102";
    case QueryFault::text_too_long:
      return "SC3020";
    case QueryFault::too_complex:
      return "SC3021";  // limits whose code is not public
  }
  std::unreachable();
}

Error query_error(std::span<const QueryRefusal> refusals) {
  std::string json = R"({"errors":[)";
  for (const QueryRefusal& refusal : refusals) {
    if (&refusal != &refusals.front()) json += ',';
    json += fmt::format(R"({{"severity":"Error","location":{{"start":{},"end":{}}},"code":"{}",)",
                        refusal.start, refusal.end, refusal.code);
    json += R"("message":)";
    value::append_json_string(json, refusal.message);
    json += '}';
  }
  json += "]}";
  return {.code = Code::invalid, .message = std::move(json)};
}

Error query_error(const query::SyntaxError& error) {
  const QueryRefusal refusal{code_of(error.fault), error.start, error.end, error.message};
  return query_error({&refusal, 1});
}

}  // namespace orrery::cosmos
