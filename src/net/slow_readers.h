// The slow readers of one loop: streams with unsent answers, and the memory that these hold. When
// that exceeds the loop's budget, the client that has made no progress for the longest time is
// disconnected. Clients that keep reading come last.
//
// Threading: the loop's thread.
#pragma once

#include <cstdint>
#include <list>

namespace orrery::net {

class Stream;

class SlowReaders {
 public:
  // A stream's entry in the list.
  struct Place {
    std::list<Stream*>::iterator at;
    uint64_t bytes = 0;  // 0: it is not here
  };

  explicit SlowReaders(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // It has answers of so many bytes, and has just taken some of them or begun to wait.
  void moved(Stream& stream, Place& place, uint64_t bytes) {
    remove(place);
    place.at = waiting_.insert(waiting_.end(), &stream);
    place.bytes = bytes;
    bytes_ += bytes;
  }
  // It has another answer, and has taken nothing.
  void grown(Place& place, uint64_t bytes) {
    if (place.bytes == 0) return;
    place.bytes += bytes;
    bytes_ += bytes;
  }
  void remove(Place& place) {
    if (place.bytes == 0) return;
    bytes_ -= place.bytes;
    place.bytes = 0;
    waiting_.erase(place.at);
  }

  // Whom to cut now, or null. One answer is always allowed, however large.
  Stream* excess() const {
    return bytes_ > bytes_max_ && waiting_.size() > 1 ? waiting_.front() : nullptr;
  }

 private:
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::list<Stream*> waiting_;  // first: has taken nothing for the longest time
};

}  // namespace orrery::net
