// Describes an exception for the script's author: message, number, line and stack, without the
// frames of the prelude.
#pragma once

#include <jsapi.h>

#include <string>
#include <string_view>

#include "script/protocol.h"

namespace orrery::script {

// The file name under which a script's source is compiled.
std::string file_name(std::string_view script_name);

// Takes the pending exception away and describes it. There must be one.
Failed describe_exception(JSContext* cx);

// The engine's stack ("f@name.js:3:7", a line each) as lines "    at f (name.js:3:7)", without the
// frames of the prelude. `line` is that of the first frame, or unchanged if there is none.
std::string readable_stack(std::string_view stack, uint32_t& line);

}  // namespace orrery::script
