// Which headers a browser's request from another site is answered with, by the CORS rules of the
// service properties.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/table/service/service_properties.h"
#include "api/table/service/table_error.h"

namespace orrery::table {

struct CorsRequest {
  std::string_view origin = {};  // Origin
  std::string_view method = {};  // of the request; of a preflight, Access-Control-Request-Method
  std::string_view request_headers = {};  // Access-Control-Request-Headers: of a preflight
};

// The header lines of the answer to an OPTIONS request, each ended by CR LF; the status is 200.
// 400 InvalidHeaderValue without Origin or method, 403 CorsPreflightFailure when no rule matches.
TableResult<std::string> answer_preflight(const std::vector<CorsRule>& rules,
                                          const CorsRequest& request);

// The header lines to add to the answer of any other request; empty when it has no Origin, or when
// there are no rules. `answer_headers`: the lines that the answer has, which a rule may expose by
// prefix.
std::string cors_headers(const std::vector<CorsRule>& rules, const CorsRequest& request,
                         std::string_view answer_headers);

}  // namespace orrery::table
