// See server.h.
#include "peer/grpc/server.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "peer/grpc/messages.h"

namespace orrery::peer {

// Of one call: knows whether whoever calls wants the answer still.
class PeerService::Reactor final : public grpc::ServerUnaryReactor {
 public:
  void OnDone() override { delete this; }
  void OnCancel() override { is_cancelled_->store(true, std::memory_order_relaxed); }
  std::shared_ptr<const std::atomic<bool>> is_cancelled() const { return is_cancelled_; }

 private:
  const std::shared_ptr<std::atomic<bool>> is_cancelled_ =
      std::make_shared<std::atomic<bool>>(false);
};

// An answer that a call is owed. It is given once; destroyed without, it is Code::internal.
template <class Answer, class Reply>
class PeerService::Owed {
 public:
  Owed(PeerService& service, grpc::ServerUnaryReactor* reactor, Reply* reply)
      : service_(&service), reactor_(reactor), reply_(reply) {}
  Owed(Owed&& other) noexcept
      : service_(other.service_),
        reactor_(std::exchange(other.reactor_, nullptr)),
        reply_(other.reply_) {}
  Owed& operator=(Owed&&) = delete;
  ~Owed() {
    if (reactor_ == nullptr) return;
    finish(grpc::Status(grpc::StatusCode::INTERNAL,
                        "the node dropped the call: it may be done or not"));
  }

  void operator()(Result<Answer> answer) noexcept {
    try {
      encode(std::move(answer), *reply_);
    } catch (const std::exception&) {
      return finish(grpc::Status(grpc::StatusCode::INTERNAL,
                                 "the node had no memory for its answer: it may be done or not"));
    }
    finish(grpc::Status::OK);
  }

 private:
  void finish(grpc::Status status) noexcept {
    service_->under_way_.fetch_sub(1, std::memory_order_relaxed);
    std::exchange(reactor_, nullptr)->Finish(std::move(status));
  }

  PeerService* service_;
  grpc::ServerUnaryReactor* reactor_;
  Reply* reply_;
};

template <class Answer, class Reply, class Run>
grpc::ServerUnaryReactor* PeerService::take(Reply* reply, Run run) {
  auto* reactor = new Reactor();  // until its OnDone
  received_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t others = under_way_.fetch_add(1, std::memory_order_relaxed);
  Owed<Answer, Reply> owed(*this, reactor, reply);
  if (others >= options_.calls_max) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    owed(fail(Code::overloaded,
              fmt::format("node {} has {} calls of other nodes under way, as many as it takes: "
                          "this one was not run",
                          options_.name, options_.calls_max)));
    return reactor;
  }
  try {
    run(std::move(owed), reactor->is_cancelled());
  } catch (const std::exception&) {
    // What was owed has been answered on the way here.
  }
  return reactor;
}

grpc::ServerUnaryReactor* PeerService::Call(grpc::CallbackServerContext* /*context*/,
                                            const v1::CallRequest* request, v1::CallReply* reply) {
  return take<std::string>(reply, [&](auto owed, const auto& /*is_cancelled*/) {
    answerer_.answer(request->kind(), request->bytes(), Done(std::move(owed)));
  });
}

grpc::ServerUnaryReactor* PeerService::Forward(grpc::CallbackServerContext* context,
                                               const v1::ForwardRequest* request,
                                               v1::ForwardReply* reply) {
  return take<ForwardAnswer>(reply, [&](auto owed, auto is_cancelled) {
    // The message is the call's alone; gRPC lends it as const so that it stays for all that share
    // it, and nobody does.
    auto incoming = decode(const_cast<v1::ForwardRequest&>(*request));
    if (!incoming) return owed(std::unexpected(incoming.error()));
    incoming->is_cancelled = std::move(is_cancelled);
    const auto left = context->deadline() - std::chrono::system_clock::now();
    incoming->deadline = std::chrono::steady_clock::now() +
                         std::min<std::chrono::steady_clock::duration>(left, std::chrono::hours(1));
    receiver_.receive(std::move(*incoming), ForwardDone(std::move(owed)));
  });
}

void PeerService::count(NodeCounts& into) const {
  into.received = received_.load(std::memory_order_relaxed);
  into.refused = refused_.load(std::memory_order_relaxed);
  into.received_under_way = under_way_.load(std::memory_order_relaxed);
}

}  // namespace orrery::peer
