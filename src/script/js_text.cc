// Conversions of text at the edge of JavaScript.
#include "script/js_text.h"

#include <js/CharacterEncoding.h>
#include <js/Conversions.h>
#include <js/String.h>

namespace orrery::script {

JSString* to_js(JSContext* cx, std::string_view text) {
  return JS_NewStringCopyUTF8N(cx, JS::UTF8Chars(text.data(), text.size()));
}

std::string to_text(JSContext* cx, JS::HandleString string) {
  JSLinearString* linear = JS_EnsureLinearString(cx, string);
  if (linear == nullptr) return {};
  std::string text(JS::GetDeflatedUTF8StringLength(linear), '\0');
  text.resize(JS::DeflateStringToUTF8Buffer(linear, mozilla::Span<char>(text.data(), text.size())));
  return text;
}

std::string to_text(JSContext* cx, JS::HandleValue value) {
  JS::RootedString string(cx, JS::ToString(cx, value));
  return string ? to_text(cx, string) : std::string();
}

std::string to_text_start(JSContext* cx, JS::HandleValue value, size_t bytes_max) {
  JS::RootedString string(cx, JS::ToString(cx, value));
  if (!string) return {};
  std::string text(bytes_max, '\0');
  const auto done =
      JS_EncodeStringToUTF8BufferPartial(cx, string, mozilla::Span<char>(text.data(), text.size()));
  text.resize(done ? mozilla::Get<1>(*done) : 0);
  return text;
}

}  // namespace orrery::script
