// HTTP/1 over a stream: parses requests, gives them to the handler one at a time, writes the
// responses in order. After a response that takes the stream over, it is done.
//
// While a response is being prepared nothing is parsed: the request's views stay in place. Before
// the memory of a large body is reserved, the handler may refuse the request by its head. (Bodies
// are whole when the handler sees them. One that is to be seen as it comes would be taken from the
// input piece by piece in on_input, in place of admit_body and what follows it.)
//
// Threading: the loop's thread, but for send(), abandon() and is_gone().
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/parser.h"
#include "net/session.h"

namespace orrery::net {

struct HttpLimits {
  uint32_t header_bytes_max = 64 * 1024;
  uint64_t body_bytes_max = 4 * 1024 * 1024;
  // The body (JSON) of an answer to what is refused before the handler sees it; null: error_body()
  // of response_head.h.
  std::string (*error_body)(int status, std::string_view message) = nullptr;
};

// Sessions for a listener. `handler` must outlive the server.
SessionFactory http_sessions(Handler& handler, HttpLimits limits);

class HttpSession final : public Session, public ResponseSink {
 public:
  HttpSession(Stream& stream, Handler& handler, const HttpLimits& limits);

  Next on_input(InputBuffer& input) override;
  void on_written() override;
  size_t queued_bytes() const override;
  void on_deadline(Waiting what) override;
  void on_no_memory() override;
  void on_refused() override;
  void on_stopping() override;
  void on_notified() noexcept override;

  void send(Response&& response) noexcept override;  // any thread
  void abandon() noexcept override;                  // any thread
  bool is_gone() const override;                     // any thread

 private:
  Next read_body(InputBuffer& input);
  bool refused_by_head(InputBuffer& input);
  Next dispatch(InputBuffer& input);
  void next_request();
  // `headers`: more of them, as complete lines.
  void reject(int status, std::string_view message, std::string_view headers = {});

  void append_response(Response& response);
  void take_response(Response&& response);
  void switch_protocols(Response& response);

  Handler& handler_;
  std::string (*const error_body_)(int status, std::string_view message);
  RequestParser parser_;
  Request request_;

  // How far the request is whose body is being read.
  struct BodyProgress {
    bool head_passed = false;  // the handler has not refused it
    bool admitted = false;     // its memory is reserved
    bool told_to_continue = false;
  } body_;

  std::optional<Response> waiting_response_;  // came while earlier ones were still being written
  bool in_handler_ = false;
  bool awaiting_response_ = false;      // a request is with the handler
  std::atomic<bool> abandoned_{false};  // the handler gave no answer
};

}  // namespace orrery::net
