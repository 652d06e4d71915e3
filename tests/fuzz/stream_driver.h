// Runs sessions without a network: the server's end of a socket pair belongs to an event loop that
// this thread turns by hand, and the other end is given bytes in pieces. So a fuzzer covers streams
// and sessions as they are, in one thread and always in the same way.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_loop.h"
#include "net/session.h"

namespace orrery::net {

inline void require(bool condition) {
  if (!condition) std::abort();
}

class StreamDriver {
 public:
  // `after_turn`: for what other threads would do.
  explicit StreamDriver(
      SessionFactory sessions, std::function<void()> after_turn = [] {})
      : after_turn_(std::move(after_turn)) {
    ServerOptions options;
    options.threads = 1;
    state_ = std::make_shared<ServerState>(options);
    ListenerSpec spec;
    spec.tls = TlsMode::off;
    spec.sessions = std::move(sessions);
    state_->listeners.push_back(std::make_unique<ListenerState>(std::move(spec), 1));
    auto loop = EventLoop::create(state_, 0);
    require(loop.has_value());
    loop_ = std::move(*loop);
    loop_->begin_on_this_thread();
  }

  // What a client gets that sends `bytes` in pieces of these sizes, used in a circle, and then
  // nothing more. None: all at once.
  std::string run(std::string_view bytes, const std::vector<size_t>& pieces) {
    std::array<int, 2> ends{};
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    FileDescriptor client(ends[0]);
    ListenerState& listener = *state_->listeners.front();
    ++state_->connections_open;
    ++listener.connections_open;
    loop_->adopt(FileDescriptor(ends[1]), listener, false);
    std::string received;
    for (size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
      const size_t piece = pieces.empty() ? bytes.size() : pieces[turn % pieces.size()];
      const std::string_view part = bytes.substr(at, piece);
      // The inputs are smaller than a socket's buffer. It fails when the server has closed.
      if (::send(client.get(), part.data(), part.size(), MSG_NOSIGNAL) < 0) break;
      at += part.size();
      step(client.get(), received);
    }
    ::shutdown(client.get(), SHUT_WR);
    for (int turns = 0; !step(client.get(), received); ++turns) require(turns < kTurnsMax);
    client.reset();
    for (int turns = 0; state_->connections_open > 0; ++turns) {
      require(turns < kTurnsMax);
      step(-1, received);
    }
    return received;
  }

 private:
  static constexpr int kTurnsMax = 100'000;

  // True: the server has closed, or written its last.
  bool step(int client, std::string& received) {
    loop_->turn(0);
    after_turn_();
    std::array<char, 16'384> bytes;
    while (client >= 0) {
      const ssize_t got = ::recv(client, bytes.data(), bytes.size(), 0);
      if (got == 0) return true;
      if (got < 0) return errno != EAGAIN;
      received.append(bytes.data(), static_cast<size_t>(got));
    }
    return false;
  }

  std::function<void()> after_turn_;
  std::shared_ptr<ServerState> state_;
  std::shared_ptr<EventLoop> loop_;
};

// The sizes of pieces that an input begins with: one byte N (0 to 15) and N sizes, of which 0 means
// 256. Takes them off; false when there are not so many.
inline bool take_pieces(std::string_view& input, std::vector<size_t>& pieces) {
  if (input.empty()) return false;
  const size_t count = static_cast<unsigned char>(input.front()) % 16;
  if (input.size() < 1 + count) return false;
  for (const char c : input.substr(1, count)) {
    pieces.push_back(c == 0 ? 256 : static_cast<unsigned char>(c));
  }
  input.remove_prefix(1 + count);
  return true;
}

}  // namespace orrery::net
