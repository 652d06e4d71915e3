// How an Error looks over HTTP, as far as faces agree about it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::face {

int http_status(Code code);
// The name of a status without spaces: "NotFound" for 404.
std::string_view status_name(int status);

// Messages show what a client sent, cut at some byte: what is not UTF-8 is replaced.
void append_well_formed(std::string& out, std::string_view text);
// The same as a JSON string.
void append_message(std::string& out, std::string_view message);

}  // namespace orrery::face
