// This node among others: its server for their calls, and its channels to them. Over gRPC with
// mutual TLS: whoever has no certificate that the cluster's CA signed gets nowhere, on either side.
//
// gRPC is in a module of its own (liborrery_peer.so beside the program), loaded when a node is
// opened: a server alone does without (docs/decisions/0027-node-to-node.md has what it costs).
//
// Bounded: calls under way in either direction (more are refused with Code::overloaded), the bytes
// of a message, and the addresses that there is a channel to.
//
// Threading: any thread. stop() waits until all that was received is answered and all that was sent
// has its `done` called; nothing is received or sent after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "peer/forward.h"
#include "peer/link.h"

namespace orrery::peer {

struct NodeOptions {
  std::string name;     // in messages
  std::string address;  // HOST:PORT to listen at; port 0: any free one
  std::string ca_file;  // PEM
  std::string certificate_file;
  std::string key_file;
  size_t calls_max = 4096;                       // received and under way; as many sent
  size_t message_bytes_max = 36U * 1024 * 1024;  // a page of answers, with room for its head
  size_t channels_max = 256;                     // one for each address
  void (*log)(const char* message) = nullptr;    // what gRPC has to say of connections
  size_t answering_threads = 4;                  // for Answerer
};

class Node : public Link, public ForwardLink {
 public:
  virtual uint16_t port() const = 0;
  // `grace`: for what is under way; then it is cancelled.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

// What it is given outlives it. Code::unsupported without the module; Code::invalid with files that
// cannot be used or an address that cannot be had.
Result<std::unique_ptr<Node>> open_node(const NodeOptions& options, Answerer& answerer,
                                        ForwardReceiver& receiver);

}  // namespace orrery::peer
