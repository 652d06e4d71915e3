// How a request that proves nothing is refused: 403 AuthenticationFailed, with what to look at.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/table/service/table_error.h"

namespace orrery::table {

[[nodiscard]] inline std::unexpected<TableError> not_authenticated(std::string why) {
  return refuse(ErrorCode::authentication_failed,
                "Server failed to authenticate the request: " + std::move(why));
}

// What a client must sign, in one line.
inline std::string check_what_is_signed(std::string_view payload) {
  std::string out =
      "Check the account key, and that the client signs what the server does (line ends written "
      "\\n): \"";
  for (const char c : payload.substr(0, 2'048)) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

}  // namespace orrery::table
