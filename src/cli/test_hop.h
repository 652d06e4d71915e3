// Sends every request of a client once over the network to this same server. Never in a normal
// start: only a process whose environment names a folder in ORRERY_TEST_HOP has it, and its log
// says so. So every test of a client can be run through a node that has nothing itself.
//
// The folder has ca.pem, node.pem and node.key (tools/cluster_certificates.sh). What comes back
// over the network is run by a second instance of each face, over the same engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/serve.h"
#include "cluster/query/view_server.h"
#include "face/face.h"
#include "face/forward.h"
#include "peer/node.h"
#include "peer/switchboard.h"

namespace orrery::cli {

class TestHop {
 public:
  // By the environment; null when it asks for none. `context` has no forwarder.
  static Result<std::unique_ptr<TestHop>> from_environment(const face::Context& context,
                                                           const ServeOptions& options);
  ~TestHop();

  // For the faces that clients talk to.
  face::Forwarder& forwarder() { return *forwarder_; }
  void stop();

 private:
  class Elsewhere;

  TestHop();

  peer::Switchboard switchboard_;
  std::unique_ptr<Elsewhere> elsewhere_;
  std::unique_ptr<Elsewhere> here_;
  std::unique_ptr<face::Forwarder> forwarder_;
  std::unique_ptr<face::Forwarder> receiver_;
  std::vector<std::unique_ptr<face::Face>> faces_;
  std::unique_ptr<cluster::ViewServer> views_;
  std::unique_ptr<peer::Node> node_;
};

}  // namespace orrery::cli
