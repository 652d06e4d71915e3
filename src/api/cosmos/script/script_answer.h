// How the end of a script looks on the wire: a failure as an error of the vendor's form, and the
// script's log as a header.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "api/cosmos/wire/error_body.h"
#include "script/protocol.h"

namespace orrery::cosmos {

// 400 for what the script did itself, with the exception, the line and the stack; 408 when its time
// was up; 413 when its answer is too large; 429 when no worker was free, 503 when none started. An
// error's number, as in `throw new Error(409, "…")`, is the substatus.
ErrorReply script_error(const script::Failed& failed, std::string_view script_name,
                        std::string_view activity_id);

// The log percent-encoded, cut so that a header can hold it.
std::string log_header(std::string_view log);

// The text of a script from the members that its resource keeps.
std::string script_source(std::string_view members);

}  // namespace orrery::cosmos
