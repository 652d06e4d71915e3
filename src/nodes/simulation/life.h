// One life of a node's process in the simulation: all that it is made of, and what others know of
// its lease.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "nodes/node.h"
#include "nodes/simulation/sim_network.h"
#include "nodes/simulation/sim_store.h"
#include "nodes/simulation/toy_seat.h"
#include "nodes/simulation/world.h"
#include "volume/objects/lease.h"
#include "volume/volume.h"

namespace orrery::nodes::simulation {

struct Life final : peer::Answerer {
  void answer(std::string kind, std::string bytes, peer::Done done) override {
    if (kind.starts_with(kKindPrefix)) {
      node->answer(std::move(kind), std::move(bytes), std::move(done));
    } else {
      seat->answer(bytes, std::move(done));
    }
  }

  Process process;
  std::shared_ptr<SimStore> store;
  std::unique_ptr<SimLink> link;
  std::shared_ptr<volume::Lease> lease;
  std::unique_ptr<volume::Volume> volume;
  std::unique_ptr<Room> room;
  std::unique_ptr<ToySeat> seat;
  std::unique_ptr<Node> node;
  std::optional<World::Waiting> ticking;
  std::optional<int64_t> as_of_us;
  bool is_revoked = false;
  bool is_over = false;
};

}  // namespace orrery::nodes::simulation
