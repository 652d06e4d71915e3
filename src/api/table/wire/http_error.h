// Errors of HTTP itself in the form of this face: of requests that no handler gets to see.
//
// Any thread may call.
#pragma once

#include <string>
#include <string_view>

namespace orrery::table {

std::string http_error_json(int status, std::string_view message);

}  // namespace orrery::table
