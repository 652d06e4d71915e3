// spdlog behind the small surface of log.h, so that only this file compiles it.
#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

namespace orrery::log {
namespace {

std::atomic<Level> level_now{Level::info};
std::atomic<Format> format_now{Format::text};

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("orrery",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::debug);
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}

constexpr char32_t kBroken = 0xFFFD;

// Takes one code point from the front of `text`, which is not empty; kBroken for a byte that begins
// none.
char32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80           ? 1
                      : (first >> 5) == 0x06 ? 2
                      : (first >> 4) == 0x0E ? 3
                      : (first >> 3) == 0x1E ? 4
                                             : 0;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (size == 1) {
    text.remove_prefix(1);
    return first;
  }
  char32_t code = size == 0 ? 0 : first & (0xFFU >> (size + 1));
  bool whole = size != 0 && text.size() >= size;
  for (size_t i = 1; whole && i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    whole = (next >> 6) == 0x02;
    code = code << 6 | (next & 0x3FU);
  }
  if (!whole || code < kSmallest[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    text.remove_prefix(1);
    return kBroken;
  }
  text.remove_prefix(size);
  return code;
}

// What a terminal or a reader of lines may take for more than a character: controls, line ends, and
// marks that turn the direction of text.
bool commands_a_terminal(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Whatever is in `text`, one line of valid UTF-8 comes out: names and addresses come from outside.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take_code_point(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == kBroken || commands_a_terminal(c)) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      out += before.substr(0, before.size() - text.size());
    }
  }
  out += '"';
}

bool plain(std::string_view text) {
  if (text.empty()) return false;
  for (char c : text) {
    // Anything but ASCII is looked at when it is quoted; char may have a sign or not.
    if (c <= ' ' || static_cast<unsigned char>(c) > '~' || c == '"' || c == '=' || c == '\\') {
      return false;
    }
  }
  return true;
}

}  // namespace

void configure(Level level, Format format) {
  level_now = level;
  format_now = format;
  logger().set_pattern(format == Format::json
                           ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                           : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                       spdlog::pattern_time_type::utc);
}

Result<Level> parse_level(std::string_view text) {
  if (text == "debug") return Level::debug;
  if (text == "info") return Level::info;
  if (text == "warn") return Level::warn;
  if (text == "error") return Level::error;
  if (text == "off") return Level::off;
  return fail(Code::invalid,
              fmt::format("log level '{}' is not one of debug, info, warn, error, off", text));
}

Result<Format> parse_format(std::string_view text) {
  if (text == "text") return Format::text;
  if (text == "json") return Format::json;
  return fail(Code::invalid, fmt::format("log format '{}' is not one of text, json", text));
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < level_now.load(std::memory_order_relaxed)) return;
  std::string line;
  if (format_now.load(std::memory_order_relaxed) == Format::json) {
    line += "\"message\":";
    append_quoted(line, message);
    for (const Field& field : fields) {
      line += ',';
      append_quoted(line, field.key);
      line += ':';
      if (field.number_like) {
        line += field.value;
      } else {
        append_quoted(line, field.value);
      }
    }
  } else {
    line += message;
    for (const Field& field : fields) {
      line += ' ';
      line += field.key;
      line += '=';
      if (plain(field.value)) {
        line += field.value;
      } else {
        append_quoted(line, field.value);
      }
    }
  }
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  logger().log(kLevels[static_cast<unsigned char>(level)], spdlog::string_view_t(line));
}

}  // namespace orrery::log
