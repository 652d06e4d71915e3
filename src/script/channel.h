// Frames over a stream socket. One thread at a time uses a channel.
//
// A frame longer than the limit is refused before memory is allocated for it. After an error the
// channel cannot be used, since it may have stopped within a frame. (Only a receive that ran into
// its deadline can be repeated.)
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "script/protocol.h"

namespace orrery::script {

class Channel {
 public:
  // Takes the socket over and closes it. `frame_bytes_max` bounds what is received.
  Channel(int socket, uint64_t frame_bytes_max)
      : socket_(socket), frame_bytes_max_(frame_bytes_max) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void set_frame_bytes_max(uint64_t bytes) { frame_bytes_max_ = bytes; }

  // Both wait until `deadline_us` of the steady clock (0: without a deadline). Code::overloaded:
  // the deadline has passed. Code::not_found: the peer has closed the socket. Code::invalid: the
  // bytes are no message. Code::too_large: the frame exceeds the limit.
  Status send(const Message& message, int64_t deadline_us = 0);
  Result<Message> receive(int64_t deadline_us = 0);

  // Whether the peer is connected and there is nothing to read.
  bool is_quiet() const;

 private:
  Status fill(size_t bytes, int64_t deadline_us);

  const int socket_;
  uint64_t frame_bytes_max_;
  std::string buffer_;  // received, from `start_` on not yet taken
  size_t start_ = 0;
};

}  // namespace orrery::script
