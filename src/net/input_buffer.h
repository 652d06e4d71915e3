// The bytes read from a connection and not yet done with. Contiguous, so that a request can be seen
// as views; small while idle. Up to kFreeBytes are a connection's own; whoever lets it grow beyond
// them reserves the memory first (buffer_budget.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace orrery::net {

class InputBuffer {
 public:
  static constexpr size_t kSmallBytes = 4 * 1024;
  static constexpr size_t kFreeBytes = 16 * 1024;

  char* data() { return memory_.get() + start_; }
  size_t size() const { return end_ - start_; }
  size_t capacity() const { return capacity_; }
  // What it would be after room(0).
  size_t next_capacity() const {
    return size() == capacity_ ? std::max(kSmallBytes, capacity_ * 2) : capacity_;
  }

  // Room for at least one more byte. `wanted`: how much this request will need in all, 0 if
  // unknown; memory at most doubles at a time, so nobody makes us allocate much more than they have
  // sent.
  std::span<char> room(size_t wanted) {
    if (start_ > 0) {
      std::memmove(memory_.get(), data(), size());
      end_ -= start_;
      start_ = 0;
    }
    if (end_ == capacity_) {
      size_t capacity = next_capacity();
      if (wanted > end_) capacity = std::min(capacity, std::max(wanted, kSmallBytes));
      resize(capacity);
    }
    return {memory_.get() + end_, capacity_ - end_};
  }

  void added(size_t size) { end_ += size; }
  void shrink_to(size_t size) { end_ = start_ + size; }  // drops bytes at the end

  // Drops bytes at the start, and memory beyond kFreeBytes if it is not needed any more.
  void consume(size_t bytes) {
    start_ += bytes;
    if (start_ == end_) start_ = end_ = 0;
    if (capacity_ > kFreeBytes && size() <= kFreeBytes) resize(size());
  }

 private:
  // `capacity` is at least size().
  void resize(size_t capacity) {
    auto memory = capacity > 0 ? std::make_unique_for_overwrite<char[]>(capacity) : nullptr;
    if (size() > 0) std::memcpy(memory.get(), data(), size());
    memory_ = std::move(memory);
    capacity_ = capacity;
    end_ = size();
    start_ = 0;
  }

  std::unique_ptr<char[]> memory_;
  size_t capacity_ = 0;
  size_t start_ = 0;
  size_t end_ = 0;
};

}  // namespace orrery::net
