// RNTBD over a stream: answers the connection context, then runs requests, many at a time, and
// writes each answer when it is there, in whatever order.
//
// A request is run by the face's own handler as one over HTTP (direct_request.h); its frame is
// copied, since the next one is taken from the input before it is answered. A frame that is larger
// than a connection's own memory (net::InputBuffer::kFreeBytes) is left in the input instead, in
// memory that was reserved for it, and nothing else is taken until it is answered: copies are
// bounded by kRequestsMax small frames.
//
// Threading: the loop's thread, but for what an Exchange does as a ResponseSink.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/direct/direct_request.h"
#include "api/cosmos/direct/frame.h"
#include "net/http.h"
#include "net/session.h"

namespace orrery::cosmos::direct {

// Requests of one connection that are run at a time; clients send 30 at most. The next ones are
// read when one of these is answered.
inline constexpr size_t kRequestsMax = 64;

// What runs the requests; outlives the sessions.
class DirectHandler {
 public:
  virtual ~DirectHandler() = default;
  // On a loop's thread; must not block.
  virtual void handle_direct(const DirectRequest& request, net::Responder responder) = 0;
  // By its head, before the payload is read into memory: an answer refuses it.
  virtual std::optional<net::Response> refuse_direct(const DirectRequest& head) = 0;
};

net::SessionFactory direct_sessions(DirectHandler& handler, FrameLimits limits);

class DirectSession final : public net::Session {
 public:
  DirectSession(net::Stream& stream, DirectHandler& handler, const FrameLimits& limits);
  ~DirectSession() override;

  net::Next on_input(net::InputBuffer& input) override;
  void on_written() override;
  size_t queued_bytes() const override { return queue_.size(); }
  void on_deadline(net::Waiting what) override;
  void on_no_memory() override;
  void on_stopping() override;
  void on_notified() noexcept override;
  void on_closed() noexcept override;

 private:
  class Exchange;
  friend class Exchange;
  using ExchangePtr = std::shared_ptr<Exchange>;

  net::Next need_payload(const RequestFrame& head, size_t bytes);
  net::Next run(net::InputBuffer& input, const RequestFrame& frame);
  void handle(const ExchangePtr& exchange);
  void begin(const RequestFrame& frame);
  void break_off(std::string_view why);
  ExchangePtr take_exchange();
  // Writes an answer; the request is over.
  void answer(Exchange& exchange, const net::Response& response);
  void answer_late(Exchange& exchange, const net::Response& response);
  void end_if_stopping();
  std::string& output();

  DirectHandler& handler_;
  const FrameLimits limits_;
  std::vector<ExchangePtr> running_;
  std::vector<ExchangePtr> idle_;  // to be used again
  std::string queue_;              // answers behind those that the peer has not taken
  size_t held_bytes_ = 0;          // of the frame in the input whose request is being run
  bool has_context_ = false;
  bool head_passed_ = false;  // the frame whose payload is awaited was not refused
  bool in_handler_ = false;
  bool waits_ = false;  // Next::wait was the last answer
};

}  // namespace orrery::cosmos::direct
