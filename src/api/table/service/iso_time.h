// Times as shared access signatures and stored policies have them: ISO 8601 in its usual forms.
//   2026-11-16   2026-11-16T12:00Z   2026-11-16T12:00:00Z   2026-11-16T12:00:00.1234567Z
// An offset (+01:00) may stand for the Z; without either it is UTC. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery::table {

// Unix time in seconds; fractions are cut off. Nothing when it is no such time.
std::optional<int64_t> parse_iso_time(std::string_view text);

}  // namespace orrery::table
