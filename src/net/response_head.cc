// Formatting heads without streams or allocation beyond the output: on the path of every response.
// See response_head.h.
#include "net/response_head.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace orrery::net {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 207:
      return "Multi-Status";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 423:
      return "Locked";
    case 424:
      return "Failed Dependency";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 449:
      return "Retry With";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

bool status_has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

void append_head(std::string& out, const ResponseHead& head) {
  std::array<char, 24> digits;
  const auto append_number = [&](uint64_t number) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out.append(digits.data(), end.ptr);
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
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n",
                     kDays[static_cast<size_t>(utc.tm_wday)], utc.tm_mday,
                     kMonths[static_cast<size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
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
