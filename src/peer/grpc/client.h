// Calls to other nodes. See peer/node.h.
//
// A call is given to gRPC only once its channel is connected. So a call that fails before was
// certainly not run, and only one that fails after may have been: gRPC itself does not tell.
//
// Threading: any thread. One thread watches channels that are not connected.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include <peer.grpc.pb.h>
#include "base/thread_annotations.h"
#include "peer/forward.h"
#include "peer/link.h"
#include "peer/node.h"

namespace orrery::peer {

class PeerClient {
 public:
  PeerClient(const NodeOptions& options, std::shared_ptr<grpc::ChannelCredentials> credentials);
  ~PeerClient();

  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds deadline, Done done);
  void forward(const std::string& address, const OutgoingRequest& request,
               std::chrono::milliseconds deadline, std::stop_token stop, ForwardDone done);
  // Cancels what is still under way after `grace`, and waits for it.
  void stop(std::chrono::milliseconds grace);
  void count(NodeCounts& into) const;

 private:
  struct Channel;
  // One call, from its beginning to its `done`.
  class Sending {
   public:
    virtual ~Sending() = default;
    virtual void start(v1::Peer::Stub& stub) = 0;
    // It was not run there.
    virtual void refuse(Error error) = 0;
    std::string address;
    std::chrono::steady_clock::time_point until;
    grpc::ClientContext context;
  };
  class SendingCall;
  class SendingForward;

  // Takes the call over: it is started, waits for its channel, or is refused.
  void begin(std::unique_ptr<Sending> sending, std::chrono::milliseconds deadline);
  void start(std::unique_ptr<Sending> sending, v1::Peer::Stub& stub);
  // After the last of a call. Whoever called must not touch it again.
  void ended(Sending& sending, bool ok);
  Error unanswered(const Sending& sending, const grpc::Status& status) const;
  Result<std::shared_ptr<Channel>> channel_of(const std::string& address) ORRERY_REQUIRES(mutex_);
  void watch(const std::shared_ptr<Channel>& channel) ORRERY_REQUIRES(mutex_);
  void watch_until_stopped();

  const NodeOptions& options_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  grpc::CompletionQueue watched_;
  mutable Mutex mutex_;
  CondVar idle_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::shared_ptr<Channel>, std::less<>> channels_ ORRERY_GUARDED_BY(mutex_);
  std::unordered_set<Sending*> under_way_ ORRERY_GUARDED_BY(mutex_);
  uint64_t sent_ ORRERY_GUARDED_BY(mutex_) = 0;
  uint64_t failed_ ORRERY_GUARDED_BY(mutex_) = 0;
  std::thread watcher_;  // last: it uses the rest
};

}  // namespace orrery::peer
