// Tells whoever started the server how it is doing, as systemd asks for it (Type=notify): one
// datagram to the socket that the variable NOTIFY_SOCKET names. Without the variable nobody asked,
// and nothing is done.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace orrery::cli {

class Readiness {
 public:
  static Readiness from_environment();
  // A path, or @NAME for an abstract socket; empty: nobody asked.
  explicit Readiness(std::string socket) : socket_(std::move(socket)) {}

  void ready() const { tell("READY=1\nSTATUS=Serving"); }
  void stopping() const { tell("STOPPING=1\nSTATUS=Finishing what was accepted"); }

 private:
  // A failure is logged: nothing else depends on it here.
  void tell(std::string_view state) const;

  const std::string socket_;
};

}  // namespace orrery::cli
