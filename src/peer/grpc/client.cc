// See client.h.
#include "peer/grpc/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "peer/grpc/messages.h"

namespace orrery::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often a channel that is not connected is looked at for calls whose time is over.
constexpr milliseconds kWatch{100};
constexpr int kReconnectMs = 100;
constexpr int kReconnectMaxMs = 1000;
// A node that does not answer pings for this long (stopped, cut off) is given up: its calls end.
constexpr int kPingEveryMs = 1000;
constexpr int kPingTimeoutMs = 1500;

std::chrono::system_clock::time_point from_now(milliseconds time) {
  return std::chrono::system_clock::now() + time;
}

}  // namespace

struct PeerClient::Channel {
  std::string address;
  std::shared_ptr<grpc::Channel> grpc;
  std::unique_ptr<v1::Peer::Stub> stub;
  // Guarded by PeerClient::mutex_.
  std::vector<std::unique_ptr<Sending>> waiting;
  bool watched = false;
  std::shared_ptr<Channel> self_while_watched;
};

class PeerClient::SendingCall final : public Sending {
 public:
  SendingCall(PeerClient& client, std::string kind, std::string bytes, Done done)
      : client_(client), done_(std::move(done)) {
    request_.set_kind(std::move(kind));
    request_.set_bytes(std::move(bytes));
  }
  void start(v1::Peer::Stub& stub) override {
    stub.async()->Call(&context, &request_, &reply_, [this](const grpc::Status& status) {
      const std::unique_ptr<SendingCall> self(this);
      client_.ended(*this, status.ok());
      done_(status.ok() ? decode(reply_) : std::unexpected(client_.unanswered(*this, status)));
    });
  }
  void refuse(Error error) override { done_(std::unexpected(std::move(error))); }

 private:
  PeerClient& client_;
  v1::CallRequest request_;
  v1::CallReply reply_;
  Done done_;
};

class PeerClient::SendingForward final : public Sending {
 public:
  SendingForward(PeerClient& client, const OutgoingRequest& request, std::stop_token stop,
                 ForwardDone done)
      : client_(client),
        done_(std::move(done)),
        cancel_on_stop_(std::move(stop), Cancel{&context}) {
    encode(request, request_);
  }
  void start(v1::Peer::Stub& stub) override {
    stub.async()->Forward(&context, &request_, &reply_, [this](const grpc::Status& status) {
      const std::unique_ptr<SendingForward> self(this);
      client_.ended(*this, status.ok());
      done_(status.ok() ? decode(reply_) : std::unexpected(client_.unanswered(*this, status)));
    });
  }
  void refuse(Error error) override { done_(std::unexpected(std::move(error))); }

 private:
  PeerClient& client_;
  v1::ForwardRequest request_;
  v1::ForwardReply reply_;
  ForwardDone done_;
  // gRPC lets a call be cancelled before it begins, and after it has ended.
  struct Cancel {
    grpc::ClientContext* context;
    void operator()() const { context->TryCancel(); }
  };
  std::stop_callback<Cancel> cancel_on_stop_;
};

PeerClient::PeerClient(const NodeOptions& options,
                       std::shared_ptr<grpc::ChannelCredentials> credentials)
    : options_(options),
      credentials_(std::move(credentials)),
      watcher_([this] { watch_until_stopped(); }) {}

PeerClient::~PeerClient() {
  stop(milliseconds(0));
  watched_.Shutdown();
  watcher_.join();
}

void PeerClient::call(const std::string& address, std::string kind, std::string bytes,
                      milliseconds deadline, Done done) {
  auto sending =
      std::make_unique<SendingCall>(*this, std::move(kind), std::move(bytes), std::move(done));
  sending->address = address;
  begin(std::move(sending), deadline);
}

void PeerClient::forward(const std::string& address, const OutgoingRequest& request,
                         milliseconds deadline, std::stop_token stop, ForwardDone done) {
  auto sending = std::make_unique<SendingForward>(*this, request, std::move(stop), std::move(done));
  sending->address = address;
  begin(std::move(sending), deadline);
}

void PeerClient::begin(std::unique_ptr<Sending> sending, milliseconds deadline) {
  sending->until = steady_clock::now() + deadline;
  sending->context.set_deadline(from_now(deadline));
  Error refused{.code = Code::overloaded, .message = {}};
  std::shared_ptr<Channel> channel;
  {
    MutexLock lock(mutex_);
    ++sent_;
    if (stopping_) {
      refused.message = fmt::format("node {} is stopping", options_.name);
    } else if (under_way_.size() >= options_.calls_max) {
      refused.message = fmt::format(
          "node {} has {} calls to other nodes under way, as many as it "
          "makes: the one to {} was not sent",
          options_.name, options_.calls_max, sending->address);
    } else if (auto found = channel_of(sending->address); !found) {
      refused.message = std::move(found.error().message);
    } else {
      channel = std::move(*found);
      under_way_.insert(sending.get());
      if (channel->grpc->GetState(true) != GRPC_CHANNEL_READY) {
        channel->waiting.push_back(std::move(sending));
        watch(channel);
        return;
      }
    }
    if (!channel) ++failed_;
  }
  if (!channel) return sending->refuse(std::move(refused));
  start(std::move(sending), *channel->stub);
}

// From here on gRPC's callback owns it.
void PeerClient::start(std::unique_ptr<Sending> sending, v1::Peer::Stub& stub) {
  sending.release()->start(stub);
}

void PeerClient::ended(Sending& sending, bool ok) {
  MutexLock lock(mutex_);
  under_way_.erase(&sending);
  if (!ok) ++failed_;
  if (under_way_.empty()) idle_.notify_all();
}

Error PeerClient::unanswered(const Sending& sending, const grpc::Status& status) const {
  return {.code = Code::internal,
          .message = fmt::format(
              "node {} has no answer from the node at {}, and does not know whether it was run: {}",
              options_.name, sending.address,
              status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
                  ? std::string("the time for it is over")
                  : status.error_message())};
}

Result<std::shared_ptr<PeerClient::Channel>> PeerClient::channel_of(const std::string& address) {
  if (auto found = channels_.find(address); found != channels_.end()) return found->second;
  if (channels_.size() >= options_.channels_max) {
    // Nodes that have gone leave channels behind.
    std::erase_if(channels_, [](const auto& one) {
      return one.second->waiting.empty() && !one.second->watched &&
             one.second->grpc->GetState(false) != GRPC_CHANNEL_READY;
    });
  }
  if (channels_.size() >= options_.channels_max) {
    return fail(Code::overloaded,
                fmt::format("node {} has {} channels to others, as many as it may: there is none "
                            "to {}",
                            options_.name, options_.channels_max, address));
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options_.message_bytes_max));
  arguments.SetMaxSendMessageSize(static_cast<int>(options_.message_bytes_max));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  auto channel = std::make_shared<Channel>();
  channel->address = address;
  channel->grpc = grpc::CreateCustomChannel(address, credentials_, arguments);
  channel->stub = v1::Peer::NewStub(channel->grpc);
  channels_.emplace(address, channel);
  return channel;
}

void PeerClient::watch(const std::shared_ptr<Channel>& channel) {
  if (channel->watched) return;
  channel->watched = true;
  channel->self_while_watched = channel;
  channel->grpc->NotifyOnStateChange(channel->grpc->GetState(true), from_now(kWatch), &watched_,
                                     channel.get());
}

void PeerClient::watch_until_stopped() {
  void* tag = nullptr;
  bool ok = false;
  while (watched_.Next(&tag, &ok)) {
    std::vector<std::unique_ptr<Sending>> to_start;
    std::vector<std::unique_ptr<Sending>> to_refuse;
    std::shared_ptr<Channel> channel;
    bool is_stopping = false;
    {
      MutexLock lock(mutex_);
      channel = std::move(static_cast<Channel*>(tag)->self_while_watched);
      channel->watched = false;
      is_stopping = stopping_;
      const auto state = channel->grpc->GetState(true);
      if (is_stopping || state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
        to_refuse = std::move(channel->waiting);
      } else if (state == GRPC_CHANNEL_READY) {
        to_start = std::move(channel->waiting);
      } else {
        const auto now = steady_clock::now();
        auto& waiting = channel->waiting;
        const auto late = std::partition(waiting.begin(), waiting.end(),
                                         [&](const auto& one) { return one->until > now; });
        to_refuse.assign(std::make_move_iterator(late), std::make_move_iterator(waiting.end()));
        waiting.erase(late, waiting.end());
      }
      channel->waiting.shrink_to_fit();
      if (!channel->waiting.empty()) watch(channel);
    }
    for (auto& sending : to_start) start(std::move(sending), *channel->stub);
    for (auto& sending : to_refuse) {
      ended(*sending, false);
      sending->refuse(
          {.code = Code::overloaded,
           .message = is_stopping
                          ? fmt::format("node {} is stopping", options_.name)
                          : fmt::format("node {} cannot reach the node at {} (is it running, and "
                                        "are both certificates of the same CA?): nothing was sent",
                                        options_.name, channel->address)});
    }
  }
}

void PeerClient::stop(milliseconds grace) {
  const auto until = steady_clock::now() + grace;
  MutexLock lock(mutex_);
  stopping_ = true;
  while (!under_way_.empty()) {
    const auto now = steady_clock::now();
    if (now < until) {
      idle_.wait_for(mutex_, until - now);
      continue;
    }
    // Those that wait for a channel are refused by the watcher.
    for (Sending* sending : under_way_) sending->context.TryCancel();
    idle_.wait_for(mutex_, kWatch);
  }
}

void PeerClient::count(NodeCounts& into) const {
  MutexLock lock(mutex_);
  into.sent = sent_;
  into.sent_failed = failed_;
  into.sent_under_way = under_way_.size();
  into.channels = channels_.size();
}

}  // namespace orrery::peer
