// Calls between simulated nodes: lost, late, out of order, doubled, or cut off.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "nodes/simulation/world.h"
#include "peer/link.h"

namespace orrery::nodes::simulation {

// Who listens where. Nobody, while its process is dead.
class Network {
 public:
  struct Listener {
    Process* process = nullptr;
    peer::Answerer* answerer = nullptr;
  };
  std::map<std::string, Listener> listeners;  // by address
};

class SimLink final : public peer::Link {
 public:
  SimLink(World& world, Process& process, Network& network)
      : world_(world), process_(process), network_(network) {}

  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds deadline, peer::Done done) override;

 private:
  struct Call;
  void deliver(const std::string& address, const std::string& kind, const std::string& bytes,
               const std::shared_ptr<Call>& call);
  int64_t delay_us();

  World& world_;
  Process& process_;
  Network& network_;
};

}  // namespace orrery::nodes::simulation
