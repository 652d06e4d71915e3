// The calls that other nodes make. See peer/node.h.
//
// Threading: gRPC's threads decode and hand over; answers come from any thread.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>

#include <peer.grpc.pb.h>
#include "peer/forward.h"
#include "peer/link.h"
#include "peer/node.h"

namespace orrery::peer {

class PeerService final : public v1::Peer::CallbackService {
 public:
  PeerService(const NodeOptions& options, Answerer& answerer, ForwardReceiver& receiver)
      : options_(options), answerer_(answerer), receiver_(receiver) {}

  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const v1::CallRequest* request, v1::CallReply* reply) override;
  grpc::ServerUnaryReactor* Forward(grpc::CallbackServerContext* context,
                                    const v1::ForwardRequest* request,
                                    v1::ForwardReply* reply) override;
  void count(NodeCounts& into) const;

 private:
  class Reactor;
  template <class Answer, class Reply>
  class Owed;
  template <class Answer, class Reply, class Run>
  grpc::ServerUnaryReactor* take(Reply* reply, Run run);

  const NodeOptions& options_;
  Answerer& answerer_;
  ForwardReceiver& receiver_;
  std::atomic<uint64_t> received_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> under_way_{0};
};

}  // namespace orrery::peer
