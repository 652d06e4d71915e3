// Session tokens: the LSN of each partition range that a client has seen.
//
//   token = range ":" [ version "#" ] lsn { "#" region "=" lsn }
//   list  = token { "," token }
// We write `{range}:-1#{lsn}`: one region, no configuration version. Other forms come from clients
// that merged tokens, or from older ones.
//
// Pure; any thread may call. Input from outside is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxSessionTokenBytes = 32 * 1024;
inline constexpr size_t kMaxSessionTokenEntries = 10'000;

void append_session_token(std::string& out, uint32_t range_id, uint64_t lsn);
std::string session_token(uint32_t range_id, uint64_t lsn);

// The largest LSN that the list requires of this range or of any of its ancestors. (A split keeps
// the LSNs of the parent, so what was seen there must be seen here.) Empty when the list names
// other ranges only. A malformed list is Code::invalid, whichever range it is about.
Result<std::optional<uint64_t>> lsn_required(std::string_view list, uint32_t range_id,
                                             std::span<const uint32_t> ancestors);

}  // namespace orrery::cosmos
