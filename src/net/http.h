// What a face of the server sees of HTTP: a request as views, a response to fill, and a Responder
// to send it with, at once or later and from any thread.
//
// Lifetime: everything a Request points to stays in place until its Responder has sent (or has been
// destroyed, which answers 500: no request goes unanswered).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/session.h"

namespace orrery::net {

// ASCII only, as header names and tokens are.
bool equals_ignoring_case(std::string_view a, std::string_view b);

struct Header {
  std::string_view name;  // as sent
  std::string_view value;
};

struct Request {
  std::string_view method;
  std::string_view target;  // path and query, as sent
  std::vector<Header> headers;
  std::string_view body;
  bool tls = false;
  std::string_view peer;  // the client's address, for logs

  // The first header with this name (compared without case), or empty.
  std::string_view header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string headers;  // complete lines, "name: value\r\n"; Content-Length is added when sending
  std::string body;
  bool close = false;  // close the connection after it
  // Makes the session that speaks on this connection from here on: the answer is 101 with
  // `headers`, and nothing else of this is looked at. Given one, a request must have asked for it.
  std::unique_ptr<TakeOver> take_over;

  // Control characters in `value` become spaces: no value can end its line or start another header.
  void add(std::string_view name, std::string_view value);
};

// Where a response goes. Implemented by a session.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  // Either of these, once; thread-safe. To abandon takes no memory.
  virtual void send(Response&& response) noexcept = 0;
  virtual void abandon() noexcept = 0;
  // Whether the client has closed its side, so that nobody may want the response. Thread-safe.
  virtual bool is_gone() const { return false; }
};

class Responder {
 public:
  explicit Responder(std::shared_ptr<ResponseSink> sink) : sink_(std::move(sink)) {}
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&& other) noexcept;  // abandons what it held unsent
  ~Responder();

  void send(Response&& response) noexcept;
  bool is_gone() const { return sink_ && sink_->is_gone(); }

 private:
  std::shared_ptr<ResponseSink> sink_;
};

// Implemented by a face. Called on an event-loop thread: must not block for long.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(const Request& request, Responder responder) = 0;
  // Asked before memory is spent on a large body, and before a client is told to send one that it
  // holds back: `head` has no body yet. An answer refuses the request; the connection is closed
  // after it. Nothing lets the body come, and handle() is called with all of it. The views are good
  // for this call only.
  virtual std::optional<Response> refuse(const Request& /*head*/) { return std::nullopt; }
};

}  // namespace orrery::net
