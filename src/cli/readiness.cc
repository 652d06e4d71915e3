// See readiness.h. The protocol is sd_notify(3)'s.
#include "cli/readiness.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/file_descriptor.h"
#include "base/log.h"

namespace orrery::cli {

Readiness Readiness::from_environment() {
  const char* socket =
      std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): one thread yet
  return Readiness(socket == nullptr ? "" : socket);
}

void Readiness::tell(std::string_view state) const {
  if (socket_.empty()) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() < 2 || socket_.size() >= sizeof(address.sun_path) ||
      (socket_[0] != '/' && socket_[0] != '@')) {
    log::warn("NOTIFY_SOCKET is not the name of a socket", {{"value", socket_}});
    return;
  }
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const FileDescriptor sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!sender || ::sendto(sender.get(), state.data(), state.size(), MSG_NOSIGNAL,
                          reinterpret_cast<const sockaddr*>(&address), size) < 0) {
    log::warn("cannot tell the service manager how the server is doing",
              {{"socket", socket_}, {"error", std::system_category().message(errno)}});
  }
}

}  // namespace orrery::cli
