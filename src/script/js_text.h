// Text between C++ (UTF-8) and JavaScript (UTF-16). For the worker's one JavaScript thread.
#pragma once

#include <jsapi.h>

#include <string>
#include <string_view>

namespace orrery::script {

// Null, with an exception pending, if there is no memory for it or the text is not UTF-8.
JSString* to_js(JSContext* cx, std::string_view text);

// The whole string, zero characters included; unpaired surrogates become U+FFFD. Empty if memory
// runs out.
std::string to_text(JSContext* cx, JS::HandleString string);
// The same for any value, as String(value); with an exception pending if that throws.
std::string to_text(JSContext* cx, JS::HandleValue value);
// The same for a prefix of at most this many bytes. The rest of the string costs nothing.
std::string to_text_start(JSContext* cx, JS::HandleValue value, size_t bytes_max);

}  // namespace orrery::script
