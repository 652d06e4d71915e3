// See http_error.h.
#include "api/table/wire/http_error.h"

#include <chrono>

#include "api/table/call.h"
#include "api/table/service/table_error.h"
#include "api/table/wire/ticks.h"

namespace orrery::table {
namespace {

ErrorCode code_of(int status) {
  switch (status) {
    case 408:
      return ErrorCode::operation_timed_out;
    case 413:
      return ErrorCode::request_body_too_large;
    case 503:
      return ErrorCode::server_busy;
    default:
      return ErrorCode::invalid_input;
  }
}

}  // namespace

std::string http_error_json(int status, std::string_view message) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string time =
      time_text(std::chrono::duration_cast<std::chrono::milliseconds>(now).count() * 10'000);
  const std::string id = make_request_id();
  return error_json(table_error(code_of(status), std::string(message)),
                    {.request_id = id, .time = time});
}

}  // namespace orrery::table
