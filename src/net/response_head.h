// Writes the head of a response: status line, headers, Date, Content-Length. Pure.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::net {

std::string_view reason_phrase(int status);

// 204, 304 and the 1xx never have a body, nor a Content-Length.
bool status_has_body(int status);

struct ResponseHead {
  int status = 200;
  std::string_view headers = {};    // complete lines
  std::string_view date_line = {};  // as date_line() makes it; may be empty
  std::optional<uint64_t> content_length = std::nullopt;
  std::string_view connection = {};  // the value of Connection; empty: none
};

void append_head(std::string& out, const ResponseHead& head);

// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", whatever the locale.
std::string date_line(std::time_t seconds);

// A body in the shape that faces use for errors. `message` must need no escaping in JSON.
std::string error_body(int status, std::string_view message);

}  // namespace orrery::net
