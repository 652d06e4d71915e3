// From an answer over HTTP to a frame: its headers become tokens.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "api/cosmos/direct/direct_request.h"
#include "net/http.h"

namespace orrery::cosmos::direct {

// Appends the frame of an answer.
void append_response(std::string& out, const DirectRequest& request, const net::Response& response);

// The answer to a connection's first frame.
void append_context_answer(std::string& out, std::string_view activity_id);
// Its refusal, which has a payload without saying so.
void append_context_refusal(std::string& out, std::string_view activity_id, uint32_t status,
                            std::string_view json);

}  // namespace orrery::cosmos::direct
