// spdlog behind the small surface of log.h, so that only this file compiles it.
#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "base/printable.h"

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

// Whatever is in `text`: names and addresses come from outside.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_printable(out, text, "\"\\");
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
