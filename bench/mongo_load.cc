// Load over MongoDB's protocol, without TLS: sends messages that were made before, each connection
// one at a time, and counts the answers.
//
//   mongo_load PORT SECONDS CONNECTIONS TAG FILE
// FILE has messages, each after its length (u32, little-endian). An ObjectId of 12 bytes EE in one
// is replaced, each time that it is sent, by one that nobody has had: of TAG and a count.
// Prints {"requests":N,"refused":N,"us":N,"p50_us":N}; refused: without {ok: 1}, or with an error
// of a write, which also makes the program fail.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "load.h"

namespace {

using orrery::bench::Clock;
using orrery::bench::die;
constexpr size_t kObjectIdBytes = 12;
constexpr std::string_view kOk("\x01ok\0\0\0\0\0\0\0\xF0\x3F", 12);
constexpr std::string_view kWriteErrors("\x04writeErrors\0", 13);

struct Message {
  std::string bytes;
  std::vector<size_t> ids;  // where ObjectIds are to be put
};

std::vector<Message> read_messages(const char* path) {
  const std::string placeholder(kObjectIdBytes, '\xEE');
  std::vector<Message> messages;
  for (std::string& bytes : orrery::bench::read_messages(path)) {
    Message message{.bytes = std::move(bytes), .ids = {}};
    for (size_t id = 0; (id = message.bytes.find(placeholder, id)) != std::string::npos;
         id += kObjectIdBytes) {
      message.ids.push_back(id);
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

class Connection {
 public:
  explicit Connection(uint16_t port) : fd_(orrery::bench::connect_to_loopback(port)) {}

  int fd() const { return fd_; }
  Clock::time_point sent_at() const { return sent_at_; }

  void send(std::string_view bytes) {
    sent_at_ = Clock::now();
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) die("the server closed the connection");
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  // Reads what is there. Whether the answer is whole.
  bool receive() {
    if (input_.size() - size_ < kReadBytes) input_.resize(size_ + kReadBytes);
    const ssize_t got = ::recv(fd_, input_.data() + size_, input_.size() - size_, 0);
    if (got <= 0) die("the server closed the connection");
    size_ += static_cast<size_t>(got);
    return size_ >= 4 && size_ >= orrery::load_u32_le(input_.data());
  }

  bool is_refused() {
    const std::string_view answer(input_.data(), size_);
    const bool refused = !answer.contains(kOk) || answer.contains(kWriteErrors);
    if (refused && !std::exchange(is_told_, true)) orrery::bench::tell("refused:", answer);
    size_ = 0;
    return refused;
  }

 private:
  static constexpr size_t kReadBytes = 256 * 1024;
  int fd_;
  Clock::time_point sent_at_;
  std::string input_;
  size_t size_ = 0;
  bool is_told_ = false;
};

class Load {
 public:
  Load(std::vector<Message> messages, uint32_t tag) : messages_(std::move(messages)), tag_(tag) {}

  void send_next(Connection& connection) {
    Message& message = messages_[next_++ % messages_.size()];
    for (const size_t at : message.ids) {
      orrery::store_u32_be(message.bytes.data() + at, tag_);
      orrery::store_u64_be(message.bytes.data() + at + 4, ++ids_);
    }
    connection.send(message.bytes);
  }

  // Whether none was refused.
  bool run(std::vector<Connection>& connections, int seconds) {
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    for (Connection& connection : connections) {
      epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
      epoll_ctl(poll, EPOLL_CTL_ADD, connection.fd(), &event);
    }
    const auto start = Clock::now();
    const auto end = start + std::chrono::seconds(seconds);
    for (Connection& connection : connections) send_next(connection);
    size_t under_way = connections.size();
    Clock::time_point now = start;
    while (under_way > 0) {
      epoll_event events[64];
      const int ready = epoll_wait(poll, events, 64, -1);
      for (int i = 0; i < ready; ++i) {
        Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
        if (!connection.receive()) continue;
        now = Clock::now();
        times_us_.push_back(orrery::bench::micros(now - connection.sent_at()));
        refused_ += connection.is_refused() ? 1 : 0;
        if (now < end) {
          send_next(connection);
        } else {
          --under_way;
        }
      }
    }
    std::printf("{\"requests\":%zu,\"refused\":%zu,\"us\":%lld,\"p50_us\":%u}\n", times_us_.size(),
                refused_, static_cast<long long>(orrery::bench::micros(now - start)),
                orrery::bench::median(times_us_));
    return refused_ == 0;
  }

 private:
  std::vector<Message> messages_;
  const uint32_t tag_;
  uint64_t ids_ = 0;
  size_t next_ = 0;
  size_t refused_ = 0;
  std::vector<uint32_t> times_us_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) die("PORT SECONDS CONNECTIONS TAG FILE");
  const auto port = static_cast<uint16_t>(std::atoi(argv[1]));
  std::vector<Connection> connections;
  for (int i = 0; i < std::atoi(argv[3]); ++i) connections.emplace_back(port);
  Load load(read_messages(argv[5]), static_cast<uint32_t>(std::atoi(argv[4])));
  return load.run(connections, std::atoi(argv[2])) ? 0 : 1;
}
