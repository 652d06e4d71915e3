// Structured logs: one line an event, `key=value` pairs after the message, or one JSON object a
// line. Values are quoted when they need it. Thread-safe.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::log {

enum class Level : unsigned char { debug, info, warn, error, off };
enum class Format : unsigned char { text, json };

struct Field {
  Field(std::string_view field_key, std::string_view text) : key(field_key), value(text) {}
  Field(std::string_view field_key, const char* text) : key(field_key), value(text) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Field(std::string_view field_key, Number number)
      : key(field_key), value(std::to_string(number)), number_like(true) {}
  std::string_view key;
  std::string value;
  bool number_like = false;
};

// Sets where lines go (standard error) and how they look. Call once, before threads.
void configure(Level level, Format format);
Result<Level> parse_level(std::string_view text);
Result<Format> parse_format(std::string_view text);

void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::error, message, fields);
}

}  // namespace orrery::log
