// Formatting heads without streams or allocation beyond the output: on the path of every response.
// See response_head.h.
#include "net/response_head.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace orrery::net {

namespace {

struct Reason {
  int status;
  std::string_view phrase;
};
constexpr std::array kReasons = {
    Reason{100, "Continue"},
    Reason{101, "Switching Protocols"},
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{206, "Partial Content"},
    Reason{207, "Multi-Status"},
    Reason{301, "Moved Permanently"},
    Reason{302, "Found"},
    Reason{304, "Not Modified"},
    Reason{307, "Temporary Redirect"},
    Reason{308, "Permanent Redirect"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{411, "Length Required"},
    Reason{412, "Precondition Failed"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{416, "Range Not Satisfiable"},
    Reason{417, "Expectation Failed"},
    Reason{422, "Unprocessable Content"},
    Reason{423, "Locked"},
    Reason{424, "Failed Dependency"},
    Reason{426, "Upgrade Required"},
    Reason{428, "Precondition Required"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{449, "Retry With"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{505, "HTTP Version Not Supported"},
    Reason{507, "Insufficient Storage"},
};

constexpr int kStatusMin = 100;
constexpr int kStatusMax = 599;

// By status, so that finding one takes one step.
constexpr auto kPhrases = [] {
  std::array<std::string_view, kStatusMax - kStatusMin + 1> phrases;
  phrases.fill("Unknown");
  for (const Reason& reason : kReasons) phrases.at(reason.status - kStatusMin) = reason.phrase;
  return phrases;
}();

}  // namespace

std::string_view reason_phrase(int status) {
  if (status < kStatusMin || status > kStatusMax) return "Unknown";
  return kPhrases[static_cast<size_t>(status - kStatusMin)];
}

bool status_has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

void append_head(std::string& out, const ResponseHead& head) {
  std::array<char, 24> digits;
  const auto append_number = [&](uint64_t number) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out.append(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
  };
  out.append("HTTP/1.1 ");
  append_number(static_cast<uint64_t>(head.status));
  out.append(" ").append(reason_phrase(head.status)).append("\r\n");
  out.append(head.headers).append(head.date_line);
  if (head.content_length) {
    out.append("Content-Length: ");
    append_number(*head.content_length);
    out.append("\r\n");
  }
  if (!head.connection.empty()) out.append("Connection: ").append(head.connection).append("\r\n");
  out.append("\r\n");
}

std::string date_line(std::time_t seconds) {
  static constexpr std::array kDayNames = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonthNames = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n",
                     kDayNames[static_cast<size_t>(utc.tm_wday)], utc.tm_mday,
                     kMonthNames[static_cast<size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                     utc.tm_min, utc.tm_sec);
}

std::string error_body(int status, std::string_view message) {
  std::string_view code = "BadRequest";
  if (status == 408) code = "RequestTimeout";
  if (status == 413) code = "RequestEntityTooLarge";
  if (status == 503) code = "ServiceUnavailable";
  return fmt::format(R"({{"code":"{}","message":"{}"}})", code, message);
}

}  // namespace orrery::net
