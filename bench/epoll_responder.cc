// The limit that the server is compared with: a bare epoll loop per thread that answers every
// "\r\n\r\n" it reads with one fixed reply, understanding nothing of the request.
//
//   epoll_responder --port N --threads 2 --reply-bytes 1400
//   epoll_responder --port N --threads 2 --reply-file FILE
//
// The reply is one header and filler, or what the file holds.
// Prints "ready" when it listens. Ends on a signal.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct Peer {
  int fd = -1;
  std::string tail;  // the last bytes read, at most three
  std::string unsent;
};

[[noreturn]] void die(const char* what) {
  std::perror(what);
  _exit(1);
}

int listen_on(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("bind");
  if (listen(fd, 1024) != 0) die("listen");
  return fd;
}

// False when the connection is over.
bool flush(Peer& peer) {
  while (!peer.unsent.empty()) {
    const ssize_t n = send(peer.fd, peer.unsent.data(), peer.unsent.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    peer.unsent.erase(0, static_cast<size_t>(n));
  }
  return true;
}

bool serve(Peer& peer, std::string_view reply) {
  static constexpr std::string_view kEnd = "\r\n\r\n";
  std::array<char, 16384> input;
  bool emptied = false;
  while (!emptied) {
    // What is left of the last read may hold the start of an end.
    const size_t kept = peer.tail.copy(input.data(), peer.tail.size());
    const ssize_t n = recv(peer.fd, input.data() + kept, input.size() - kept, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    // A short read has emptied the socket: epoll tells of the next bytes.
    emptied = static_cast<size_t>(n) < input.size() - kept;
    std::string_view rest(input.data(), kept + static_cast<size_t>(n));
    for (size_t at = rest.find(kEnd); at != std::string_view::npos; at = rest.find(kEnd)) {
      rest.remove_prefix(at + kEnd.size());
      peer.unsent.append(reply);
    }
    peer.tail = rest.substr(rest.size() - std::min(rest.size(), kEnd.size() - 1));
    if (!flush(peer)) return false;
  }
  return true;
}

void loop(int listener, const std::string& reply) {
  const int poll = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  std::array<epoll_event, 128> events;
  for (;;) {
    const int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      auto* peer = static_cast<Peer*>(events[static_cast<size_t>(i)].data.ptr);
      if (peer == nullptr) {
        const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
        if (fd < 0) continue;
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = new Peer{.fd = fd, .tail = {}, .unsent = {}};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
      } else if (!flush(*peer) || !serve(*peer, reply)) {
        close(peer->fd);
        delete peer;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  long port = 8090;
  long threads = 2;
  long reply_bytes = 1400;
  std::string reply;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--reply-file") {
      std::ifstream file(argv[i + 1], std::ios::binary);
      reply.assign(std::istreambuf_iterator<char>(file), {});
      if (reply.empty()) die(argv[i + 1]);
    }
    const long value = std::strtol(argv[i + 1], nullptr, 10);
    if (name == "--port") port = value;
    if (name == "--threads") threads = value;
    if (name == "--reply-bytes") reply_bytes = value;
  }
  // The head's own size depends on the digits of Content-Length, so the body is fitted to it.
  for (long body = reply_bytes; reply.empty() && body >= 0; --body) {
    reply = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body) + "\r\n\r\n";
    if (static_cast<long>(reply.size()) + body <= reply_bytes) {
      reply.append(static_cast<size_t>(body), 'x');
    } else {
      reply.clear();
    }
  }
  std::vector<int> listeners;
  for (long i = 0; i < threads; ++i) listeners.push_back(listen_on(static_cast<uint16_t>(port)));
  std::puts("ready");
  std::fflush(stdout);
  std::vector<std::jthread> workers;
  for (const int listener : listeners) workers.emplace_back([=, &reply] { loop(listener, reply); });
}
