// Text between C++ (UTF-8) and JavaScript (UTF-16). For the worker's one JavaScript thread.
#pragma once

#include <jsapi.h>

#include <string>
#include <string_view>

namespace orrery::script {

// Null, with an exception pending, if there is no memory for it or the text is not UTF-8.
JSString* to_js(JSContext* cx, std::string_view text);

// Whole, with its zero characters; half pairs become U+FFFD. Empty if there is no memory for it.
std::string to_text(JSContext* cx, JS::HandleString string);
// The same for any value, as String(value); with an exception pending if that throws.
std::string to_text(JSContext* cx, JS::HandleValue value);
// The same, of no more than its first characters that fit into so many bytes: what follows costs
// nothing.
std::string to_text_start(JSContext* cx, JS::HandleValue value, size_t bytes_max);

}  // namespace orrery::script
