// See direct_session.h.
#include "api/cosmos/direct/direct_session.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "api/cosmos/direct/direct_response.h"
#include "api/cosmos/wire/error_body.h"
#include "base/log.h"
#include "base/survive.h"
#include "face/http_error.h"
#include "net/stream.h"

namespace orrery::cosmos::direct {
namespace {

using net::InputBuffer;
using net::LoopCounters;
using net::Next;

// What is kept for the next request of what one needed: most have fewer.
constexpr size_t kIdleFrameBytesMax = 4096;
constexpr Next kAgain{.kind = Next::Kind::again};
constexpr Next kWait{.kind = Next::Kind::wait};

net::Response failed(const Error& error, std::string_view activity_id) {
  ErrorReply reply = error_reply(error, activity_id);
  net::Response response;
  response.status = reply.status;
  response.body = std::move(reply.body);
  return response;
}

std::string activity_of(const DirectRequest& request) {
  const auto text = activity_text({request.activity_id.data(), request.activity_id.size()});
  return {text.data(), text.size()};
}

}  // namespace

// One request, from its frame to its answer.
class DirectSession::Exchange final : public net::ResponseSink,
                                      public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(DirectSession& session, std::shared_ptr<net::Stream> stream)
      : session_(session), stream_(std::move(stream)) {}

  void send(net::Response&& response) noexcept override {
    if (stream_->on_loop_thread() && session_.in_handler_) {
      const bool written =
          survive("answering a request", [&] { session_.answer(*this, response); });
      if (!written) stream_->on_failure();
      return;
    }
    const bool posted =
        stream_->post([self = shared_from_this(), late = std::move(response)]() mutable {
          self->session_.answer_late(*self, late);
        });
    if (!posted) abandon();
  }
  void abandon() noexcept override {
    abandoned.store(true);
    stream_->notify();
  }
  bool is_gone() const override { return stream_->peer_gone(); }

  std::string bytes;  // of the frame, unless it is in the input
  DirectRequest request;
  std::atomic<bool> abandoned{false};

 private:
  DirectSession& session_;
  // Holds the session. The session holds this until the stream is closed.
  const std::shared_ptr<net::Stream> stream_;
};

net::SessionFactory direct_sessions(DirectHandler& handler, FrameLimits limits) {
  return [&handler, limits](net::Stream& stream) -> std::unique_ptr<net::Session> {
    return std::make_unique<DirectSession>(stream, handler, limits);
  };
}

DirectSession::DirectSession(net::Stream& stream, DirectHandler& handler, const FrameLimits& limits)
    : Session(stream), handler_(handler), limits_(limits) {}

DirectSession::~DirectSession() = default;

// ---- Requests

Next DirectSession::on_input(InputBuffer& input) {
  waits_ = false;
  if (held_bytes_ > 0 || running_.size() >= kRequestsMax || stream_.waits_for_memory()) {
    waits_ = true;
    return kWait;
  }
  RequestFrame frame;
  const std::string_view bytes =
      input.size() > 0 ? std::string_view(input.data(), input.size()) : std::string_view();
  const FrameProgress progress = read_frame(bytes, limits_, frame);
  switch (progress.outcome) {
    case FrameProgress::Outcome::malformed:
      break_off(progress.error);
      return kAgain;
    case FrameProgress::Outcome::whole:
      return run(input, frame);
    case FrameProgress::Outcome::need_payload:
      return need_payload(frame, progress.bytes);
    case FrameProgress::Outcome::need_head:
      break;
  }
  end_if_stopping();
  return {.input_bytes = progress.bytes};
}

// The memory of a large one is reserved, after the handler has let it pass.
Next DirectSession::need_payload(const RequestFrame& head, size_t bytes) {
  if (bytes > InputBuffer::kFreeBytes && !head_passed_) {
    if (!has_context_) {
      break_off("a request came before the connection context");
      return kAgain;
    }
    const ExchangePtr exchange = take_exchange();
    std::optional<net::Response> refusal;
    if (auto read = exchange->request.read(head); !read) {
      refusal = failed(read.error(), activity_of(exchange->request));
    } else {
      exchange->request.http.tls = stream_.tls();
      exchange->request.http.peer = stream_.peer();
      refusal = handler_.refuse_direct(exchange->request);
    }
    if (refusal) {
      // Its payload is not waited for, so nothing after it can be read.
      LoopCounters::count(stream_.counters().requests);
      append_response(output(), exchange->request, *refusal);
      stream_.end();
      return kAgain;
    }
    head_passed_ = true;
  }
  if (!stream_.reserve(bytes)) {
    waits_ = true;
    return kWait;
  }
  return {.paced = true, .input_bytes = bytes};
}

Next DirectSession::run(InputBuffer& input, const RequestFrame& frame) {
  LoopCounters::count(stream_.counters().requests);
  head_passed_ = false;
  if (frame.is_connection_context() || !has_context_) {
    begin(frame);
    input.consume(frame.bytes);
    stream_.release_memory();
    return kAgain;
  }
  const ExchangePtr exchange = take_exchange();
  RequestFrame own = frame;
  const bool in_place = frame.bytes > InputBuffer::kFreeBytes;
  if (!in_place) {
    exchange->bytes.assign(input.data(), frame.bytes);
    input.consume(frame.bytes);
    stream_.release_memory();
    // Views into the copy.
    read_frame(exchange->bytes, limits_, own);
  } else {
    exchange->bytes.clear();
    held_bytes_ = frame.bytes;
  }
  Status read = exchange->request.read(own);
  exchange->request.http.tls = stream_.tls();
  exchange->request.http.peer = stream_.peer();
  running_.push_back(exchange);
  if (read) {
    handle(exchange);
  } else {
    answer(*exchange, failed(read.error(), activity_of(exchange->request)));
  }
  if (held_bytes_ == 0) return kAgain;
  waits_ = true;
  return kWait;
}

void DirectSession::handle(const ExchangePtr& exchange) {
  in_handler_ = true;
  try {
    handler_.handle_direct(exchange->request, net::Responder(exchange));
  } catch (const std::exception& error) {
    // The Responder was destroyed on the way here, which answers.
    note_exception("handling a request", error.what());
    LoopCounters::count(stream_.counters().failures);
  }
  in_handler_ = false;
}

void DirectSession::begin(const RequestFrame& frame) {
  if (frame.is_connection_context()) {
    has_context_ = true;
    return append_context_answer(output(), frame.activity_id);
  }
  LoopCounters::count(stream_.counters().bad_requests);
  append_context_refusal(
      output(), frame.activity_id, 400,
      error_body(face::status_name(400), "the first frame of a connection is its context", {}));
  stream_.end();
}

// What comes after it cannot be understood.
void DirectSession::break_off(std::string_view why) {
  LoopCounters::count(stream_.counters().bad_requests);
  log::debug("a connection of direct mode is closed", {{"peer", stream_.peer()}, {"why", why}});
  stream_.close();
}

DirectSession::ExchangePtr DirectSession::take_exchange() {
  // One that was answered late may still be held by the thread that did it.
  if (!idle_.empty() && idle_.back().use_count() == 1) {
    ExchangePtr exchange = std::move(idle_.back());
    idle_.pop_back();
    exchange->abandoned = false;
    return exchange;
  }
  return std::make_shared<Exchange>(*this, stream_.shared_from_this());
}

void DirectSession::on_deadline(net::Waiting /*what*/) {
  if (stream_.idle() && !running_.empty()) return;  // silent because it waits for answers
  stream_.close();
}

void DirectSession::on_no_memory() {
  break_off("no memory for tokens as large as these now");
}

void DirectSession::on_stopping() {
  if (running_.empty() && stream_.idle() && !stream_.has_unread()) stream_.close();
}

// ---- Answers

std::string& DirectSession::output() {
  return stream_.writing() ? queue_ : stream_.output().text();
}

void DirectSession::answer(Exchange& exchange, const net::Response& response) {
  const auto found = std::ranges::find(running_, &exchange, &ExchangePtr::get);
  if (found == running_.end()) return;
  const size_t before = queue_.size();
  append_response(output(), exchange.request, response);
  if (queue_.size() > before) stream_.queued(queue_.size() - before);
  std::swap(*found, running_.back());
  if (idle_.size() < kRequestsMax && exchange.bytes.capacity() <= kIdleFrameBytesMax) {
    idle_.push_back(std::move(running_.back()));
  }
  running_.pop_back();
  if (held_bytes_ > 0 && exchange.bytes.empty()) {
    stream_.input().consume(std::exchange(held_bytes_, 0));
    stream_.release_memory();
  }
}

void DirectSession::answer_late(Exchange& exchange, const net::Response& response) {
  answer(exchange, response);
  end_if_stopping();
  if (waits_) {
    stream_.resume();
  } else {
    stream_.write_soon();
  }
}

void DirectSession::on_written() {
  if (!queue_.empty()) stream_.output().text() = std::exchange(queue_, {});
  end_if_stopping();
}

void DirectSession::end_if_stopping() {
  if (!stream_.stopping() || stream_.writing()) return;
  if (running_.empty() && queue_.empty() && stream_.input().size() == 0) stream_.end();
}

void DirectSession::on_notified() noexcept {
  const bool answered = survive("answering a request", [&] {
    for (size_t i = 0; i < running_.size();) {
      const ExchangePtr exchange = running_[i];
      if (!exchange->abandoned.exchange(false)) {
        ++i;
        continue;
      }
      answer_late(*exchange, failed({.code = Code::internal,
                                     .message = "the server gave no answer to this request"},
                                    activity_of(exchange->request)));
    }
  });
  if (!answered) stream_.on_failure();
}

void DirectSession::on_closed() noexcept {
  // Each holds the stream until it is answered.
  running_.clear();
  idle_.clear();
  queue_ = {};
}

}  // namespace orrery::cosmos::direct
