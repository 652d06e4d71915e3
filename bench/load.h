// What the programs have in common that send requests which were made before, and count answers.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace orrery::bench {

using Clock = std::chrono::steady_clock;

inline void tell(const char* what, std::string_view text = {}) {
  std::fprintf(stderr, "%s %.*s\n", what, static_cast<int>(std::min<size_t>(text.size(), 400)),
               text.data());
}

[[noreturn]] inline void die(const char* why, std::string_view text = {}) {
  tell(why, text);
  std::exit(1);
}

// The messages of a file, each after its length (u32, little-endian).
inline std::vector<std::string> read_messages(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> messages;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const size_t size = load_u32_le(bytes.data() + at);
    messages.push_back(bytes.substr(at + 4, size));
    at += 4 + size;
  }
  if (messages.empty()) die("a file has no messages:", path);
  return messages;
}

inline int connect_to_loopback(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die("cannot connect");
  }
  return fd;
}

inline uint32_t micros(Clock::duration time) {
  return static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

// There is one at least.
inline uint32_t median(std::vector<uint32_t>& times_us) {
  const auto middle = times_us.begin() + static_cast<int64_t>(times_us.size() / 2);
  std::ranges::nth_element(times_us, middle);
  return *middle;
}

}  // namespace orrery::bench
