// Times of this face: ticks of 100 nanoseconds since 1970, UTC. Timestamps, etags and Edm.DateTime
// all have them.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::table {

using Ticks = int64_t;
inline constexpr Ticks kTicksInSecond = 10'000'000;

// 2026-11-15T17:13:05.1979943Z. Seconds and their fraction may be missing; digits beyond the
// seventh are dropped. Without a zone it is UTC; with one (+02:00) it is converted. Years are 1 to
// 9999.
std::optional<Ticks> parse_time(std::string_view text);

// With seven digits, always.
void append_time(std::string& out, Ticks ticks);
std::string time_text(Ticks ticks);

// W/"datetime'2026-11-15T17%3A13%3A05.1979943Z'", without quotes around it.
void append_etag(std::string& out, Ticks ticks);
// The same as a string of JSON.
void append_etag_json(std::string& out, Ticks ticks);

// What If-Match asks for.
struct EtagCondition {
  bool any = false;            // *
  std::optional<Ticks> ticks;  // nothing: a weak etag that this service has never given
};
// Nothing when the text is neither * nor a weak etag.
std::optional<EtagCondition> parse_if_match(std::string_view text);

}  // namespace orrery::table
