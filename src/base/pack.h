// Numbers and texts one after the other in a string: what processes of one cluster tell one
// another.
//
// Unpacker takes bytes from outside: whatever they are, it reads within them, and is_good() says at
// the end whether all was there and nothing is left. What it gave before that may be empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace orrery {

class Packer {
 public:
  Packer& number(uint64_t value) {
    char bytes[sizeof value];
    store_u64_le(bytes, value);
    packed_.append(bytes, sizeof bytes);
    return *this;
  }
  Packer& text(std::string_view value) {
    number(value.size());
    packed_.append(value);
    return *this;
  }
  std::string take() { return std::move(packed_); }

 private:
  std::string packed_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : left_(packed) {}

  uint64_t number() {
    const std::string_view bytes = raw(sizeof(uint64_t));
    return is_whole_ ? load_u64_le(bytes.data()) : 0;
  }
  std::string_view text() { return raw(number()); }
  // Of something that is repeated: each takes `least` bytes at least, so a number beyond what is
  // left is refused before anybody makes room for it.
  uint64_t count(uint64_t least) {
    const uint64_t value = number();
    if (value <= left_.size() / least) return value;
    is_whole_ = false;
    return 0;
  }
  bool is_good() const { return is_whole_ && left_.empty(); }

 private:
  std::string_view raw(uint64_t size) {
    if (!is_whole_ || size > left_.size()) {
      is_whole_ = false;
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  std::string_view left_;
  bool is_whole_ = true;
};

}  // namespace orrery
