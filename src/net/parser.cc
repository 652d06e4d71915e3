// The parser, line by line: request line, headers, then a body by length or in chunks. See parser.h
// for what it refuses and why.
#include "net/parser.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace orrery::net {
namespace {

constexpr size_t kFieldsMax = 256;
constexpr size_t kMethodBytesMax = 32;
constexpr size_t kChunkLineBytesMax = 1024;
constexpr size_t kChunkDigitsMax = 16;

// The characters of a token (method, header name): RFC 9110, 5.6.2.
constexpr std::array<bool, 256> kToken = [] {
  std::array<bool, 256> table{};
  for (unsigned char c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (unsigned char c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// No early exit: names are short, and a branch a character costs more.
bool is_token(std::string_view text) {
  bool all = true;
  for (const char c : text) all &= kToken[static_cast<unsigned char>(c)];
  return all && !text.empty();
}

// Whether one of eight bytes is below 0x20 or is 0x7f.
bool suspect(const char* eight) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t word = 0;
  std::memcpy(&word, eight, sizeof word);
  const uint64_t other = word ^ (kOnes * 0x7f);
  const uint64_t low = (word - kOnes * 0x20) & ~word;
  const uint64_t del = (other - kOnes) & ~other;
  return ((low | del) & (kOnes * 0x80)) != 0;
}

bool has_control(std::string_view text) {
  // Eight at a time, the last eight overlapping those before; most values have nothing suspect.
  if (text.size() >= 8) {
    size_t at = 0;
    bool found = suspect(text.data() + text.size() - 8);
    for (; at + 8 <= text.size(); at += 8) found |= suspect(text.data() + at);
    if (!found) return false;
  }
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

RequestParser::RequestParser(uint32_t header_bytes_max, uint64_t body_bytes_max)
    : header_bytes_max_(header_bytes_max), body_bytes_max_(body_bytes_max) {
  reset();
}

void RequestParser::reset() {
  stage_ = Stage::request_line;
  http_1_0_ = false;
  head_method_ = false;
  has_length_ = false;
  chunked_ = false;
  connection_close_ = false;
  connection_keep_alive_ = false;
  expects_continue_ = false;
  hosts_ = 0;
  head_bytes_left_ = header_bytes_max_;
  position_ = 0;
  scanned_ = 0;
  length_ = 0;
  body_start_ = 0;
  body_size_ = 0;
  method_ = {};
  target_ = {};
  fields_.clear();
  error_status_ = 0;
  error_message_ = {};
}

void RequestParser::fail(int status, std::string_view message) {
  stage_ = Stage::failed;
  error_status_ = status;
  error_message_ = message;
}

RequestParser::Outcome RequestParser::parse(char* data, size_t& size) {
  while (step(data, size)) {
  }
  if (stage_ == Stage::done) return Outcome::complete;
  if (stage_ == Stage::failed) return Outcome::failed;
  if (chunked_ && stage_ > Stage::fixed_body) {
    // Close the gap that the framing left, so that memory is bounded by the body and not by how
    // finely it was cut.
    const size_t body_end = body_start_ + body_size_;
    const size_t gap = position_ - body_end;
    if (gap > 0) {
      std::memmove(data + body_end, data + position_, size - position_);
      size -= gap;
      position_ -= gap;
      scanned_ -= gap;
    }
  }
  return Outcome::need_more;
}

// Does the next thing; false if there is nothing more to do with these bytes.
bool RequestParser::step(char* data, size_t size) {
  std::string_view line;
  switch (stage_) {
    case Stage::request_line:
      if (!head_line(data, size, line)) return false;
      // Some clients end a body with a line end that is not part of it.
      if (!line.empty()) request_line(data, line);
      return true;
    case Stage::headers:
      if (!head_line(data, size, line)) return false;
      if (line.empty()) {
        end_of_head();
      } else {
        field(data, line);
      }
      return true;
    case Stage::fixed_body:
      body_size_ = std::min(size - body_start_, static_cast<size_t>(length_));
      if (body_size_ < length_) return false;
      position_ = body_start_ + body_size_;
      stage_ = Stage::done;
      return false;
    case Stage::chunk_size:
      return chunk_size(data, size);
    case Stage::chunk_data: {
      const size_t take = std::min(size - position_, static_cast<size_t>(length_));
      if (take == 0) return false;
      std::memmove(data + body_start_ + body_size_, data + position_, take);
      body_size_ += take;
      position_ += take;
      scanned_ = position_;
      length_ -= take;
      if (length_ == 0) stage_ = Stage::chunk_end;
      return true;
    }
    case Stage::chunk_end:
      if (size - position_ < 2) return false;
      if (data[position_] != '\r' || data[position_ + 1] != '\n') {
        fail(400, "A chunk of the body is longer than its size says.");
        return false;
      }
      position_ += 2;
      scanned_ = position_;
      stage_ = Stage::chunk_size;
      return true;
    case Stage::trailers: {
      if (!head_line(data, size, line)) return false;
      if (line.empty()) {
        stage_ = Stage::done;
        return false;
      }
      // Checked as any header, and dropped: a trailer must not change what was read before it.
      std::string_view name;
      std::string_view value;
      return split_field(line, name, value);
    }
    case Stage::done:
    case Stage::failed:
      return false;
  }
  return false;
}

RequestParser::Line RequestParser::next_line(const char* data, size_t size, size_t line_bytes_max,
                                             std::string_view& line) {
  const size_t end = std::min(size, position_ + line_bytes_max);
  const void* found = end > scanned_ ? std::memchr(data + scanned_, '\n', end - scanned_) : nullptr;
  if (found == nullptr) {
    scanned_ = std::max(scanned_, end);
    return size - position_ >= line_bytes_max ? Line::too_long : Line::incomplete;
  }
  const char* feed = static_cast<const char*>(found);
  const char* start = data + position_;
  if (feed == start || feed[-1] != '\r') return Line::bad_end;
  line = std::string_view(start, static_cast<size_t>(feed - 1 - start));
  position_ = static_cast<size_t>(feed + 1 - data);
  scanned_ = position_;
  return Line::found;
}

bool RequestParser::head_line(const char* data, size_t size, std::string_view& line) {
  switch (next_line(data, size, head_bytes_left_, line)) {
    case Line::found:
      head_bytes_left_ -= line.size() + 2;
      return true;
    case Line::incomplete:
      return false;
    case Line::too_long:
      fail(431, "The request line and headers are larger than this server accepts.");
      return false;
    case Line::bad_end:
      fail(400, "A line of the request does not end in CR LF.");
      return false;
  }
  return false;
}

void RequestParser::request_line(const char* data, std::string_view line) {
  const size_t first = line.find(' ');
  // Without a space `first` is npos, which is above the bound too.
  if (first > kMethodBytesMax || !is_token(line.substr(0, first))) {
    return fail(400, "The request line does not start with a method.");
  }
  const size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos || second == first + 1) {
    return fail(400, "The request line is not `method target version`.");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (has_control(target) || target.find('\t') != std::string_view::npos) {
    return fail(400, "The request target has a control character in it.");
  }
  if (version == "HTTP/1.0") {
    http_1_0_ = true;
  } else if (version != "HTTP/1.1") {
    const bool other_version = version.size() == 8 && version.starts_with("HTTP/") &&
                               version[5] >= '0' && version[5] <= '9' && version[6] == '.' &&
                               version[7] >= '0' && version[7] <= '9';
    if (other_version) return fail(505, "This server speaks HTTP/1.1 and HTTP/1.0.");
    return fail(400, "The request line does not end in an HTTP version.");
  }
  head_method_ = method == "HEAD";
  method_ = {static_cast<uint32_t>(method.data() - data), static_cast<uint32_t>(method.size())};
  target_ = {static_cast<uint32_t>(target.data() - data), static_cast<uint32_t>(target.size())};
  stage_ = Stage::headers;
}

bool RequestParser::split_field(std::string_view line, std::string_view& name,
                                std::string_view& value) {
  if (line.front() == ' ' || line.front() == '\t') {
    fail(400, "A header is continued on a second line.");
    return false;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    fail(400, "A header's name is empty, has a character that no name may have, or has no colon.");
    return false;
  }
  name = line.substr(0, colon);
  value = trim(line.substr(colon + 1));
  if (has_control(value)) {
    fail(400, "A header's value has a control character in it.");
    return false;
  }
  return true;
}

void RequestParser::field(const char* data, std::string_view line) {
  std::string_view name;
  std::string_view value;
  if (!split_field(line, name, value)) return;
  if (fields_.size() == kFieldsMax) return fail(431, "The request has more than 256 headers.");
  fields_.push_back(
      {{static_cast<uint32_t>(name.data() - data), static_cast<uint32_t>(name.size())},
       {static_cast<uint32_t>(value.data() - data), static_cast<uint32_t>(value.size())}});
  known_field(name, value);
}

// The headers that decide where this request ends and what becomes of the connection.
void RequestParser::known_field(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 4:
      if (equals_ignoring_case(name, "host")) ++hosts_;
      return;
    case 6:
      if (!equals_ignoring_case(name, "expect")) return;
      if (!equals_ignoring_case(value, "100-continue")) {
        return fail(417, "The only expectation this server meets is 100-continue.");
      }
      expects_continue_ = true;
      return;
    case 10:
      if (!equals_ignoring_case(name, "connection")) return;
      while (!value.empty()) {
        const size_t comma = value.find(',');
        const std::string_view option = trim(value.substr(0, comma));
        if (equals_ignoring_case(option, "close")) connection_close_ = true;
        if (equals_ignoring_case(option, "keep-alive")) connection_keep_alive_ = true;
        if (comma == std::string_view::npos) return;
        value.remove_prefix(comma + 1);
      }
      return;
    case 14: {
      if (!equals_ignoring_case(name, "content-length")) return;
      if (has_length_) return fail(400, "There is more than one Content-Length.");
      if (value.empty()) return fail(400, "Content-Length is empty.");
      uint64_t length = 0;
      for (const char c : value) {
        if (c < '0' || c > '9') return fail(400, "Content-Length is not a number.");
        // Stops growing far above any bound, and far below overflow.
        if (length < UINT64_MAX / 16) length = length * 10 + static_cast<uint64_t>(c - '0');
      }
      has_length_ = true;
      length_ = length;
      return;
    }
    case 17:
      if (!equals_ignoring_case(name, "transfer-encoding")) return;
      if (chunked_) return fail(400, "There is more than one Transfer-Encoding.");
      if (!equals_ignoring_case(value, "chunked")) {
        return fail(501, "The only transfer coding this server knows is chunked.");
      }
      chunked_ = true;
      return;
    default:
      return;
  }
}

void RequestParser::end_of_head() {
  body_start_ = position_;
  if (chunked_ && has_length_) {
    return fail(400, "Content-Length and Transfer-Encoding contradict each other.");
  }
  if (chunked_ && http_1_0_) return fail(400, "HTTP/1.0 has no Transfer-Encoding.");
  if (hosts_ > 1 || (hosts_ == 0 && !http_1_0_)) {
    return fail(400, "A request must have exactly one Host header.");
  }
  if (length_ > body_bytes_max_) return fail(413, "The body is larger than this server accepts.");
  if (http_1_0_) expects_continue_ = false;
  if (chunked_) {
    stage_ = Stage::chunk_size;
  } else if (length_ > 0) {
    stage_ = Stage::fixed_body;
  } else {
    stage_ = Stage::done;
  }
}

bool RequestParser::chunk_size(const char* data, size_t size) {
  std::string_view line;
  switch (next_line(data, size, kChunkLineBytesMax, line)) {
    case Line::found:
      break;
    case Line::incomplete:
      return false;
    case Line::too_long:
    case Line::bad_end:
      fail(400, "The line of a chunk's size is too long or does not end in CR LF.");
      return false;
  }
  size_t digits = 0;
  uint64_t length = 0;
  while (digits < line.size() && digits < kChunkDigitsMax && hex_digit(line[digits]) >= 0) {
    length = length * 16 + static_cast<uint64_t>(hex_digit(line[digits]));
    ++digits;
  }
  const std::string_view extension = trim(line.substr(digits));
  if (digits == 0 || (digits < line.size() && extension.empty()) ||
      (!extension.empty() && (extension.front() != ';' || has_control(extension)))) {
    fail(400, "A chunk's size is not a hexadecimal number.");
    return false;
  }
  // Extensions mean nothing here. They count as headers do, so that they are bounded in all.
  if (extension.size() > head_bytes_left_) {
    fail(431, "The chunk extensions are larger than this server accepts.");
    return false;
  }
  head_bytes_left_ -= extension.size();
  if (length > body_bytes_max_ - body_size_) {
    fail(413, "The body is larger than this server accepts.");
    return false;
  }
  length_ = length;
  stage_ = length == 0 ? Stage::trailers : Stage::chunk_data;
  return true;
}

size_t RequestParser::bytes_wanted_max() const {
  if (!chunked_) return bytes_wanted();
  // What is ahead of the decoded body is at most one chunk's line, or the trailers.
  return body_start_ + body_bytes_max_ + std::max<size_t>(header_bytes_max_, kChunkLineBytesMax);
}

bool RequestParser::keep_alive() const {
  if (connection_close_) return false;
  return !http_1_0_ || connection_keep_alive_;
}

void RequestParser::fill(const char* data, Request& request) const {
  const auto view = [data](Span span) { return std::string_view(data + span.start, span.size); };
  request.method = view(method_);
  request.target = view(target_);
  request.headers.resize(fields_.size());
  for (size_t i = 0; i < fields_.size(); ++i) {
    request.headers[i] = {view(fields_[i].name), view(fields_[i].value)};
  }
  request.body = std::string_view(data + body_start_, body_size_);
}

}  // namespace orrery::net
