// The members of messages between nodes, as bytes. Each message lists its members once, for both
// directions: `way(m.first), way(m.second)` with a MessageWriter or a MessageReader.
//
//   number = 8 bytes, little-endian; flag = 1 byte; text = number of its bytes, bytes;
//   optional = flag, then the member if it is set; list = number, elements; pair = both
//
// Whatever bytes come, reading gives a message or is_whole() is false, and takes no more memory
// than a small multiple of the bytes.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace orrery {

class MessageWriter {
 public:
  void operator()(uint64_t number) {
    char bytes[8];
    store_u64_le(bytes, number);
    out_.append(bytes, sizeof(bytes));
  }
  void operator()(bool flag) { out_ += flag ? '\1' : '\0'; }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint64_t>(text.size()));
    out_ += text;
  }
  template <class A, class B>
  void operator()(const std::pair<A, B>& both) {
    (*this)(both.first);
    (*this)(both.second);
  }
  template <class T>
  void operator()(const std::optional<T>& one) {
    (*this)(one.has_value());
    if (one) (*this)(*one);
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<uint64_t>(list.size()));
    for (const T& one : list) (*this)(one);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// After a failure everything reads as nothing.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : left_(bytes) {}

  void operator()(uint64_t& number) {
    const std::string_view bytes = take(8);
    number = is_good_ ? load_u64_le(bytes.data()) : 0;
  }
  void operator()(bool& flag) {
    const std::string_view byte = take(1);
    if (is_good_ && static_cast<unsigned char>(byte[0]) > 1) is_good_ = false;
    flag = is_good_ && byte[0] == '\1';
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    text = take(size);
  }
  template <class A, class B>
  void operator()(std::pair<A, B>& both) {
    (*this)(both.first);
    (*this)(both.second);
  }
  template <class T>
  void operator()(std::optional<T>& one) {
    bool has = false;
    (*this)(has);
    if (has) (*this)(one.emplace());
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    uint64_t count = 0;
    (*this)(count);
    // Each element has a size of 8 bytes at least.
    if (count > left_.size() / 8) is_good_ = false;
    if (!is_good_) return;
    list.resize(count);
    for (T& one : list) (*this)(one);
  }
  bool is_good() const { return is_good_; }
  bool is_whole() const { return is_good_ && left_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (!is_good_ || size > left_.size()) {
      is_good_ = false;
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool is_good_ = true;
};

}  // namespace orrery
