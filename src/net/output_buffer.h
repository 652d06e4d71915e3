// What a connection has yet to write: heads and small bodies in order, and one large body after
// them, which is written from where it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace orrery::net {

class OutputBuffer {
 public:
  static constexpr size_t kIdleBytesMax = 16 * 1024;

  // To be appended to, while there is no large body.
  std::string& text() { return text_; }
  void set_body(std::string body) { body_ = std::move(body); }

  bool has_body() const { return !body_.empty(); }
  size_t text_bytes() const { return text_.size(); }
  // Memory is held for all of it until all is written.
  size_t bytes() const { return text_.size() + body_.size(); }
  bool unsent() const { return text_done_ < text_.size() || body_done_ < body_.size(); }

  // The rest, in order.
  std::string_view first() const { return std::string_view(text_).substr(text_done_); }
  std::string_view second() const { return std::string_view(body_).substr(body_done_); }
  void advance(size_t size) {
    const size_t from_text = std::min(size, text_.size() - text_done_);
    text_done_ += from_text;
    body_done_ += size - from_text;
  }

  // After all is written.
  void clear() {
    text_.clear();
    if (text_.capacity() > kIdleBytesMax) text_ = {};
    if (!body_.empty()) body_ = {};
    text_done_ = body_done_ = 0;
  }

 private:
  std::string text_;
  std::string body_;
  size_t text_done_ = 0;
  size_t body_done_ = 0;
};

}  // namespace orrery::net
