// Sending and receiving with poll(2), so that a deadline holds whatever the peer does.
#include "script/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/bytes.h"
#include "base/clock.h"

namespace orrery::script {
namespace {

constexpr size_t kReadBytes = 16 << 10;

std::string error_text(int error) {
  return std::system_category().message(error);
}

// Waits until the socket can be read or written.
Status wait(int socket, short events, int64_t deadline_us) {
  for (;;) {
    int timeout_ms = -1;
    if (deadline_us != 0) {
      const int64_t left_us = deadline_us - RealClock().steady_us();
      if (left_us <= 0) return fail(Code::overloaded, "the script worker did not answer in time");
      timeout_ms = static_cast<int>(std::min<int64_t>((left_us + 999) / 1000, 3'600'000));
    }
    pollfd entry{.fd = socket, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, timeout_ms);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) {
      return fail(Code::internal, "poll of a script worker's socket: " + error_text(errno));
    }
  }
}

}  // namespace

Channel::~Channel() {
  close(socket_);
}

Status Channel::send(const Message& message, int64_t deadline_us) {
  const std::string frame = encode(message);
  size_t sent = 0;
  while (sent < frame.size()) {
    const ssize_t count =
        ::send(socket_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (auto status = wait(socket_, POLLOUT, deadline_us); !status) return status;
    } else if (errno != EINTR) {
      return fail(Code::not_found, "the script worker is gone: " + error_text(errno));
    }
  }
  return {};
}

// Reads until the buffer has this many bytes that are not taken yet.
Status Channel::fill(size_t bytes, int64_t deadline_us) {
  if (start_ > 0 && start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  }
  while (buffer_.size() - start_ < bytes) {
    const size_t had = buffer_.size();
    buffer_.resize(had + std::max(kReadBytes, bytes - (had - start_)));
    const ssize_t count = recv(socket_, buffer_.data() + had, buffer_.size() - had, MSG_DONTWAIT);
    const int error = errno;
    buffer_.resize(had + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count > 0) continue;
    if (count == 0) return fail(Code::not_found, "the script worker is gone");
    if (error == EAGAIN || error == EWOULDBLOCK) {
      if (auto status = wait(socket_, POLLIN, deadline_us); !status) return status;
    } else if (error != EINTR) {
      return fail(Code::not_found, "the script worker is gone: " + error_text(error));
    }
  }
  return {};
}

Result<Message> Channel::receive(int64_t deadline_us) {
  if (auto status = fill(kFrameHead, deadline_us); !status) return pass(status.error());
  const uint32_t size = load_u32_le(buffer_.data() + start_);
  if (size > frame_bytes_max_) {
    return fail(Code::too_large,
                fmt::format("a script's message of {} bytes is over the limit of {}", size,
                            frame_bytes_max_));
  }
  // Bytes are consumed only once the frame is complete, so that a receive can be repeated after a
  // deadline.
  if (auto status = fill(kFrameHead + size, deadline_us); !status) return pass(status.error());
  auto message = decode(std::string_view(buffer_).substr(start_ + kFrameHead, size));
  start_ += kFrameHead + size;
  if (start_ == buffer_.size()) {
    // Frees the memory of a large message.
    if (buffer_.capacity() > (1 << 20)) std::string().swap(buffer_);
    buffer_.clear();
    start_ = 0;
  }
  return message;
}

bool Channel::is_quiet() const {
  pollfd entry{.fd = socket_, .events = POLLIN, .revents = 0};
  return start_ == buffer_.size() && poll(&entry, 1, 0) == 0;
}

}  // namespace orrery::script
