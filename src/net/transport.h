// The bytes of one connection: a non-blocking socket, with TLS over it once that has begun.
//
// The loop tells of events by edges, so this remembers whether there may be something to read, and
// asks the kernel only then: a read that came back short has emptied the socket, and the next bytes
// make a new event. (The end of the stream makes one event only; once it was seen, reading goes on
// until it is reached.)
//
// Threading: the loop's thread.
#pragma once

#include <openssl/types.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace orrery::net {

enum class Flow : uint8_t {
  moved,  // at least one byte, or the step is done
  wait,   // not now: there will be an event
  over,   // the connection is of no further use
};

struct Transfer {
  Flow flow = Flow::wait;
  size_t bytes = 0;
};

class Transport {
 public:
  explicit Transport(FileDescriptor fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  std::string peer_name() const;
  std::string local_name() const;  // the address and port that the peer reached
  bool tls() const { return tls_ != nullptr; }
  void on_events(uint32_t events);
  // Whether the peer has closed, or at least ended its side.
  bool ended() const { return ended_; }

  // The first bytes, which stay to be read.
  Transfer peek(std::span<unsigned char> first);
  void discard_first(size_t bytes_max);
  bool begin_tls(SSL_CTX* context);
  Flow handshake();

  Transfer read(std::span<char> room);
  // From the first, then from the second where there is nothing (more) in the first.
  Transfer write(std::string_view first, std::string_view second);
  // Says that nothing more will be written.
  void end_writing();
  // Reads and forgets, beneath TLS too.
  Transfer discard();
  bool has_unread() const;
  void close();

 private:
  static std::string address_text(const sockaddr_storage& address);
  struct FreeTls {
    void operator()(SSL* tls) const;
  };

  Transfer tls_result(int result);

  FileDescriptor fd_;
  std::unique_ptr<SSL, FreeTls> tls_;
  bool readable_ = false;
  bool ended_ = false;
};

}  // namespace orrery::net
