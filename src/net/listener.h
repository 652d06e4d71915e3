// Accepts the connections of one listener and hands them to the loops in turn. Runs on the first
// loop's thread.
//
// One listening socket rather than one a thread: turns spread few connections evenly, and a second
// server on the same port is an error instead of a silent sharing of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"

namespace orrery::net {

class Listener final : public Watcher {
 public:
  Listener(std::vector<std::shared_ptr<EventLoop>> loops, std::shared_ptr<ServerState> server,
           ListenerState& state);

  Status open();  // binds and listens, before the loops run
  uint16_t port() const { return port_; }
  const ListenerState& state() const { return state_; }

  // On the first loop's thread.
  void on_events(uint32_t events) override;
  void on_failure() noexcept override;
  void close();  // after taking what the kernel has accepted already

 private:
  enum class Taken : uint8_t { all, some, out_of_resources };

  Taken take_waiting();  // as many as one turn may
  bool admit();
  void pause();
  void go_on_after(std::chrono::milliseconds delay);

  std::vector<std::shared_ptr<EventLoop>> loops_;
  std::shared_ptr<ServerState> server_;
  ListenerState& state_;
  FileDescriptor fd_;
  uint16_t port_ = 0;
  size_t next_loop_ = 0;
};

}  // namespace orrery::net
