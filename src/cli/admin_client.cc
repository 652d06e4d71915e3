// A blocking HTTP/1.1 client for one request a connection: the commands need no more.
#include "cli/admin_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <ctime>
#include <memory>
#include <system_error>

#include "api/cosmos/authorization.h"
#include "cli/data_folder.h"
#include "value/json.h"

namespace orrery::cli {
namespace {

constexpr size_t kMaxReplyBytes = 64ULL << 20;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<std::string> exchange(const std::string& host, uint16_t port, std::string_view request) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      error != 0) {
    return fail(Code::invalid, fmt::format("cannot find {}: {}", host, ::gai_strerror(error)));
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  Socket socket(::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0));
  if (socket.get() < 0 || ::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return fail(Code::not_found, fmt::format("no server answers on {}:{} ({})", host, port,
                                             std::generic_category().message(errno)));
  }
  while (!request.empty()) {
    ssize_t sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent <= 0) return fail(Code::internal, "the server closed the connection");
    request.remove_prefix(static_cast<size_t>(sent));
  }
  std::string reply;
  char buffer[16384];
  for (;;) {
    ssize_t got = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (got < 0) return fail(Code::internal, "the connection broke");
    if (got == 0) break;
    reply.append(buffer, static_cast<size_t>(got));
    if (reply.size() > kMaxReplyBytes) return fail(Code::internal, "the answer is too large");
  }
  return reply;
}

std::string message_of(std::string_view body) {
  auto document = value::JsonDocument::parse(body);
  const value::Node* message = document ? document->root().find("message") : nullptr;
  std::string text(message != nullptr ? message->text : body);
  // The activity id that follows is for support, not for a command's output.
  return text.substr(0, text.find("\r\n"));
}

}  // namespace

Result<std::string> call_admin(const ServerAddress& address, std::string_view method,
                               std::string_view target, std::string_view body) {
  ServerAddress server = address;
  auto running = read_running_server(address.data);
  if (server.port == 0) {
    if (!running) {
      return fail(Code::not_found,
                  running.error().message + ": say where it is with --data FOLDER or --port N");
    }
    server.port = running->port;
    if (server.host.empty()) server.host = running->address;
  }
  if (server.host.empty() || server.host == "0.0.0.0") server.host = "127.0.0.1";
  if (server.key.empty()) {
    auto keys = read_keys(address.data);
    const bool dev = running ? running->dev : !keys;
    server.key = dev ? kEmulatorKey : keys ? keys->primary : "";
  }
  auto authorizer = cosmos::Authorizer::create({server.key, "", "", ""});
  if (!authorizer) return pass(authorizer.error());
  const std::string date = cosmos::http_date(std::time(nullptr));
  auto reply =
      exchange(server.host, server.port,
               fmt::format("{} {} HTTP/1.1\r\nHost: {}:{}\r\nx-ms-date: {}\r\nauthorization: {}\r\n"
                           "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
                           method, target, server.host, server.port, date,
                           authorizer->sign(method, "admin", "", date), body.size(), body));
  if (!reply) return pass(reply.error());
  std::string_view text = *reply;
  int status = 0;
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  const size_t blank = text.find("\r\n\r\n");
  if (!text.starts_with(kVersion) || blank == std::string_view::npos ||
      std::from_chars(text.data() + kVersion.size(), text.data() + text.size(), status).ec !=
          std::errc()) {
    return fail(Code::internal, fmt::format("{}:{} does not speak HTTP", server.host, server.port));
  }
  std::string_view reply_body = text.substr(blank + 4);
  if (status != 200) return fail(Code::invalid, message_of(reply_body));
  return std::string(reply_body);
}

}  // namespace orrery::cli
