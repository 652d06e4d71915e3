// Describing exceptions. Reading an exception can run the script's own code (toString, getters),
// which may throw in turn: such a second exception is dropped.
#include "script/script_error.h"

#include <fmt/format.h>
#include <js/ErrorReport.h>
#include <js/Exception.h>
#include <js/PropertyAndElement.h>
#include <js/Stack.h>

#include <charconv>
#include <cmath>

#include "script/js_text.h"
#include "script/prelude.h"

namespace orrery::script {
namespace {

constexpr size_t kFramesMax = 32;
constexpr size_t kMessageMax = 8 << 10;
constexpr size_t kCharacterMax = 4;  // bytes

// Takes ":123" off the end.
bool take_number(std::string_view& text, uint32_t& number) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  text = text.substr(0, colon);
  return true;
}

std::string cut(std::string text) {
  if (text.size() <= kMessageMax) return text;
  size_t end = kMessageMax;
  while ((static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string file_name(std::string_view script_name) {
  return fmt::format("{}.js", script_name);
}

std::string readable_stack(std::string_view stack, uint32_t& line) {
  std::string out;
  size_t frames = 0;
  while (!stack.empty() && frames < kFramesMax) {
    const size_t end = stack.find('\n');
    std::string_view frame = stack.substr(0, end);
    stack = end == std::string_view::npos ? std::string_view() : stack.substr(end + 1);
    const size_t at = frame.find('@');
    if (at == std::string_view::npos) continue;
    const std::string_view function = frame.substr(0, at);
    std::string_view file = frame.substr(at + 1);
    uint32_t column_number = 0;
    uint32_t line_number = 0;
    if (!take_number(file, column_number) || !take_number(file, line_number)) continue;
    if (file == kPreludeName) continue;
    if (frames++ == 0) line = line_number;
    out += fmt::format("{}    at {} ({}:{}:{})", out.empty() ? "" : "\n",
                       function.empty() ? "anonymous function" : function, file, line_number,
                       column_number);
  }
  return out;
}

Failed describe_exception(JSContext* cx) {
  Failed failed;
  JS::ExceptionStack taken(cx);
  if (!JS::StealPendingExceptionStack(cx, &taken)) {
    JS_ClearPendingException(cx);
    failed.message = "The script failed, and its error could not be read.";
    return failed;
  }
  JS::RootedValue exception(cx, taken.exception());
  JS::RootedObject stack(cx, taken.stack());
  // One character more than is told says that there is more. A script can throw megabytes, and
  // there is little time to describe what it threw.
  failed.message = cut(to_text_start(cx, exception, kMessageMax + kCharacterMax));
  JS_ClearPendingException(cx);
  JS::RootedObject object(cx, exception.isObject() ? &exception.toObject() : nullptr);
  if (object) {
    if (JSObject* own = JS::ExceptionStackOrNull(object)) stack = own;
    JS::RootedValue number(cx);
    if (JS_GetProperty(cx, object, "number", &number) && number.isNumber()) {
      const double value = number.toNumber();
      if (value > 0 && value < 1e9 && std::floor(value) == value) {
        failed.number = static_cast<int32_t>(value);
      }
    }
    JS_ClearPendingException(cx);
  }
  JS::RootedString text(cx);
  if (stack && JS::BuildStackString(cx, nullptr, stack, &text) && text) {
    failed.stack = readable_stack(to_text(cx, text), failed.line);
  }
  JS_ClearPendingException(cx);
  // An error in the source itself has no frame of the script's. Only then, since a report copies
  // the whole message.
  if (object && failed.line == 0) {
    const JSErrorReport* report = JS_ErrorFromException(cx, object);
    if (report != nullptr && report->filename != nullptr &&
        std::string_view(report->filename) != kPreludeName) {
      failed.line = report->lineno;
    }
    JS_ClearPendingException(cx);
  }
  return failed;
}

}  // namespace orrery::script
