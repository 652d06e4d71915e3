// Whoever asked is told, and a server that nobody listens to goes on.
#include "cli/readiness.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/file_descriptor.h"

namespace orrery::cli {
namespace {

// A socket with this name, as a service manager has it.
FileDescriptor listen_at(const std::string& name) {
  FileDescriptor made(::socket(AF_UNIX, SOCK_DGRAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
            0);
  return made;
}

std::string next_message(const FileDescriptor& socket) {
  std::array<char, 256> bytes{};
  const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return size < 0 ? "" : std::string(bytes.data(), static_cast<size_t>(size));
}

TEST(Readiness, TellsASocketWithANameOfEitherKind) {
  for (const std::string kind : {"/", "@"}) {
    const std::string name =
        (kind == "/" ? ::testing::TempDir() : "@") + "orrery-ready-" + std::to_string(::getpid());
    const FileDescriptor socket = listen_at(name);
    const Readiness readiness(name);
    EXPECT_EQ(next_message(socket), "");
    readiness.ready();
    EXPECT_EQ(next_message(socket).substr(0, 8), "READY=1\n");
    readiness.stopping();
    EXPECT_EQ(next_message(socket).substr(0, 11), "STOPPING=1\n");
    if (kind == "/") ::unlink(name.c_str());
  }
}

TEST(Readiness, GoesOnWhenNobodyListens) {
  for (const char* name : {"/nonexistent/socket", "@orrery-nobody-is-there", "relative", ""}) {
    Readiness(name).ready();
  }
}

}  // namespace
}  // namespace orrery::cli
