// Load over Gremlin's protocol (WebSocket without TLS, GraphSON): sends messages that were made
// before, on each connection some at a time, and counts the answers.
//
//   gremlin_load PORT SECONDS CONNECTIONS UNDER_WAY TAG FILE [LOGIN]
// UNDER_WAY: requests without an answer that each connection has. FILE has messages (the length of
// the mime type, the mime type, JSON), each after its length (u32, little-endian); LOGIN has one,
// which a connection sends when it is first answered 407. Every message has 36 # in the place of
// its requestId. 16 ~ in one are replaced, each time that it is sent, by digits that nobody has
// had: of TAG (below 65536) and a count.
// Prints {"requests":N,"refused":N,"parts":N,"us":N,"p50_us":N}; refused: the final answer is
// neither 200 nor 204, which also makes the program fail; parts: answers with 206, which are not
// final.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "load.h"

namespace {

using orrery::bench::Clock;
using orrery::bench::die;
using orrery::bench::micros;
using orrery::bench::tell;
constexpr size_t kUuidChars = 36;
constexpr size_t kFreshChars = 16;
constexpr size_t kReadBytes = 256 * 1024;
constexpr uint64_t kMessageBytesMax = 64 * 1024 * 1024;
constexpr int kPatienceMs = 120'000;

void put_hex(char* to, size_t digits, uint64_t number) {
  for (; digits > 0; number >>= 4) to[--digits] = "0123456789abcdef"[number & 0xF];
}

uint64_t read_hex(std::string_view digits) {
  uint64_t number = 0;
  for (const char c : digits) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) die("an answer to nothing:", digits);
    number = number << 4 | static_cast<uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return number;
}

// Of a client: with a masking key, which is zero, so that nothing has to be masked.
std::string frame_of(int opcode, std::string_view payload) {
  std::string frame(1, static_cast<char>(0x80 | opcode));
  char length[8];
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else if (payload.size() <= 0xFFFF) {
    orrery::store_u16_be(length, static_cast<uint16_t>(payload.size()));
    frame.append(1, '\xFE').append(length, 2);
  } else {
    orrery::store_u64_be(length, payload.size());
    frame.append(1, '\xFF').append(length, 8);
  }
  return frame.append(4, '\0').append(payload);
}

struct Message {
  std::string frame;
  size_t request_id = 0;      // where it is to be put
  std::vector<size_t> fresh;  // where digits are to be put
};

std::vector<Message> read_messages(const char* path) {
  const std::string fresh(kFreshChars, '~');
  std::vector<Message> messages;
  for (const std::string& bytes : orrery::bench::read_messages(path)) {
    Message message{.frame = frame_of(2, bytes), .request_id = 0, .fresh = {}};
    message.request_id = message.frame.find(std::string(kUuidChars, '#'));
    if (message.request_id == std::string::npos) die("a message without a place for its requestId");
    for (size_t digits = 0; (digits = message.frame.find(fresh, digits)) != std::string::npos;
         digits += kFreshChars) {
      message.fresh.push_back(digits);
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

struct Answer {
  std::string_view request_id;
  int code = 0;
};

// Reads the beginning of a JSON text, token by token; space between them does not matter.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(std::string_view token) {
    while (at_ < text_.size() && text_[at_] <= ' ') ++at_;
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool take_all(std::initializer_list<std::string_view> tokens) {
    return std::ranges::all_of(tokens, [this](std::string_view token) { return take(token); });
  }

  std::string_view take_chars(size_t count) {
    const std::string_view taken = text_.substr(at_, count);
    at_ += taken.size();
    return taken;
  }

  // Whether there is a member with that name further on; what follows its colon is next.
  bool skip_to_member(std::string_view quoted_name) {
    while ((at_ = text_.find(quoted_name, at_)) != std::string_view::npos) {
      at_ += quoted_name.size();
      if (take(":")) return true;
    }
    return false;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Orrery, Gremlin Server 3.4 and JanusGraph 1.1 all send {"requestId":"…","status":{"message":"…",
// "code":N,…},"result":…}: results, which may hold any name and text, come after the status. Up to
// the code there is one text that the server chooses, the message, and quotes in it are escaped: it
// cannot have "code" with a colon after it. So the first one is the status's. A server with another
// order is not misread: the first tokens must be these.
Answer read_answer(std::string_view text) {
  Scanner scanner(text);
  Answer answer;
  if (!scanner.take_all({"{", "\"requestId\"", ":", "\""})) die("an answer of another form:", text);
  answer.request_id = scanner.take_chars(kUuidChars);
  if (!scanner.take_all({"\"", ",", "\"status\"", ":", "{"}) ||
      !scanner.skip_to_member("\"code\"")) {
    die("an answer of another form:", text);
  }
  scanner.take("");
  for (const char c : scanner.take_chars(3)) answer.code = answer.code * 10 + (c - '0');
  return answer;
}

// A client's end of a WebSocket.
class Connection {
 public:
  explicit Connection(uint16_t port) : fd_(orrery::bench::connect_to_loopback(port)) {
    shake_hands();
  }

  int fd() const { return fd_; }

  // Is sent by flush(): what answers that came together cause to be sent goes together.
  void add(std::string_view frame) { output_ += frame; }

  void flush() {
    for (std::string_view rest = output_; !rest.empty();) {
      const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) die("the server closed the connection");
      rest.remove_prefix(static_cast<size_t>(sent));
    }
    output_.clear();
  }

  // Reads what is there, and calls `take` with each message that is whole.
  template <class Take>
  void receive(Take take) {
    read_some();
    size_t at = 0;
    while (const auto frame = frame_at(at)) {
      at = frame->end;
      const std::string_view payload(input_.data() + frame->begin, frame->end - frame->begin);
      switch (frame->opcode) {
        case 0:
        case 1:
        case 2:
          if (frame->is_final && fragments_.empty()) {
            take(payload);
            break;
          }
          fragments_ += payload;
          if (frame->is_final) {
            take(std::string_view(fragments_));
            fragments_.clear();
          }
          break;
        case 8:
          die("the server closed the connection:",
              payload.substr(std::min<size_t>(2, payload.size())));
        case 9:
          add(frame_of(10, payload));
          break;
        default:
          break;
      }
    }
    size_ -= at;
    std::copy_n(input_.begin() + static_cast<ptrdiff_t>(at), size_, input_.begin());
  }

 private:
  struct Frame {
    int opcode;
    bool is_final;
    size_t begin, end;  // of the payload
  };

  // No extensions are offered, so nothing is compressed.
  void shake_hands() {
    add("GET /gremlin HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    flush();
    std::string_view head;
    while (!head.contains("\r\n\r\n")) {
      read_some();
      head = std::string_view(input_.data(), size_);
    }
    // Servers do not speak first, so there is nothing after the head.
    if (!head.starts_with("HTTP/1.1 101 ") || !head.ends_with("\r\n\r\n")) {
      die("no WebSocket:", head);
    }
    size_ = 0;
  }

  void read_some() {
    if (input_.size() - size_ < kReadBytes) input_.resize(size_ + kReadBytes);
    const ssize_t got = ::recv(fd_, input_.data() + size_, input_.size() - size_, 0);
    if (got <= 0) die("the server closed the connection");
    size_ += static_cast<size_t>(got);
  }

  std::optional<Frame> frame_at(size_t at) const {
    if (size_ - at < 2) return std::nullopt;
    const int first = static_cast<unsigned char>(input_[at]);
    uint64_t length = static_cast<unsigned char>(input_[at + 1]);
    const size_t length_bytes = length == 126 ? 2 : length == 127 ? 8 : 0;
    if ((first & 0x70) != 0 || length > 127) die("a frame that servers do not send");
    if (size_ - at < 2 + length_bytes) return std::nullopt;
    if (length_bytes == 2) length = orrery::load_u16_be(input_.data() + at + 2);
    if (length_bytes == 8) length = orrery::load_u64_be(input_.data() + at + 2);
    if (std::max<uint64_t>(length, fragments_.size()) > kMessageBytesMax) {
      die("an answer that is too large");
    }
    const size_t begin = at + 2 + length_bytes;
    if (size_ - begin < length) return std::nullopt;
    return Frame{
        .opcode = first & 0xF, .is_final = first >= 0x80, .begin = begin, .end = begin + length};
  }

  int fd_;
  std::string output_;
  std::string input_;
  size_t size_ = 0;
  std::string fragments_;  // of a message whose last one has not come; control frames come between
};

class Load {
 public:
  Load(std::vector<Message> messages, std::optional<Message> login, uint64_t tag, uint16_t port,
       size_t connections, size_t under_way)
      : messages_(std::move(messages)),
        login_(std::move(login)),
        tag_(tag),
        each_(under_way),
        is_login_sent_(connections),
        requests_(connections * under_way) {
    for (size_t i = 0; i < connections; ++i) connections_.emplace_back(port);
  }

  // Whether nothing was refused.
  bool run(double seconds) {
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < connections_.size(); ++i) {
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      epoll_ctl(poll, EPOLL_CTL_ADD, connections_[i].fd(), &event);
    }
    const auto start = now_ = Clock::now();
    end_ = start + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
    for (size_t i = 0; i < requests_.size(); ++i) send_next(i);
    for (Connection& connection : connections_) connection.flush();
    under_way_ = requests_.size();
    while (under_way_ > 0) {
      epoll_event events[64];
      const int ready = epoll_wait(poll, events, 64, kPatienceMs);
      if (ready == 0) die("no answer in two minutes");
      for (int i = 0; i < ready; ++i) {
        const size_t index = events[i].data.u64;
        connections_[index].receive([&](std::string_view text) { take_answer(index, text); });
        connections_[index].flush();
      }
    }
    print(now_ - start);
    return refused_ == 0;
  }

 private:
  // One that is under way; its number is in its requestId, since answers come in any order.
  struct Request {
    uint64_t count = 0;
    Clock::time_point sent_at;
  };

  void send_next(size_t number) {
    Message& message = messages_[sent_++ % messages_.size()];
    requests_[number] = {.count = sent_, .sent_at = now_};
    char* const id = message.frame.data() + message.request_id;
    std::copy_n("00000000-0000-4000-8000-000000000000", kUuidChars, id);
    put_hex(id, 8, number);
    put_hex(id + 9, 4, tag_);
    put_hex(id + 24, 12, sent_);
    for (const size_t at : message.fresh) {
      put_hex(message.frame.data() + at, 4, tag_);
      put_hex(message.frame.data() + at + 4, kFreshChars - 4, sent_);
    }
    connections_[number / each_].add(message.frame);
  }

  void take_answer(size_t connection, std::string_view text) {
    now_ = Clock::now();
    const Answer answer = read_answer(text);
    const size_t number = read_hex(answer.request_id.substr(0, 8));
    if (number / each_ != connection ||
        read_hex(answer.request_id.substr(24)) != requests_[number].count) {
      die("an answer to nothing:", text);
    }
    if (answer.code == 206) {
      ++parts_;
      return;
    }
    // The server holds the request back until the login has come, and then answers it.
    if (answer.code == 407 && login_) return log_in(connection, answer.request_id);
    if (answer.code != 200 && answer.code != 204 && refused_++ == 0) tell("refused:", text);
    times_us_.push_back(micros(now_ - requests_[number].sent_at));
    requests_[number].count = 0;  // is answered
    if (now_ < end_) {
      send_next(number);
    } else {
      --under_way_;
    }
  }

  void log_in(size_t connection, std::string_view request_id) {
    if (std::exchange(is_login_sent_[connection], 1) != 0) return;
    login_->frame.replace(login_->request_id, kUuidChars, request_id);
    connections_[connection].add(login_->frame);
  }

  void print(Clock::duration time) {
    std::printf("{\"requests\":%zu,\"refused\":%zu,\"parts\":%zu,\"us\":%u,\"p50_us\":%u}\n",
                times_us_.size(), refused_, parts_, micros(time), orrery::bench::median(times_us_));
  }

  std::vector<Message> messages_;
  std::optional<Message> login_;
  const uint64_t tag_;
  const size_t each_;
  std::vector<Connection> connections_;
  std::vector<char> is_login_sent_;  // of each connection
  std::vector<Request> requests_;    // those of the first connection first
  Clock::time_point now_, end_;
  size_t under_way_ = 0;
  uint64_t sent_ = 0;
  size_t refused_ = 0;
  size_t parts_ = 0;
  std::vector<uint32_t> times_us_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) die("PORT SECONDS CONNECTIONS UNDER_WAY TAG FILE [LOGIN]");
  const auto number = [&](int at) { return static_cast<size_t>(std::atoll(argv[at])); };
  std::optional<Message> login;
  if (argc == 8) login = read_messages(argv[7]).front();
  Load load(read_messages(argv[6]), std::move(login), number(5), static_cast<uint16_t>(number(1)),
            number(3), number(4));
  return load.run(std::atof(argv[2])) ? 0 : 1;
}
