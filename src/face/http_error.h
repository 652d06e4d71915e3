// How an Error is answered over HTTP, as far as all faces agree.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::face {

int http_status(Code code);
// The name of a status without spaces: "NotFound" for 404.
std::string_view status_name(int status);

// Appends a message. It may quote what a client sent, cut at some byte, so whatever is not UTF-8 is
// replaced.
void append_well_formed(std::string& out, std::string_view text);
// The same as a JSON string.
void append_message(std::string& out, std::string_view message);

}  // namespace orrery::face
