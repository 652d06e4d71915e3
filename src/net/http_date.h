// Dates in headers. No locale, no time zone but GMT. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::net {

// Dates as HTTP writes them: "Sun, 06 Nov 1994 08:49:37 GMT". Reading also takes UTC in place of
// GMT, the two obsolete forms that HTTP names, and any case.
std::string http_date(time_t unix_s);
std::optional<int64_t> parse_http_date(std::string_view text);

}  // namespace orrery::net
