// The HTTP/1 request parser: bytes in, one request out. Pure: no I/O, no clock, one owner.
//
// It is strict where leniency has let requests be smuggled past proxies: every line ends in CRLF;
// no folded header lines; no space before a colon; no control characters; one Content-Length of
// plain digits; no Content-Length beside Transfer-Encoding; no transfer coding but `chunked`.
//
// Invariant: what it finds depends on the bytes alone, never on how they were cut into pieces.
// Lines are therefore looked at only when complete. (tests/fuzz/http_fuzz.cc holds it to that.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace orrery::net {

class RequestParser {
 public:
  enum class Outcome : uint8_t { need_more, complete, failed };

  // Bounds: of the request line, headers and trailers together; of the decoded body.
  RequestParser(uint32_t header_bytes_max, uint64_t body_bytes_max);

  // Makes ready for the next request.
  void reset();

  // `data` holds everything of this request received so far, from its first byte; bytes of
  // following requests may be there too. Call again with more bytes at the end after need_more: the
  // memory may have moved. Chunk framing is removed in place: after need_more `size` may have
  // become smaller.
  Outcome parse(char* data, size_t& size);

  // After complete.
  size_t consumed() const { return position_; }         // where the next request starts in `data`
  void fill(const char* data, Request& request) const;  // method, target, headers, body
  bool keep_alive() const;
  bool http_1_0() const { return http_1_0_; }
  bool is_head() const { return head_method_; }

  // After need_more.
  bool reading_body() const { return stage_ >= Stage::fixed_body; }
  bool expects_continue() const {  // the client waits for "100 Continue" before it sends the body
    return reading_body() && expects_continue_ && body_size_ == 0;
  }
  // While reading the body: how many bytes `data` must be able to hold for this request; 0 if the
  // client has not said how long the body is.
  size_t bytes_wanted() const { return stage_ == Stage::fixed_body ? body_start_ + length_ : 0; }
  // The same, and if it has not said: the most that it may become.
  size_t bytes_wanted_max() const;

  // After failed.
  int error_status() const { return error_status_; }
  std::string_view error_message() const { return error_message_; }

 private:
  enum class Stage : uint8_t {
    request_line,
    headers,
    // From here on the head is complete.
    fixed_body,
    chunk_size,
    chunk_data,
    chunk_end,
    trailers,
    done,
    failed,
  };
  enum class Line : uint8_t { found, incomplete, too_long, bad_end };

  // Offsets rather than views, because the memory may move before the request is complete.
  struct Span {
    uint32_t start = 0;
    uint32_t size = 0;
  };
  struct Field {
    Span name;
    Span value;
  };

  Line next_line(const char* data, size_t size, size_t line_bytes_max, std::string_view& line);
  // The next line of the head or the trailers. False: stage_ may have become failed, or need more.
  bool head_line(const char* data, size_t size, std::string_view& line);
  bool step(char* data, size_t size);
  void request_line(const char* data, std::string_view line);
  bool split_field(std::string_view line, std::string_view& name, std::string_view& value);
  void field(const char* data, std::string_view line);
  void known_field(std::string_view name, std::string_view value);
  void end_of_head();
  bool chunk_size(const char* data, size_t size);
  void fail(int status, std::string_view message);  // `message` is a literal

  uint32_t header_bytes_max_;
  uint64_t body_bytes_max_;

  Stage stage_ = Stage::request_line;
  bool http_1_0_ = false;
  bool head_method_ = false;
  bool has_length_ = false;
  bool chunked_ = false;
  bool connection_close_ = false;
  bool connection_keep_alive_ = false;
  bool expects_continue_ = false;
  uint32_t hosts_ = 0;
  size_t head_bytes_left_ = 0;
  size_t position_ = 0;  // what is before it has been understood
  size_t scanned_ = 0;   // no line feed from position_ to here
  uint64_t length_ = 0;  // Content-Length, or what is missing of the current chunk
  size_t body_start_ = 0;
  size_t body_size_ = 0;
  Span method_;
  Span target_;
  std::vector<Field> fields_;
  int error_status_ = 0;
  std::string_view error_message_;
};

}  // namespace orrery::net
